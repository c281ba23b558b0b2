// How long each of many things took.
#ifndef BENCHMARKS_SAMPLES_H
#define BENCHMARKS_SAMPLES_H

#include <stddef.h>

void samples_clear(void);
void samples_add(double seconds);
size_t samples_count(void);
// The value under which this part of all lies; 0 when there are none.
double samples_part(double part);

#endif
