#include "samples.h"

#include <stdlib.h>

static double *samples;
static size_t count, room;
static int is_sorted;

void samples_clear(void) {
  count = 0;
  is_sorted = 0;
}

void samples_add(double seconds) {
  if (count == room) {
    room = room ? room * 2 : 65536;
    samples = realloc(samples, room * sizeof *samples);
    if (!samples) exit(1);
  }
  samples[count++] = seconds;
  is_sorted = 0;
}

size_t samples_count(void) { return count; }

static int ascending(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double samples_part(double part) {
  if (!count) return 0;
  if (!is_sorted) qsort(samples, count, sizeof *samples, ascending);
  is_sorted = 1;
  size_t index = count * part;
  return samples[index < count ? index : count - 1];
}
