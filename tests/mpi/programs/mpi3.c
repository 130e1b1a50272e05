/* To be preloaded behind libswapmeet.so: dlsym() finds nothing that came with MPI 4 or later, nor any extension. To the
 * library a host MPI then looks like one of MPI 3.1, as Open MPI 4 is, with which it shares its ABI. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

/* Patterns of names behind MPI_, from the lists of changes of MPI 4.0, 4.1 and 5.0. */
static const char *const later[] = {
    "*_c",       "[!BRS]*_init",   "Barrier_init",   "Bcast_init",     "Reduce*_init",  "Sca*_init",
    "Session_*", "*from_group",    "*from_groups",   "*_pset",         "Psend_*",       "Precv_*",
    "Pready*",   "Parrived",       "Isendrecv*",     "Info_get_str*",  "*create_env",   "*idup_with*",
    "*_buffer",  "Abi_*",          "*_toint",        "*_fromint",      "Remove_error*", "*get_status_*",
    "Get_hw*",   "Status_get_er*", "Status_get_so*", "Status_get_tag", "*_value_index", "T_event*",
    "T_source*",
};

static int came_later(const char *name) {
  if (!strcmp(name, "ompi_mpi_errors_abort") || !strncmp(name, "ompi_ftmpi_", 11)) return 1;
  if (*name == 'P') ++name;
  if (!strncmp(name, "MPIX_", 5)) return 1;
  if (strncmp(name, "MPI_", 4)) return 0;
  for (size_t i = 0; i < sizeof later / sizeof *later; ++i)
    if (!fnmatch(later[i], name + 4, 0)) return 1;
  return 0;
}

void *dlsym(void *handle, const char *name) {
  static void *(*found)(void *, const char *);
  /* Of this glibc, or the first of x86-64 and of aarch64. */
  static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
  for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; ++i)
    found = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", versions[i]);
  return came_later(name) ? NULL : found(handle, name);
}
