// Lets the thread sanitizer see a `Synchronization.Mutex` that was waited for.
//
// A mutex that no thread waits for is locked and unlocked by atomics that are compiled into our code, where the
// sanitizer sees them. A thread that has to wait goes through two functions of the library, which was compiled without
// the sanitizer: what happened before that unlock and after that lock looks like a race. This library stands in front
// of the two (LD_PRELOAD), calls them, and reports them to the sanitizer. It suppresses nothing: a race beside a mutex
// is still reported.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))
// _MutexHandle._lockSlow(UInt32) and _MutexHandle._unlockSlow()
#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Functions of the sanitizer's runtime; other programs that are started on the way don't have them.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

typedef SWIFT void LockSlow(uint32_t thread, SELF void *mutex);
typedef SWIFT void UnlockSlow(SELF void *mutex);

static LockSlow *library_lock_slow;
static UnlockSlow *library_unlock_slow;

// Looked up when a thread first waits for a mutex: before that the library may not be loaded.
static void *library(const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  if (found == NULL) {
    fprintf(stderr, "seen_mutex: the library has no %s\n", name);
    abort();
  }
  return found;
}

SWIFT void seen_lock_slow(uint32_t thread, SELF void *mutex) __asm__(LOCK_SLOW);
SWIFT void seen_unlock_slow(SELF void *mutex) __asm__(UNLOCK_SLOW);

SWIFT void seen_lock_slow(uint32_t thread, SELF void *mutex) {
  LockSlow *next = __atomic_load_n(&library_lock_slow, __ATOMIC_RELAXED);
  if (next == NULL) {
    next = (LockSlow *)library(LOCK_SLOW);
    __atomic_store_n(&library_lock_slow, next, __ATOMIC_RELAXED);
  }
  next(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT void seen_unlock_slow(SELF void *mutex) {
  UnlockSlow *next = __atomic_load_n(&library_unlock_slow, __ATOMIC_RELAXED);
  if (next == NULL) {
    next = (UnlockSlow *)library(UNLOCK_SLOW);
    __atomic_store_n(&library_unlock_slow, next, __ATOMIC_RELAXED);
  }
  if (__tsan_release) __tsan_release(mutex);
  next(mutex);
}
