// Measures the processor time and the memory of a server's processes.
#ifndef BENCHMARKS_USAGE_H
#define BENCHMARKS_USAGE_H

struct usage {
  double run;          // seconds on a core, by the scheduler's nanoseconds, of live threads only
  double user, system; // the same by the clock's ticks, which are coarse
  long resident_kib;
};

// Sets the processes to measure: their numbers, separated by spaces.
void usage_watch(const char *processes);
struct usage usage_read(void);

#endif
