/* One large block among small ones, with what it costs in memory.
 *
 *   skewed small=N large=N from=R to=R [unit=BYTES] [gap=BYTES] [calls=N]
 *
 * MPI_Alltoallv in which every block has `small` units but that of rank `from` for rank `to`, which has `large`. A unit
 * is an MPI_BYTE, an MPI_INT64_T (unit=8), or a datatype of `unit` bytes side by side and `gap` bytes that are not
 * sent. Each rank then says by how much its memory has grown at most during the calls (VmHWM), what it had to send and
 * to receive, and whether all of it was right. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GUARD = 64, POISON = 0x5a };

static long long argument(int argc, char **argv, const char *name, long long standard) {
  const size_t length = strlen(name);
  for (int k = 1; k < argc; ++k)
    if (strncmp(argv[k], name, length) == 0 && argv[k][length] == '=') return atoll(argv[k] + length + 1);
  return standard;
}

/* A line of /proc/self/status, in KiB. */
static long long status_kib(const char *name) {
  char line[256];
  long long kib = -1;
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) == 0) kib = atoll(line + strlen(name) + 1);
  if (file) fclose(file);
  return kib;
}

/* From here on VmHWM is the peak. @return what is in use now, in KiB. */
static long long forget_peak(void) {
  FILE *file = fopen("/proc/self/clear_refs", "w");
  if (file) fputs("5", file), fclose(file);
  return status_kib("VmRSS");
}

static unsigned char pattern(int source, int destination, long long index) {
  return (unsigned char)(7 * source + 31 * destination + index + (index >> 11));
}

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, wrong = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const long long small = argument(argc, argv, "small", 8), large = argument(argc, argv, "large", 8);
  const long long unit = argument(argc, argv, "unit", 1), calls = argument(argc, argv, "calls", 1);
  const int from = (int)argument(argc, argv, "from", 0), to = (int)argument(argc, argv, "to", 1);
  const long long gap = argument(argc, argv, "gap", 0), extent = unit + gap;
  MPI_Datatype type = extent == 8 && gap == 0 ? MPI_INT64_T : MPI_BYTE, bytes;
  const int derived = extent != 1 && type == MPI_BYTE;
  if (derived) {
    MPI_Type_contiguous((int)unit, MPI_BYTE, &bytes);
    MPI_Type_create_resized(bytes, 0, (MPI_Aint)extent, &type);
    MPI_Type_commit(&type);
    MPI_Type_free(&bytes);
  }

  int *counts = malloc(4 * (size_t)ranks * sizeof *counts), *places = counts + ranks;
  int *expected = places + ranks, *homes = expected + ranks;
  long long sent = 0, received = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    counts[peer] = (int)(rank == from && peer == to ? large : small);
    expected[peer] = (int)(peer == from && rank == to ? large : small);
    places[peer] = (int)sent, homes[peer] = (int)received;
    sent += counts[peer], received += expected[peer];
  }
  const size_t out_room = (size_t)(sent * extent), in_room = (size_t)(received * extent);
  unsigned char *out = malloc(out_room + 1), *memory = malloc(in_room + 2 * GUARD), *in = memory + GUARD;
  for (int peer = 0; peer < ranks; ++peer)
    for (long long k = 0; k < counts[peer] * extent; ++k) out[places[peer] * extent + k] = pattern(rank, peer, k);
  memset(memory, POISON, in_room + 2 * GUARD);

  MPI_Barrier(MPI_COMM_WORLD);
  const long long before = forget_peak();
  for (long long call = 0; call < calls; ++call) {
    memset(in, POISON, in_room);
    MPI_Alltoallv(out, counts, places, type, in, expected, homes, type, MPI_COMM_WORLD);
  }
  const long long grown = status_kib("VmHWM") - before;
  for (int peer = 0; peer < ranks; ++peer)
    for (long long k = 0; k < expected[peer] * extent; ++k)
      wrong |= in[homes[peer] * extent + k] != (gap == 0 || k % extent < unit ? pattern(peer, rank, k) : POISON);
  for (int k = 0; k < GUARD; ++k) wrong |= memory[k] != POISON || in[in_room + (size_t)k] != POISON;
  for (int turn = 0; turn < ranks; ++turn) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (turn == rank)
      printf("rank %d grew %lld KiB, sent %lld, received %lld: %s\n", rank, grown, sent * unit, received * unit,
             wrong ? "WRONG" : "right");
    fflush(stdout);
  }
  free(counts), free(out), free(memory);
  if (derived) MPI_Type_free(&type);
  MPI_Finalize();
  return wrong;
}
