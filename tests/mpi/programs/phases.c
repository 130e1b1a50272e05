/* phases WORD...: measures and traces calls, and checks their data. (Link with -rdynamic: it brings a clock of its own,
 * which shows the library 1 us more at each reading, so that times are counts of readings; to everybody else, the
 * time.)
 *
 *   set=SPEC          the algorithm from now on
 *   measure=N         the calls that follow are made N times, the last of them measured: a line of each rank "rank R
 *                     SPEC CALL readings R:" and what each phase took, in us. 0: they are made once, and only the
 *                     readings told
 *   alltoall=BYTES    of each block
 *   alltoallv=BYTES   blocks of 0 to 4 times as many
 *   in-place=BYTES    MPI_Alltoall with MPI_IN_PLACE
 *   strided=COUNT     elements of a type with gaps, for each rank
 *   trace=FILE        the next call is traced (rank 1 gives no name); null-trace: rank 0 gives none
 *   halves            ranks of two parts go on by themselves */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "swapmeet/swapmeet.h"

static long readings;

int clock_gettime(clockid_t clock, struct timespec *time) {
  Dl_info caller;
  if (!dladdr(__builtin_return_address(0), &caller) || !strstr(caller.dli_fname, "libswapmeet"))
    return (int)syscall(SYS_clock_gettime, clock, time);
  ++readings;
  time->tv_sec = readings / 1000000;
  time->tv_nsec = readings % 1000000 * 1000;
  return 0;
}

static int rank, ranks, wrong;
static MPI_Comm comm;

enum { LINE = 512 };

/* Rank 0 prints the lines of all: launchers may mix them. Collective over MPI_COMM_WORLD. */
static void tell(const char *line) {
  int me, all;
  MPI_Comm_rank(MPI_COMM_WORLD, &me), MPI_Comm_size(MPI_COMM_WORLD, &all);
  char *lines = calloc((size_t)all, LINE);
  MPI_Gather(line, LINE, MPI_CHAR, lines, LINE, MPI_CHAR, 0, MPI_COMM_WORLD);
  for (int other = 0; me == 0 && other < all; ++other) printf("%s\n", lines + other * LINE);
  free(lines);
}

static unsigned char value(int source, int destination, int k) {
  return (unsigned char)(1 + (31 * source + 57 * destination + 11 * k) % 255);
}

static int bytes_of(int source, int destination, int bytes) { return (7 * source + 3 * destination) % 5 * bytes; }

/* Blocks of elements of one byte, or of the first of each two bytes. */
static void fill(unsigned char *buffer, const int *counts, const int *places, int stride, int received) {
  for (int peer = 0; peer < ranks; ++peer)
    for (int k = 0; k < counts[peer]; ++k) {
      unsigned char *const at = buffer + (places[peer] + k) * stride;
      const unsigned char right = received ? value(peer, rank, k) : value(rank, peer, k);
      if (received) wrong += *at != right || (stride == 2 && at[1] != 0);
      else *at = right;
    }
}

static void call(const char *kind, int bytes) {
  const int vector = !strcmp(kind, "alltoallv"), strided = !strcmp(kind, "strided"), stride = 1 + strided;
  int *numbers = calloc(4 * (size_t)ranks, sizeof *numbers), sent = 0, received = 0;
  int *out = numbers, *out_at = numbers + ranks, *in = numbers + 2 * ranks, *in_at = numbers + 3 * ranks;
  for (int peer = 0; peer < ranks; ++peer) {
    out[peer] = vector ? bytes_of(rank, peer, bytes) : bytes, in[peer] = vector ? bytes_of(peer, rank, bytes) : bytes;
    out_at[peer] = sent, in_at[peer] = received;
    sent += out[peer], received += in[peer];
  }
  unsigned char *send = calloc((size_t)(sent * stride + 1), 1), *receive = calloc((size_t)(received * stride + 1), 1);
  MPI_Datatype type = MPI_BYTE;
  if (strided) MPI_Type_create_resized(MPI_BYTE, 0, 2, &type), MPI_Type_commit(&type);
  fill(send, out, out_at, stride, 0);
  if (vector) MPI_Alltoallv(send, out, out_at, type, receive, in, in_at, type, comm);
  else if (!strcmp(kind, "in-place")) {
    memcpy(receive, send, (size_t)sent);
    MPI_Alltoall(MPI_IN_PLACE, 0, type, receive, bytes, type, comm);
  } else MPI_Alltoall(send, bytes, type, receive, bytes, type, comm);
  fill(receive, in, in_at, stride, 1);
  if (strided) MPI_Type_free(&type);
  free(send), free(receive), free(numbers);
}

static void measured(const char *spec, const char *word, const char *kind, int bytes, int times,
                     typeof(swapmeet_phases_begin) *begin, typeof(swapmeet_phases_end) *end) {
  double seconds[SWAPMEET_PHASES] = {0};
  char line[LINE] = "";
  for (int i = 0; i + 1 < times; ++i) call(kind, bytes);
  if (times > 0) wrong += begin(comm) != MPI_SUCCESS;
  const long before = readings;
  call(kind, bytes);
  const long after = readings;
  if (times > 0) wrong += end(comm, seconds) != MPI_SUCCESS;
  wrong += end(comm, seconds) != MPI_ERR_ARG;
  int length = snprintf(line, sizeof line, "rank %d %s %s readings %ld:", rank, spec, word, after - before);
  for (int phase = 0; phase < SWAPMEET_PHASES; ++phase)
    length += snprintf(line + length, sizeof line - (size_t)length, " %ld", lround(1e6 * seconds[phase]));
  tell(line);
}

int main(int argc, char **argv) {
  const char *spec = "auto";
  int times = -1;
  MPI_Init(&argc, &argv);
  comm = MPI_COMM_WORLD;
  typeof(swapmeet_phases_begin) *begin = dlsym(RTLD_DEFAULT, "swapmeet_phases_begin");
  typeof(swapmeet_phases_end) *end = dlsym(RTLD_DEFAULT, "swapmeet_phases_end");
  typeof(swapmeet_phase_name) *name = dlsym(RTLD_DEFAULT, "swapmeet_phase_name");
  typeof(swapmeet_trace) *trace = dlsym(RTLD_DEFAULT, "swapmeet_trace");
  typeof(swapmeet_set_algorithm) *set = dlsym(RTLD_DEFAULT, "swapmeet_set_algorithm");
  MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
  if (!begin || !end || !name || !trace || !set) MPI_Abort(comm, 2);
  wrong += begin(MPI_COMM_NULL) != MPI_ERR_COMM || trace(MPI_COMM_NULL, "no.json") != MPI_ERR_COMM;
  wrong += name(-1) != NULL || name(SWAPMEET_PHASES) != NULL;
  for (int phase = 0; rank == 0 && phase < SWAPMEET_PHASES; ++phase) printf("phase %d %s\n", phase, name(phase));
  for (int i = 1; i < argc; ++i) {
    char *const equals = strchr(argv[i], '='), *const value_of = equals ? equals + 1 : argv[i];
    char kind[32];
    snprintf(kind, sizeof kind, "%.*s", equals ? (int)(equals - argv[i]) : 31, argv[i]);
    if (!strcmp(kind, "set")) wrong += set(comm, spec = value_of) != MPI_SUCCESS;
    else if (!strcmp(kind, "measure")) times = atoi(value_of);
    else if (!strcmp(kind, "halves")) {
      MPI_Comm_split(comm, rank % 2, rank, &comm);
      MPI_Comm_rank(comm, &rank), MPI_Comm_size(comm, &ranks);
    } else if (strstr(kind, "trace")) {
      const char *const file = !strcmp(kind, "null-trace") && rank == 0 ? NULL : rank == 1 ? NULL : value_of;
      const int code = trace(comm, file);
      char line[LINE] = "";
      snprintf(line, sizeof line, "rank %d %s: %s", rank, kind,
               code == MPI_SUCCESS    ? "success"
               : code == MPI_ERR_FILE ? "file"
                                      : "argument");
      tell(line);
    } else if (times < 0) call(kind, atoi(value_of));
    else measured(spec, argv[i], kind, atoi(value_of), times, begin, end);
  }
  fflush(stdout);
  if (wrong) fprintf(stderr, "phases: %d times wrong\n", wrong), MPI_Abort(MPI_COMM_WORLD, 3);
  MPI_Finalize();
  return 0;
}
