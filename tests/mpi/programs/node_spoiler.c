/* To be preloaded: shared memory of the library's that cannot be had. NODE_SPOIL names the functions that fail and how
 * (shm_open=ENOSPC, or =KILL: the process dies in it; memfd_create: of files without a name, and open: of those by
 * others; several are separated by commas), NODE_SPOIL_RANK the rank (none: all ranks). */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int error_named(const char *how) {
  static const struct {
    const char *name;
    int error;
  } errors[] = {{"ENOSPC", ENOSPC}, {"ENOENT", ENOENT}, {"EACCES", EACCES}, {"EOPNOTSUPP", EOPNOTSUPP}};
  for (size_t i = 0; i < sizeof errors / sizeof *errors; ++i)
    if (!strncmp(how, errors[i].name, strlen(errors[i].name))) return errors[i].error;
  return ENOMEM;
}

/* @return an error, or 0. */
static int spoilt(const char *function) {
  const char *what = getenv("NODE_SPOIL"), *who = getenv("NODE_SPOIL_RANK"), *me = getenv("PMI_RANK");
  const size_t length = strlen(function);
  if (!me) me = getenv("OMPI_COMM_WORLD_RANK");
  if (!me || (who && strcmp(who, me) != 0)) return 0;
  for (; what; what = strchr(what, ',') ? strchr(what, ',') + 1 : NULL) {
    if (strncmp(what, function, length) != 0 || what[length] != '=') continue;
    if (!strncmp(what + length + 1, "KILL", 4)) raise(SIGKILL);
    return error_named(what + length + 1);
  }
  return 0;
}

static int spoilt_file(const char *function, int file) {
  char link[64], name[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  const ssize_t length = readlink(link, name, sizeof name - 1);
  if (length < 0) return 0;
  name[length] = '\0';
  return strstr(name, "swapmeet-") ? spoilt(function) : 0;
}

int shm_open(const char *name, int flags, mode_t mode) {
  int (*const real)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, "shm_open");
  const int error = strstr(name, "swapmeet-") ? spoilt("shm_open") : 0;
  if (error) return errno = error, -1;
  return real(name, flags, mode);
}

int memfd_create(const char *name, unsigned flags) {
  int (*const real)(const char *, unsigned) = (int (*)(const char *, unsigned))dlsym(RTLD_NEXT, "memfd_create");
  const int error = strstr(name, "swapmeet-") ? spoilt("memfd_create") : 0;
  if (error) return errno = error, -1;
  return real(name, flags);
}

int open(const char *path, int flags, ...) {
  int (*const real)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  const int error = !strncmp(path, "/proc/", 6) && strstr(path, "/fd/") ? spoilt("open") : 0;
  if (error) return errno = error, -1;
  return real(path, flags, mode);
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
