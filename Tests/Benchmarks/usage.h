// What a server's processes have used so far.
#ifndef BENCHMARKS_USAGE_H
#define BENCHMARKS_USAGE_H

struct usage {
  double run;          // seconds on a core, by the scheduler's nanoseconds; only threads that live count
  double user, system; // the same by the clock's ticks, which are coarse
  long resident_kib;
};

// Remembers the processes to look at: numbers with spaces between.
void usage_watch(const char *processes);
struct usage usage_read(void);

#endif
