/* intercommunicators N: makes, uses and frees N of them, and compares what the process holds after a third of them with what
 * it holds at the end. Of memory only what the library has allocated counts, for the MPIs themselves lose some with each of
 * them. Prints "intercommunicators: right", or what has grown. With "leaks" a file is lost with each. */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "library_code.h"

enum { PARTS = 5, SLOTS = 1 << 18, COUNT = 40, MOST_RANKS = 64 };
static const char *const names[PARTS] = {"open files", "threads", "files in /dev/shm", "maps", "bytes of the library"};
static const long more[PARTS] = {0, 0, 0, 4, 1024};

static long library_bytes;

#if !defined __SANITIZE_ADDRESS__ && !defined __SANITIZE_THREAD__ /* else malloc is the sanitizer's */
extern void *__libc_malloc(size_t bytes);
extern void __libc_free(void *memory);

/* What the library has: found by its address from a hash on, where a freed one leaves its place to others. */
static struct {
  void *memory;
  size_t bytes;
} held[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *const was_freed = &lock;

static size_t slot_of(const void *memory) { return (uintptr_t)memory / 16 * 0x9E3779B1u % SLOTS; }

void *malloc(size_t bytes) {
  void *const memory = __libc_malloc(bytes);
  const uintptr_t caller = (uintptr_t)__builtin_return_address(0);
  if (!memory || !is_of_library(caller)) return memory;
  pthread_mutex_lock(&lock);
  for (size_t i = slot_of(memory), tries = 0; tries < SLOTS; i = (i + 1) % SLOTS, ++tries) {
    if (held[i].memory && held[i].memory != was_freed) continue;
    held[i].memory = memory, held[i].bytes = bytes;
    library_bytes += (long)bytes;
    break;
  }
  pthread_mutex_unlock(&lock);
  return memory;
}

void free(void *memory) {
  if (memory && library_end) {
    pthread_mutex_lock(&lock);
    for (size_t i = slot_of(memory), tries = 0; held[i].memory && tries < SLOTS; i = (i + 1) % SLOTS, ++tries) {
      if (held[i].memory != memory) continue;
      held[i].memory = was_freed;
      library_bytes -= (long)held[i].bytes;
      break;
    }
    pthread_mutex_unlock(&lock);
  }
  __libc_free(memory);
}
#endif

static long entries(const char *folder, const char *prefix) {
  DIR *const opened = opendir(folder);
  long found = 0;
  for (const struct dirent *entry; opened && (entry = readdir(opened));)
    found += entry->d_name[0] != '.' && strncmp(entry->d_name, prefix, strlen(prefix)) == 0;
  if (opened) closedir(opened);
  return found;
}

static long lines(const char *file) {
  FILE *const opened = fopen(file, "r");
  long found = 0;
  for (int letter; opened && (letter = getc(opened)) != EOF;) found += letter == '\n';
  if (opened) fclose(opened);
  return found;
}

/* Takes the least of each: moments differ. */
static void look(long least[PARTS]) {
  char own[40];
  snprintf(own, sizeof own, "swapmeet-%d-", (int)getpid());
  const long now[PARTS] = {entries("/proc/self/fd", ""), entries("/proc/self/task", ""), entries("/dev/shm", own),
                           lines("/proc/self/maps"), library_bytes};
  for (int i = 0; i < PARTS; ++i)
    if (least[i] < 0 || now[i] < least[i]) least[i] = now[i];
}

static int value(int turn, int from, int to) { return 10000 * turn + 100 * from + to; }

/* Returns how many blocks are wrong; `rank`: of its group; `side`: 0 or 1. */
static int exchange(MPI_Comm comm, int turn, int side, int rank) {
  int others = 0, wrong = 0, counts[MOST_RANKS], places[MOST_RANKS];
  static int send[MOST_RANKS * COUNT], receive[MOST_RANKS * COUNT];
  MPI_Comm_remote_size(comm, &others);
  for (int i = 0; i < others * COUNT; ++i) send[i] = value(turn + side, rank, i / COUNT);
  for (int i = 0; i < others; ++i) counts[i] = COUNT, places[i] = i * COUNT;
  for (int varying = 0; varying < 2; ++varying) {
    memset(receive, -1, sizeof receive);
    if (varying) MPI_Alltoallv(send, counts, places, MPI_INT, receive, counts, places, MPI_INT, comm);
    else MPI_Alltoall(send, COUNT, MPI_INT, receive, COUNT, MPI_INT, comm);
    for (int i = 0; i < others * COUNT; ++i) wrong += receive[i] != value(turn + 1 - side, i / COUNT, rank);
  }
  return wrong;
}

int main(int argc, char **argv) {
  int world_rank, ranks, rank, wrong = 0;
  long least[2][PARTS] = {{-1, -1, -1, -1, -1}, {-1, -1, -1, -1, -1}};
  MPI_Comm half, inter;
  find_library();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int number = argc > 1 ? atoi(argv[1]) : 0, leaks = argc > 2 && !strcmp(argv[2], "leaks");
  if (number < 3 || ranks < 2 || ranks > MOST_RANKS || !library_end) MPI_Abort(MPI_COMM_WORLD, 2);
  const int first = (ranks + 1) / 2, side = world_rank >= first;
  MPI_Comm_split(MPI_COMM_WORLD, side, world_rank, &half);
  MPI_Comm_rank(half, &rank);
  for (int turn = 0; turn < number; ++turn) {
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side ? 0 : first, 7, &inter);
    wrong += exchange(inter, turn, side, rank);
    MPI_Comm_free(&inter);
    if (leaks && open("/dev/null", O_RDONLY) < 0) MPI_Abort(MPI_COMM_WORLD, 2);
    if (3 * turn > number) look(least[3 * turn > 2 * number]);
  }
  for (int i = 0; i < PARTS; ++i)
    if (least[1][i] - least[0][i] > more[i])
      ++wrong, printf("%s grew from %ld to %ld\n", names[i], least[0][i], least[1][i]);
  if (world_rank == 0) printf("%ld %s\n", least[1][PARTS - 1], names[PARTS - 1]);
  fflush(stdout);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 0) puts(wrong ? "intercommunicators: wrong" : "intercommunicators: right");
  MPI_Comm_free(&half);
  MPI_Finalize();
  return wrong != 0;
}
