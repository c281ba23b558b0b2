// Loaded into a program under test: the system gives no watches while the file exists that UNWATCHED names.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

int inotify_init1(int flags) {
  const char *mark = getenv("UNWATCHED");
  if (mark && access(mark, F_OK) == 0) {
    errno = EMFILE;
    return -1;
  }
  return ((int (*)(int))dlsym(RTLD_NEXT, "inotify_init1"))(flags);
}
