// Makes chosen file calls of a program fail or hang. LD_PRELOAD loads it, and a shared file says which calls to choose.
//
// FAULTS_CONTROL is the file, of the shape `struct control`; FAULTS_FOLDER the folder, absolute and without links, on whose files calls are
// counted and may fail. Calls are counted from one each time that the controller sets `calls` to zero.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct control {
  char function[24]; // "write", "sync", "rename", "open", "mkdir", "truncate" or "unlink"; empty: none fails
  int32_t error;     // the errno that it fails with; 0: it hangs for as long as it is named here
  int32_t every;       // of the calls from `first` to `last` each, or each second, third…
  int64_t first, last; // the calls that fail, as far as `every` has it
  int64_t calls, failed; // a call that hangs counts as failed meanwhile, and is made when it is released
};

static struct control *control;
static char folder[PATH_MAX];

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("FAULTS_CONTROL"), *below = getenv("FAULTS_FOLDER");
  if (!path || !below || strlen(below) >= sizeof folder) return;
  strcpy(folder, below);
  int file = open(path, O_RDWR | O_CLOEXEC);
  if (file < 0) return;
  void *shared = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (shared != MAP_FAILED) control = shared;
}

// Whether this call is to fail; if so, errno is set.
static int fails(const char *function, const char *path) {
  if (!control || strcmp(control->function, function)) return 0;
  size_t length = strlen(folder);
  if (strncmp(path, folder, length) || (path[length] && path[length] != '/')) return 0;
  int64_t call = __atomic_add_fetch(&control->calls, 1, __ATOMIC_SEQ_CST);
  if (call < control->first || call > control->last || (call - control->first) % control->every) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_SEQ_CST);
  if (!control->error) {
    const struct timespec pause = {0, 2000000};
    while (!strcmp(control->function, function) && !control->error) nanosleep(&pause, NULL);
    return 0;
  }
  errno = control->error;
  return 1;
}

static int fails_on(const char *function, int descriptor) {
  if (!control || strcmp(control->function, function)) return 0;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return fails(function, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define EXPORTED __attribute__((visibility("default")))

EXPORTED ssize_t write(int file, const void *bytes, size_t count) {
  return fails_on("write", file) ? -1 : REAL(write)(file, bytes, count);
}

EXPORTED ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  return fails_on("write", file) ? -1 : REAL(pwrite)(file, bytes, count, offset);
}

EXPORTED ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  return fails_on("write", file) ? -1 : REAL(pwrite64)(file, bytes, count, offset);
}

EXPORTED int fsync(int file) { return fails_on("sync", file) ? -1 : REAL(fsync)(file); }

EXPORTED int fdatasync(int file) { return fails_on("sync", file) ? -1 : REAL(fdatasync)(file); }

EXPORTED int syncfs(int file) { return fails_on("sync", file) ? -1 : REAL(syncfs)(file); }

EXPORTED int ftruncate(int file, off_t length) {
  return fails_on("truncate", file) ? -1 : REAL(ftruncate)(file, length);
}

EXPORTED int ftruncate64(int file, off64_t length) {
  return fails_on("truncate", file) ? -1 : REAL(ftruncate64)(file, length);
}

EXPORTED int rename(const char *from, const char *to) { return fails("rename", to) ? -1 : REAL(rename)(from, to); }

EXPORTED int unlink(const char *path) { return fails("unlink", path) ? -1 : REAL(unlink)(path); }

EXPORTED int mkdir(const char *path, mode_t mode) { return fails("mkdir", path) ? -1 : REAL(mkdir)(path, mode); }

// The mode is there only when a file may be made, but reading it always does no harm on this machine's ABIs.
#define OPENS(name) \
  EXPORTED int name(const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    return fails("open", path) ? -1 : REAL(name)(path, flags, mode); \
  }

OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
  EXPORTED int name(int directory, const char *path, int flags, ...) { \
    va_list rest; \
    va_start(rest, flags); \
    mode_t mode = va_arg(rest, mode_t); \
    va_end(rest); \
    return fails("open", path) ? -1 : REAL(name)(directory, path, flags, mode); \
  }

OPENS_AT(openat)
OPENS_AT(openat64)
