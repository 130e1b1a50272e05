/* To be preloaded: shared memory of the library's that cannot be had. NODE_SPOIL names the function that fails and how
 * (shm_open=ENOSPC, or =KILL: the process dies in it), NODE_SPOIL_RANK the rank (none: all ranks). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* @return an error, or 0. */
static int spoilt(const char *function, const char *name) {
  const char *what = getenv("NODE_SPOIL"), *who = getenv("NODE_SPOIL_RANK"), *me = getenv("PMI_RANK");
  const size_t length = strlen(function);
  if (!me) me = getenv("OMPI_COMM_WORLD_RANK");
  if (!what || !me || !strstr(name, "swapmeet-") || (who && strcmp(who, me) != 0)) return 0;
  if (strncmp(what, function, length) != 0 || what[length] != '=') return 0;
  const char *how = what + length + 1;
  if (strcmp(how, "KILL") == 0) raise(SIGKILL);
  return strcmp(how, "ENOSPC") == 0 ? ENOSPC : strcmp(how, "ENOENT") == 0 ? ENOENT : strcmp(how, "EACCES") == 0 ? EACCES : ENOMEM;
}

static int spoilt_file(const char *function, int file) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = '\0';
  return spoilt(function, name);
}

int shm_open(const char *name, int flags, mode_t mode) {
  int (*const real)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "shm_open");
  const int error = spoilt("shm_open", name);
  if (error) return errno = error, -1;
  return real(name, flags, mode);
}

int posix_fallocate(int file, off_t first, off_t bytes) {
  int (*const real)(int, off_t, off_t) = (int (*)(int, off_t, off_t))dlsym(RTLD_NEXT, "posix_fallocate");
  const int error = spoilt_file("posix_fallocate", file);
  return error ? error : real(file, first, bytes);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int file, off_t offset) {
  void *(*const real)(void *, size_t, int, int, int, off_t) =
      (void *(*)(void *, size_t, int, int, int, off_t))dlsym(RTLD_NEXT, "mmap");
  const int error = file >= 0 && (flags & MAP_SHARED) ? spoilt_file("mmap", file) : 0;
  if (error) return errno = error, MAP_FAILED;
  return real(address, bytes, protection, flags, file, offset);
}
