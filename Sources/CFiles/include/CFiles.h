/// The file calls that Swift can't make under strict memory safety, since their C names take pointers.
///
/// Each reads a NUL-terminated path for the time of the call and keeps nothing of it, which is what a
/// Swift `String` gives: that is why they are marked safe. A result below zero is a negated errno.
#pragma once

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_SAFE __attribute__((swift_attr("safe")))

/// How many words the command line of this process has.
int files_argument_count(void);

/// A byte of one of them; 0 behind the last one.
int files_argument_byte(int argument, int place);

FILES_SAFE static inline int files_open(const char *_Nonnull path, int flags, int mode) {
  int descriptor;
  do descriptor = open(path, flags | O_CLOEXEC, mode);
  while (descriptor < 0 && errno == EINTR);
  return descriptor < 0 ? -errno : descriptor;
}

FILES_SAFE static inline int files_rename(const char *_Nonnull from, const char *_Nonnull to) {
  return rename(from, to) == 0 ? 0 : -errno;
}

FILES_SAFE static inline int files_unlink(const char *_Nonnull path) {
  return unlink(path) == 0 ? 0 : -errno;
}

FILES_SAFE static inline int files_mkdir(const char *_Nonnull path, int mode) {
  return mkdir(path, mode) == 0 ? 0 : -errno;
}

FILES_SAFE static inline int files_rmdir(const char *_Nonnull path) {
  return rmdir(path) == 0 ? 0 : -errno;
}

static inline int files_watch_open(void) {
  int descriptor = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  return descriptor < 0 ? -errno : descriptor;
}

FILES_SAFE static inline int files_watch(int inotify, const char *_Nonnull path, unsigned mask) {
  int watch = inotify_add_watch(inotify, path, mask);
  return watch < 0 ? -errno : watch;
}

static inline int files_fsync(int descriptor) { return fsync(descriptor) == 0 ? 0 : -errno; }

static inline int files_syncfs(int descriptor) { return syncfs(descriptor) == 0 ? 0 : -errno; }

/// What tells one state of a file from another without reading it; `inode` is 0 where there is none.
struct files_signature {
  unsigned long long inode;
  long long size;
  long long modified_nanoseconds;
  /// When its inode was changed last: also by a rename, a new owner, another link.
  long long changed_nanoseconds;
};

FILES_SAFE static inline struct files_signature files_signature(const char *_Nonnull path) {
  struct stat status;
  struct files_signature signature = {0, 0, 0, 0};
  if (lstat(path, &status) == 0) {
    signature.inode = status.st_ino;
    signature.size = status.st_size;
    signature.modified_nanoseconds =
        status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec;
    signature.changed_nanoseconds =
        status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec;
  }
  return signature;
}

/// What a path leads to.
struct files_kind {
  int is_there;
  /// 1 for a regular file.
  int is_file;
  long long size;
};

FILES_SAFE static inline struct files_kind files_kind(const char *_Nonnull path) {
  struct stat status;
  struct files_kind kind = {0, 0, 0};
  if (stat(path, &status) == 0) {
    kind.is_there = 1;
    kind.is_file = S_ISREG(status.st_mode);
    kind.size = status.st_size;
  }
  return kind;
}

/// Sets when the file was written last.
static inline int files_set_modified(int descriptor, long long nanoseconds) {
  struct timespec times[2] = {
      {0, UTIME_OMIT}, {nanoseconds / 1000000000, nanoseconds % 1000000000}};
  return futimens(descriptor, times) == 0 ? 0 : -errno;
}

/// Which file it is, whatever its name; `links` is 0 where there is none, or it has no name any more.
struct files_place {
  unsigned long long device;
  unsigned long long inode;
  unsigned long long links;
};

static inline struct files_place files_place_of(const struct stat *_Nonnull status) {
  struct files_place place = {status->st_dev, status->st_ino, status->st_nlink};
  return place;
}

/// The place of the file or folder that a path leads to; zeros when there is none.
FILES_SAFE static inline struct files_place files_place(const char *_Nonnull path) {
  struct stat status;
  struct files_place none = {0, 0, 0};
  return stat(path, &status) == 0 ? files_place_of(&status) : none;
}

/// The place of an open file or folder.
static inline struct files_place files_place_of_open(int descriptor) {
  struct stat status;
  struct files_place none = {0, 0, 0};
  return fstat(descriptor, &status) == 0 ? files_place_of(&status) : none;
}

/// One state of what a path leads to through all links; `error` is an errno where there is nothing, or nobody may look.
struct files_state {
  int error;
  unsigned long long device;
  unsigned long long inode;
  long long size;
  long long modified_nanoseconds;
  long long changed_nanoseconds;
};

FILES_SAFE static inline struct files_state files_state(const char *_Nonnull path) {
  struct stat status;
  struct files_state state = {0, 0, 0, 0, 0, 0};
  if (stat(path, &status) != 0) {
    state.error = errno;
    return state;
  }
  state.device = status.st_dev;
  state.inode = status.st_ino;
  state.size = status.st_size;
  state.modified_nanoseconds = status.st_mtim.tv_sec * 1000000000ll + status.st_mtim.tv_nsec;
  state.changed_nanoseconds = status.st_ctim.tv_sec * 1000000000ll + status.st_ctim.tv_nsec;
  return state;
}

static inline unsigned long long files_mixed(unsigned long long number) {
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9ull;
  number = (number ^ (number >> 27)) * 0x94d049bb133111ebull;
  return number ^ (number >> 31);
}

/// A number that is another one when a file of this folder whose name has the ending was written, added or removed;
/// hidden ones are left out. 0 where the folder can't be read.
FILES_SAFE static inline unsigned long long files_folder_digest(
    const char *_Nonnull path, const char *_Nonnull ending) {
  DIR *folder = opendir(path);
  if (!folder) return 0;
  size_t ending_length = strlen(ending);
  // The order of the names is the file system's, so that sums are compared.
  unsigned long long digest = 1;
  for (struct dirent *entry; (entry = readdir(folder));) {
    size_t length = strlen(entry->d_name);
    if (entry->d_name[0] == '.' || length < ending_length) continue;
    if (strcmp(entry->d_name + length - ending_length, ending)) continue;
    struct stat status;
    if (fstatat(dirfd(folder), entry->d_name, &status, AT_SYMLINK_NOFOLLOW)) continue;
    unsigned long long name = 0;
    for (const char *byte = entry->d_name; *byte; byte++) {
      name = files_mixed(name ^ (unsigned char)*byte);
    }
    name = files_mixed(name ^ status.st_ino);
    name = files_mixed(name ^ (unsigned long long)status.st_size);
    name = files_mixed(name ^ (status.st_mtim.tv_sec * 1000000000ull + status.st_mtim.tv_nsec));
    digest += files_mixed(name ^ (status.st_ctim.tv_sec * 1000000000ull + status.st_ctim.tv_nsec));
  }
  closedir(folder);
  return digest ? digest : 1;
}

/// How far a text is written, and the errno that ended it; 0: all of it is.
struct files_written {
  long long count;
  int error;
};

/// Writes a text from the byte at `start` on, and waits as long as the reader takes to make room, even if another
/// process has made the descriptor non-blocking.
FILES_SAFE static inline struct files_written files_write_text(
    int descriptor, const char *_Nonnull text, long long start) {
  size_t length = strlen(text);
  struct files_written written = {start, 0};
  while ((size_t)written.count < length) {
    ssize_t count = write(descriptor, text + written.count, length - written.count);
    if (count >= 0) {
      written.count += count;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      struct pollfd room = {descriptor, POLLOUT, 0};
      if (poll(&room, 1, -1) < 0 && errno != EINTR) break;
    } else if (errno != EINTR) {
      break;
    }
  }
  if ((size_t)written.count < length) written.error = errno;
  return written;
}

/// Whether a short text can be written without a wait.
static inline int files_has_room(int descriptor) {
  struct pollfd room = {descriptor, POLLOUT, 0};
  return poll(&room, 1, 0) > 0;
}

static inline int files_close(int descriptor) { return close(descriptor) == 0 ? 0 : -errno; }

static inline int files_fdatasync(int descriptor) { return fdatasync(descriptor) == 0 ? 0 : -errno; }

static inline int files_truncate(int descriptor, long long length) {
  return ftruncate(descriptor, length) == 0 ? 0 : -errno;
}

/// Takes the lock of a whole file for as long as the descriptor is open, or says at once that it is taken.
static inline int files_try_lock(int descriptor) {
  return flock(descriptor, LOCK_EX | LOCK_NB) == 0 ? 0 : -errno;
}

/// Waits for the lock of a whole file or folder: alone, or together with others who only read. It is the open
/// descriptor's, so that two of one process exclude each other too, and goes when that is closed.
static inline int files_lock(int descriptor, int alone) {
  int result;
  do result = flock(descriptor, alone ? LOCK_EX : LOCK_SH);
  while (result < 0 && errno == EINTR);
  return result == 0 ? 0 : -errno;
}

/// Takes the lock together with others, or says at once that somebody has it alone.
static inline int files_try_lock_shared(int descriptor) {
  return flock(descriptor, LOCK_SH | LOCK_NB) == 0 ? 0 : -errno;
}
