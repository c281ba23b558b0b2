// Collects durations, and gives the quantiles of them.
#ifndef BENCHMARKS_SAMPLES_H
#define BENCHMARKS_SAMPLES_H

#include <stddef.h>

void samples_clear(void);
void samples_add(double seconds);
size_t samples_count(void);
// The quantile of the durations at `part`, from 0 to 1; 0 when there are none.
double samples_part(double part);

#endif
