/* Does as it is told among ranks that share a node, and checks every byte.
 *
 *   node_calls [WORD | WORD=N]...
 *     bytes=N                         of a block from now on (at first 0: sizes change from call to call)
 *     alltoall=N alltoallv=N          so many calls on the current communicator
 *     world dup reversed halves odd   the current communicator from now on (MPI_COMM_WORLD at first)
 *     cycles=N                        so many times: a communicator of another shape, two calls, freed; then says by
 *                                     how many files and mappings the process has grown since the first tenth of them
 *     alive=N                         so many communicators with two calls each, never freed
 *     names                           no name of a segment is left in /dev/shm
 *     fill=KIB                        rank 0 fills /dev/shm, but for so much
 *     forbid=R                        rank R (-1: all) may not call process_vm_readv from now on; as the first word:
 *                                     before MPI_Init
 *     fork=exit fork=_exit fork=touch popen system    what a child does; while it lives, there are calls
 *     die=R                           rank R is killed
 *     no-finalize                     leaves main without MPI_Finalize */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "forbid.h"
#include "node_blocks.h"

static int calls_so_far, bytes;

static void calls(MPI_Comm comm, int count, int vector) {
  for (int call = 0; call < count; ++call, ++calls_so_far)
    exchange(comm, calls_so_far, bytes ? bytes : mixed_bytes(calls_so_far), vector);
}

static int rank_of_world(void) {
  const char *text = getenv("PMI_RANK");
  if (!text) text = getenv("OMPI_COMM_WORLD_RANK");
  return text ? atoi(text) : -1;
}

static void forbid(void) {
  if (!forbid_process_vm_readv()) fputs("node: no seccomp here\n", stderr);
}

static int entries(const char *folder, const char *beginning) {
  int count = 0;
  DIR *directory = opendir(folder);
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    count += strncmp(entry->d_name, beginning, strlen(beginning)) == 0;
  if (directory) closedir(directory);
  return count;
}

/* Other jobs have names there too. */
static void no_names(void) {
  char mine[64];
  snprintf(mine, sizeof mine, "swapmeet-%ld-", (long)getpid());
  MPI_Barrier(MPI_COMM_WORLD);
  must(entries("/dev/shm", mine) == 0, "a name is left in /dev/shm");
}

static int mappings(void) {
  int lines = 0, letter;
  FILE *file = fopen("/proc/self/maps", "r");
  while (file && (letter = getc(file)) != EOF) lines += letter == '\n';
  if (file) fclose(file);
  return lines;
}

/* How many communicators there can be at a time, and files, is limited: none may leak. */
static void cycles(int count) {
  int files = 0, maps = 0, rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int cycle = 0; cycle < count; ++cycle) {
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, cycle % 3 == 0 ? 0 : rank % (cycle % 3), cycle % 2 ? rank : -rank, &comm);
    calls(comm, 2, 0);
    calls(comm, 1, 1);
    MPI_Comm_free(&comm);
    if (cycle == count / 10) files = entries("/proc/self/fd", ""), maps = mappings();
  }
  printf("rank %d: %d more files, %d more mappings\n", rank, entries("/proc/self/fd", "") - files, mappings() - maps);
}

static void fill(long kib) {
  struct statvfs space;
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) {
    const int file = open("/dev/shm/filler", O_CREAT | O_RDWR, 0600);
    must(file >= 0 && fstatvfs(file, &space) == 0, "/dev/shm can be filled");
    const off_t left = (off_t)space.f_bavail * (off_t)space.f_frsize - (off_t)kib * 1024;
    must(left <= 0 || posix_fallocate(file, 0, left) == 0, "/dev/shm is filled");
    close(file);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

/* A child that lives during some calls of its parent, and has a copy of all that the parent has. */
static void with_child(MPI_Comm comm, const char *how) {
  static char touched[1 << 20];
  const pid_t child = fork();
  if (child == 0) {
    for (size_t k = 0; k < sizeof touched; k += 512) touched[k] = 1;
    if (strcmp(how, "touch") == 0) usleep(20000);
    if (strcmp(how, "exit") == 0) exit(0); /* with all that is to be done at the end of a process */
    _exit(0);
  }
  must(child > 0, "fork");
  calls(comm, 20, 0);
  int status = -1;
  must(waitpid(child, &status, 0) == child && status == 0, "the end of the child");
  calls(comm, 20, 1);
}

static void with_command(MPI_Comm comm) {
  char line[16] = "";
  FILE *pipe = popen("sleep 0.02; echo fine", "r");
  must(pipe != NULL, "popen");
  calls(comm, 20, 0);
  must(fgets(line, sizeof line, pipe) && strcmp(line, "fine\n") == 0 && pclose(pipe) == 0, "what the command says");
  calls(comm, 5, 0);
}

static MPI_Comm named(const char *name) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int rank;
  MPI_Comm_rank(comm, &rank);
  if (strcmp(name, "dup") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else if (strcmp(name, "reversed") == 0) MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
  else if (strcmp(name, "halves") == 0) MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  else if (strcmp(name, "odd") == 0) MPI_Comm_split(MPI_COMM_WORLD, 0, rank * 3 % 7, &comm);
  else must(strcmp(name, "world") == 0, name);
  return comm;
}

int main(int argc, char **argv) {
  MPI_Comm comm = MPI_COMM_WORLD;
  int finalize = 1, rank, begin = 1;
  if (argc > 1 && strncmp(argv[1], "forbid=", 7) == 0) {
    const int who = atoi(argv[begin++] + 7);
    if (who == -1 || who == rank_of_world()) forbid();
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int k = begin; k < argc; ++k) {
    const char *equals = strchr(argv[k], '='), *value = equals ? equals + 1 : "";
    const int n = atoi(value), length = equals ? (int)(equals - argv[k]) : (int)strlen(argv[k]);
    const char *word = argv[k];
#define IS(text) (length == (int)strlen(text) && strncmp(word, text, (size_t)length) == 0)
    if (IS("bytes")) bytes = n;
    else if (IS("alltoall")) calls(comm, n, 0);
    else if (IS("alltoallv")) calls(comm, n, 1);
    else if (IS("cycles")) cycles(n);
    else if (IS("alive"))
      for (int i = 0; i < n; ++i) calls(named(i % 2 ? "dup" : "halves"), 2, 0);
    else if (IS("names")) no_names();
    else if (IS("fill")) fill(n);
    else if (IS("fork")) with_child(comm, value);
    else if (IS("popen")) with_command(comm);
    else if (IS("system")) must(system("true") == 0, "system"), calls(comm, 5, 0);
    else if (IS("no-finalize")) finalize = 0;
    else if (IS("forbid")) {
      if (n == -1 || n == rank) forbid();
    } else if (IS("die")) {
      if (n == rank) raise(SIGKILL);
    } else if (!equals) comm = named(word);
  }
  if (rank == 0) puts("node: done");
  fflush(stdout);
  if (finalize) MPI_Finalize();
  return 0;
}
