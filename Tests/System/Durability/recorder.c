// Records what a program does to the files of one folder, and what it sends on its sockets: loaded by LD_PRELOAD.
//
// RECORDER_TRACE is the trace, a file of fixed size that starts with a `struct header` and is mapped here, so that it
// outlives a program that is killed; RECORDER_FOLDER is the folder, absolute and without links. Each call is an entry
// that is in the trace before the call begins. `begin` and `end` come from one counter over all threads, and over all
// processes that share the trace: an entry whose `end` is below another's `begin` was over before that one began.
//
// Calls can be made to fail, as `faults.c` does. A sync that fails on purpose is never made.
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
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// The order is that of KINDS in recording.py.
enum kind { NONE, OPEN, WRITE, CUT, GROW, RENAME, LINK, UNLINK, MKDIR, RMDIR, SYNC, SYNC_ALL, SEND, OTHER };

struct header {
  uint64_t size, used; // bytes of the trace, and how many of them are taken
  uint64_t clock;      // the last instant that was given
  int32_t fail_kind;   // the next `fail_count` calls of this kind on a path that ends in `fail_ending` fail
  int32_t fail_error;
  int64_t fail_count, failed;
  char fail_ending[64];
};

struct entry {
  uint32_t size; // the size of the whole entry, its bytes included
  uint32_t kind;
  uint64_t begin, end; // `end` is 0 as long as the call has not returned
  int64_t result;      // the call's result, or a negated errno
  int64_t number;      // the offset of a write, the length of a cut, the flags of an open
  uint64_t inode;
  int32_t process, is_folder;
  uint32_t path_length, bytes_length;
  char bytes[]; // the path, then what was written or sent, or the second path
};

static struct header *trace;
static char folder[PATH_MAX];
static size_t folder_length;

static void stop(const char *why) {
  fprintf(stderr, "recorder: %s\n", why);
  abort();
}

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("RECORDER_TRACE"), *below = getenv("RECORDER_FOLDER");
  if (!path || !below || strlen(below) >= sizeof folder) return;
  struct stat status;
  int file = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC);
  if (file < 0 || fstat(file, &status)) stop("there is no trace");
  void *shared = mmap(NULL, (size_t)status.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  syscall(SYS_close, file);
  if (shared == MAP_FAILED) stop("the trace can't be mapped");
  strcpy(folder, below);
  folder_length = strlen(folder);
  trace = shared;
}

// MARK: Entries

static struct entry *add(enum kind kind, int64_t number, const char *path, const struct iovec *parts, int count) {
  uint64_t now = __atomic_add_fetch(&trace->clock, 1, __ATOMIC_SEQ_CST);
  size_t path_length = path ? strlen(path) : 0, length = 0;
  for (int part = 0; part < count; part++) length += parts[part].iov_len;
  uint64_t size = (sizeof(struct entry) + path_length + length + 7) & ~7ull;
  uint64_t at = __atomic_fetch_add(&trace->used, size, __ATOMIC_SEQ_CST);
  if (at + size > trace->size) stop("the trace is full");
  struct entry *entry = (struct entry *)((char *)trace + at);
  entry->size = (uint32_t)size;
  entry->begin = now;
  entry->number = number;
  entry->process = getpid();
  entry->path_length = (uint32_t)path_length;
  entry->bytes_length = (uint32_t)length;
  char *place = entry->bytes;
  if (path) memcpy(place, path, path_length);
  place += path_length;
  for (int part = 0; part < count; part++) {
    memcpy(place, parts[part].iov_base, parts[part].iov_len);
    place += parts[part].iov_len;
  }
  __atomic_store_n(&entry->kind, kind, __ATOMIC_SEQ_CST);
  return entry;
}

static long finish(struct entry *entry, long result) {
  if (!entry) return result;
  int error = errno;
  entry->result = result < 0 ? -error : result;
  __atomic_store_n(&entry->end, __atomic_add_fetch(&trace->clock, 1, __ATOMIC_SEQ_CST), __ATOMIC_SEQ_CST);
  errno = error;
  return result;
}

// Whether the call is to fail. If so, errno is set and the entry is finished.
static int fails(struct entry *entry) {
  if (!entry || (int32_t)entry->kind != __atomic_load_n(&trace->fail_kind, __ATOMIC_SEQ_CST)) return 0;
  size_t ending = strnlen(trace->fail_ending, sizeof trace->fail_ending);
  if (entry->path_length < ending) return 0;
  if (memcmp(entry->bytes + entry->path_length - ending, trace->fail_ending, ending)) return 0;
  if (__atomic_fetch_sub(&trace->fail_count, 1, __ATOMIC_SEQ_CST) <= 0) {
    __atomic_store_n(&trace->fail_kind, NONE, __ATOMIC_SEQ_CST);
    return 0;
  }
  __atomic_add_fetch(&trace->failed, 1, __ATOMIC_SEQ_CST);
  errno = trace->fail_error;
  finish(entry, -1);
  return 1;
}

static int is_inside(const char *path) {
  return trace && !strncmp(path, folder, folder_length) && (!path[folder_length] || path[folder_length] == '/');
}

static int path_of(int descriptor, char path[PATH_MAX]) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t length = readlink(link, path, PATH_MAX - 1);
  if (length < 0) return 0;
  path[length] = 0;
  return is_inside(path);
}

// An entry for a call on a file or folder inside; NULL for any other.
static struct entry *add_for(
  enum kind kind, int64_t number, int descriptor, const struct iovec *parts, int count) {
  char path[PATH_MAX];
  struct stat status;
  int error = errno;
  struct entry *entry = NULL;
  if (trace && !fstat(descriptor, &status) && !S_ISSOCK(status.st_mode) && path_of(descriptor, path)) {
    entry = add(kind, number, path, parts, count);
    entry->inode = status.st_ino;
    entry->is_folder = S_ISDIR(status.st_mode);
  }
  errno = error;
  return entry;
}

// The absolute path of a name in a folder that is open.
static const char *resolved(int directory, const char *path, char place[PATH_MAX]) {
  if (path[0] == '/' || directory == AT_FDCWD) return path;
  if (!trace || !path_of(directory, place)) return "";
  size_t length = strlen(place);
  snprintf(place + length, PATH_MAX - length, "/%s", path);
  return place;
}

static struct entry *add_named(enum kind kind, int64_t number, const char *path, const char *second) {
  if (!trace || !(is_inside(path) || (second && is_inside(second)))) return NULL;
  struct iovec part = {(void *)second, second ? strlen(second) : 0};
  return add(kind, number, path, &part, second ? 1 : 0);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define EXPORTED __attribute__((visibility("default")))

// MARK: Bytes

static struct entry *add_bytes(int descriptor, int64_t offset, const struct iovec *parts, int count) {
  struct stat status;
  int error = errno;
  struct entry *entry = NULL;
  if (trace && !fstat(descriptor, &status)) {
    if (S_ISSOCK(status.st_mode)) {
      entry = add(SEND, 0, NULL, parts, count);
      entry->inode = status.st_ino;
    } else if (S_ISREG(status.st_mode)) {
      if (offset < 0) {
        int appends = fcntl(descriptor, F_GETFL) & O_APPEND;
        offset = appends ? status.st_size : lseek(descriptor, 0, SEEK_CUR);
      }
      entry = add_for(WRITE, offset, descriptor, parts, count);
    }
  }
  errno = error;
  return entry;
}

#define WRITES(call, descriptor, offset, parts, count) \
  struct entry *entry = add_bytes(descriptor, offset, parts, count); \
  return fails(entry) ? -1 : finish(entry, call)

EXPORTED ssize_t write(int file, const void *bytes, size_t count) {
  struct iovec part = {(void *)bytes, count};
  WRITES(REAL(write)(file, bytes, count), file, -1, &part, 1);
}

EXPORTED ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
  struct iovec part = {(void *)bytes, count};
  WRITES(REAL(pwrite)(file, bytes, count, offset), file, offset, &part, 1);
}

EXPORTED ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
  struct iovec part = {(void *)bytes, count};
  WRITES(REAL(pwrite64)(file, bytes, count, offset), file, offset, &part, 1);
}

EXPORTED ssize_t writev(int file, const struct iovec *parts, int count) {
  WRITES(REAL(writev)(file, parts, count), file, -1, parts, count);
}

EXPORTED ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) {
  WRITES(REAL(pwritev)(file, parts, count, offset), file, offset, parts, count);
}

EXPORTED ssize_t send(int file, const void *bytes, size_t count, int flags) {
  struct iovec part = {(void *)bytes, count};
  WRITES(REAL(send)(file, bytes, count, flags), file, -1, &part, 1);
}

EXPORTED ssize_t sendto(
  int file, const void *bytes, size_t count, int flags, const struct sockaddr *address, socklen_t length) {
  struct iovec part = {(void *)bytes, count};
  WRITES(REAL(sendto)(file, bytes, count, flags, address, length), file, -1, &part, 1);
}

EXPORTED ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  WRITES(REAL(sendmsg)(file, message, flags), file, -1, message->msg_iov, (int)message->msg_iovlen);
}

#define CALLS(add, call) \
  struct entry *entry = add; \
  return fails(entry) ? -1 : (int)finish(entry, call)

EXPORTED int ftruncate(int file, off_t length) {
  CALLS(add_for(CUT, length, file, NULL, 0), REAL(ftruncate)(file, length));
}

EXPORTED int ftruncate64(int file, off64_t length) {
  CALLS(add_for(CUT, length, file, NULL, 0), REAL(ftruncate64)(file, length));
}

// posix_fallocate returns the error and leaves errno alone.
static int grown(struct entry *entry, int error) {
  errno = error;
  finish(entry, error ? -1 : 0);
  return error;
}

#define GROWS(name, type) \
  EXPORTED int posix_##name(int file, type offset, type length) { \
    struct entry *entry = add_for(GROW, offset + length, file, NULL, 0); \
    return fails(entry) ? errno : grown(entry, REAL(posix_##name)(file, offset, length)); \
  } \
  EXPORTED int name(int file, int mode, type offset, type length) { \
    CALLS( \
      add_for(mode ? OTHER : GROW, offset + length, file, NULL, 0), REAL(name)(file, mode, offset, length)); \
  }

GROWS(fallocate, off_t)
GROWS(fallocate64, off64_t)

// MARK: Syncs

EXPORTED int fsync(int file) { CALLS(add_for(SYNC, 1, file, NULL, 0), REAL(fsync)(file)); }

EXPORTED int fdatasync(int file) { CALLS(add_for(SYNC, 0, file, NULL, 0), REAL(fdatasync)(file)); }

EXPORTED int syncfs(int file) { CALLS(add_for(SYNC_ALL, 0, file, NULL, 0), REAL(syncfs)(file)); }

// MARK: Names

EXPORTED int rename(const char *from, const char *to) {
  CALLS(add_named(RENAME, 0, from, to), REAL(rename)(from, to));
}

EXPORTED int renameat(int folder_from, const char *from, int folder_to, const char *to) {
  char first[PATH_MAX], second[PATH_MAX];
  CALLS(
    add_named(RENAME, 0, resolved(folder_from, from, first), resolved(folder_to, to, second)),
    REAL(renameat)(folder_from, from, folder_to, to));
}

EXPORTED int renameat2(int folder_from, const char *from, int folder_to, const char *to, unsigned flags) {
  char first[PATH_MAX], second[PATH_MAX];
  // RENAME_NOREPLACE is 1; an exchange is more than the model knows.
  CALLS(
    add_named(
      flags > 1 ? OTHER : RENAME, 0, resolved(folder_from, from, first), resolved(folder_to, to, second)),
    REAL(renameat2)(folder_from, from, folder_to, to, flags));
}

EXPORTED int link(const char *from, const char *to) { CALLS(add_named(LINK, 0, from, to), REAL(link)(from, to)); }

EXPORTED int symlink(const char *target, const char *path) {
  CALLS(add_named(OTHER, 0, path, NULL), REAL(symlink)(target, path));
}

EXPORTED int unlink(const char *path) { CALLS(add_named(UNLINK, 0, path, NULL), REAL(unlink)(path)); }

EXPORTED int unlinkat(int directory, const char *path, int flags) {
  char place[PATH_MAX];
  CALLS(
    add_named(flags & AT_REMOVEDIR ? RMDIR : UNLINK, 0, resolved(directory, path, place), NULL),
    REAL(unlinkat)(directory, path, flags));
}

EXPORTED int remove(const char *path) {
  struct stat status;
  int is_folder = !lstat(path, &status) && S_ISDIR(status.st_mode);
  CALLS(add_named(is_folder ? RMDIR : UNLINK, 0, path, NULL), REAL(remove)(path));
}

EXPORTED int mkdir(const char *path, mode_t mode) {
  CALLS(add_named(MKDIR, 0, path, NULL), REAL(mkdir)(path, mode));
}

EXPORTED int mkdirat(int directory, const char *path, mode_t mode) {
  char place[PATH_MAX];
  CALLS(add_named(MKDIR, 0, resolved(directory, path, place), NULL), REAL(mkdirat)(directory, path, mode));
}

EXPORTED int rmdir(const char *path) { CALLS(add_named(RMDIR, 0, path, NULL), REAL(rmdir)(path)); }

EXPORTED int truncate(const char *path, off_t length) {
  CALLS(add_named(OTHER, length, path, NULL), REAL(truncate)(path, length));
}

// MARK: Opening

static int opened(struct entry *entry, int descriptor) {
  int error = errno;
  struct stat status;
  if (entry && descriptor >= 0 && !fstat(descriptor, &status)) {
    entry->inode = status.st_ino;
    entry->is_folder = S_ISDIR(status.st_mode);
  }
  errno = error;
  return (int)finish(entry, descriptor);
}

// The mode is there only when a file may be made, but reading it always does no harm on this machine's ABIs.
#define MODE_OF(flags) \
  va_list rest; \
  va_start(rest, flags); \
  mode_t mode = va_arg(rest, mode_t); \
  va_end(rest)

#define OPENS(name) \
  EXPORTED int name(const char *path, int flags, ...) { \
    MODE_OF(flags); \
    struct entry *entry = add_named((flags & O_TMPFILE) == O_TMPFILE ? OTHER : OPEN, flags, path, NULL); \
    return fails(entry) ? -1 : opened(entry, REAL(name)(path, flags, mode)); \
  }

OPENS(open)
OPENS(open64)

#define OPENS_AT(name) \
  EXPORTED int name(int directory, const char *path, int flags, ...) { \
    char place[PATH_MAX]; \
    MODE_OF(flags); \
    struct entry *entry = add_named( \
      (flags & O_TMPFILE) == O_TMPFILE ? OTHER : OPEN, flags, resolved(directory, path, place), NULL); \
    return fails(entry) ? -1 : opened(entry, REAL(name)(directory, path, flags, mode)); \
  }

OPENS_AT(openat)
OPENS_AT(openat64)
