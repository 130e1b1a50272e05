/* Tables in IMB's form, for programs that time several exchanges: "# Benchmarking NAME", then a line for each size. */
#pragma once

#include <stddef.h>

/* Zeroed memory; ends the job where there is none. Whole pages, as OSU has its buffers: copies between two places take twenty
   times as long where the later one is 16 bytes further in its page, and malloc() places them by chance. */
void* room(size_t bytes);

/* As many calls as move about `volume` bytes, at `bytes` each; five at least, and `most` at most. */
int calls_within(double volume, double bytes, int most);

/* The head of a table: rank 0 prints it. */
void title(const char* name);

/* Makes `calls` calls after `warm` ones, the turn of each from 0 on; each is timed by itself, with a barrier behind it that
 * is not, nor is `before`, if there is any. A line of the table: `bytes`, the size of blocks, `calls`, and the least,
 * greatest and mean time of the ranks, of the mean over the calls. Collective over MPI_COMM_WORLD. */
typedef void Call(void* what, int turn);
void measure(int bytes, int calls, int warm, Call* before, Call* call, void* what);

/* The first line of all: whether this process holds the library. Rank 0 prints it. */
void report_library(void);
