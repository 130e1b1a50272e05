/* How calls are timed. measure.c says why so. */
#ifndef MEASURE_SAMPLES_H
#define MEASURE_SAMPLES_H

#include "candidates.h"

enum { MOST_BARRIERS = 1000 };

/* Seconds per call of one batch, over ranks. */
typedef struct {
  double longest, shortest, mean;
} Sample;

/* All ranks meet. Collective. */
void meet(const World* world);

/* Seconds on the clock that samples are timed with. */
double now(void);

/* A batch of `calls` calls, after one that is not timed. `touch`: the send buffer is rewritten before each call, and
 * all meet; only the calls are timed. Collective. */
Sample sample(const World* world, Candidates* all, int candidate, const Cell* cell, int calls, bool touch);

/* About the seconds that one call takes, after a warm-up. Collective; the same on all ranks. */
double estimate(const World* world, Candidates* all, int candidate, const Cell* cell, bool touch);

/* Seconds that nine of ten out of `many` barriers (up to MOST_BARRIERS) take at most: on the rank where it is longest.
 * Collective. */
double barrier_seconds(const World* world, int many);

#endif
