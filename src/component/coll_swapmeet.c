/* The component coll/swapmeet of Open MPI, which serves all-to-alls by libswapmeet.so in programs that preload nothing
 * (docs/howto/component.md).
 *
 * A module of the component replaces functions of the modules that Open MPI has chosen for a communicator, and keeps
 * the replaced functions. Its own functions call the entry points of libswapmeet.so, which is in the folder above this
 * file's. Calls that the library leaves to the host MPI are passed to the replaced functions. They do not use MPI's
 * names, which would lead to this module again.
 *
 * The interface is that of Open MPI 4: ompi/mca/coll/coll.h. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ompi_config.h"

#include "mpi.h"
#include "ompi/communicator/communicator.h"
#include "ompi/constants.h"
#include "ompi/errhandler/errcode-internal.h"
#include "ompi/mca/coll/base/base.h"
#include "ompi/mca/coll/coll.h"
#include "opal/mca/base/mca_base_var.h"

#if OMPI_MAJOR_VERSION != 4 || !defined(MCA_COLL_BASE_VERSION_2_0_0)
#error \
    "coll/swapmeet is written for the collective components of Open MPI 4 (MCA_COLL_BASE_VERSION_2_0_0): these headers are others"
#endif

#define SWAPMEET_QUOTED(x) #x
#define SWAPMEET_TEXT(x) SWAPMEET_QUOTED(x)
#define SWAPMEET_VERSION                \
  SWAPMEET_TEXT(SWAPMEET_VERSION_MAJOR) \
  "." SWAPMEET_TEXT(SWAPMEET_VERSION_MINOR) "." SWAPMEET_TEXT(SWAPMEET_VERSION_PATCH)

#define EQUAL_PARAMETERS                                                                                          \
  const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype, \
      MPI_Comm comm
#define EQUAL sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm
#define UNEQUAL_PARAMETERS                                                                              \
  const void *sendbuf, const int *sendcounts, const int *sdispls, MPI_Datatype sendtype, void *recvbuf, \
      const int *recvcounts, const int *rdispls, MPI_Datatype recvtype, MPI_Comm comm
#define UNEQUAL sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype, comm
#define TYPED_PARAMETERS                                                                                        \
  const void *sendbuf, const int *sendcounts, const int *sdispls, const MPI_Datatype *sendtypes, void *recvbuf, \
      const int *recvcounts, const int *rdispls, const MPI_Datatype *recvtypes, MPI_Comm comm
#define TYPED sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes, comm
#define STARTED_EQUAL_PARAMETERS EQUAL_PARAMETERS, MPI_Request *request
#define STARTED_EQUAL EQUAL, request
#define STARTED_UNEQUAL_PARAMETERS UNEQUAL_PARAMETERS, MPI_Request *request
#define STARTED_UNEQUAL UNEQUAL, request
#define STARTED_TYPED_PARAMETERS TYPED_PARAMETERS, MPI_Request *request
#define STARTED_TYPED TYPED, request

/* The functions that a module replaces: Open MPI's name, MPI's name, and the arguments. */
#define SWAPMEET_CALLS(CALL)                    \
  CALL(alltoall, Alltoall, EQUAL)               \
  CALL(alltoallv, Alltoallv, UNEQUAL)           \
  CALL(alltoallw, Alltoallw, TYPED)             \
  CALL(ialltoall, Ialltoall, STARTED_EQUAL)     \
  CALL(ialltoallv, Ialltoallv, STARTED_UNEQUAL) \
  CALL(ialltoallw, Ialltoallw, STARTED_TYPED)

typedef struct {
  mca_coll_base_module_t super;
  MPI_Comm comm;
#define SWAPMEET_BEFORE(name, Name, arguments)      \
  mca_coll_base_module_##name##_fn_t name##_before; \
  mca_coll_base_module_t *name##_owner;
  SWAPMEET_CALLS(SWAPMEET_BEFORE) /* the replaced functions, and the modules that own them */
} swapmeet_module_t;

OBJ_CLASS_DECLARATION(swapmeet_module_t);

/* The code in which this thread is. It is NULL in the application or in Open MPI's progress, a module while a function
 * of it runs, and `elsewhere` while libswapmeet.so calls the host MPI on another communicator. Calls are served if it
 * is NULL; others are passed to the replaced functions. */
static __thread const swapmeet_module_t *inside;
static const swapmeet_module_t elsewhere;

#define SWAPMEET_FUNCTIONS(name, Name, arguments)                                             \
  static int (*swapmeet_##name)(arguments##_PARAMETERS); /* the function of libswapmeet.so */ \
                                                                                              \
  static int serve_##name(arguments##_PARAMETERS, mca_coll_base_module_t *module) {           \
    const swapmeet_module_t *const mine = (const swapmeet_module_t *)module;                  \
    if (inside) return mine->name##_before(arguments, mine->name##_owner);                    \
    inside = mine;                                                                            \
    const int error = swapmeet_##name(arguments);                                             \
    inside = NULL;                                                                            \
    return error;                                                                             \
  }                                                                                           \
                                                                                              \
  /* The function that libswapmeet.so calls as PMPI_Name. */                                  \
  static int host_##name(arguments##_PARAMETERS) {                                            \
    const swapmeet_module_t *const mine = inside;                                             \
    if (mine && mine->comm == comm && mine->name##_before)                                    \
      return ompi_errcode_get_mpi_code(mine->name##_before(arguments, mine->name##_owner));   \
    inside = &elsewhere;                                                                      \
    const int error = PMPI_##Name(arguments);                                                 \
    inside = mine;                                                                            \
    return error;                                                                             \
  }
SWAPMEET_CALLS(SWAPMEET_FUNCTIONS)

/* The function that libswapmeet.so calls as PMPI_Comm_call_errhandler. Within a module's function it does nothing,
 * because Open MPI raises the error that the function returns. */
static int host_call_errhandler(MPI_Comm comm, int error) {
  return inside ? MPI_SUCCESS : PMPI_Comm_call_errhandler(comm, error);
}

typedef void (*function_t)(void);

/* The function of the host MPI with this name, for libswapmeet.so; NULL if there is none. */
static void *host_function(const char *name) {
  static const struct {
    const char *name;
    function_t function;
  } replaced[] = {
#define SWAPMEET_ROW(name, Name, arguments) {"PMPI_" #Name, (function_t)host_##name},
      SWAPMEET_CALLS(SWAPMEET_ROW){"PMPI_Comm_call_errhandler", (function_t)host_call_errhandler}};
  for (size_t row = 0; row < sizeof replaced / sizeof *replaced; ++row)
    if (!strcmp(name, replaced[row].name)) return (void *)replaced[row].function;
  return dlsym(RTLD_DEFAULT, name);
}

/* --- modules ---------------------------------------------------------------------------------------------------- */

static void (*swapmeet_communicator_ended)(void);

static void release(swapmeet_module_t *mine) {
#define SWAPMEET_RELEASE(name, Name, arguments)            \
  if (mine->name##_owner) OBJ_RELEASE(mine->name##_owner); \
  mine->name##_owner = NULL;
  SWAPMEET_CALLS(SWAPMEET_RELEASE)
}

static void construct(swapmeet_module_t *mine) {
  memset((char *)mine + sizeof(opal_object_t), 0, sizeof *mine - sizeof(opal_object_t));
}

/* Ends the module when its communicator ends. Another communicator may soon have the same address, so libswapmeet.so is
 * informed. */
static void destruct(swapmeet_module_t *mine) {
  release(mine);
  if (mine->comm && swapmeet_communicator_ended) swapmeet_communicator_ended();
}

OBJ_CLASS_INSTANCE(swapmeet_module_t, mca_coll_base_module_t, construct, destruct);

/* Replaces the functions of `comm` and keeps the previous ones. A function without a previous one is not replaced. */
static int enable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm) {
  swapmeet_module_t *const mine = (swapmeet_module_t *)module;
#define SWAPMEET_KEEP(name, Name, arguments)                 \
  if (comm->c_coll->coll_##name) {                           \
    mine->name##_before = comm->c_coll->coll_##name;         \
    mine->name##_owner = comm->c_coll->coll_##name##_module; \
    OBJ_RETAIN(mine->name##_owner);                          \
  } else {                                                   \
    mine->super.coll_##name = NULL;                          \
  }
  SWAPMEET_CALLS(SWAPMEET_KEEP)
  mine->comm = comm;
  return OMPI_SUCCESS;
}

/* Disables the replaced modules, to which Open MPI does not report the end of the communicator. Open MPI calls it once
 * for each function. */
static int disable(mca_coll_base_module_t *module, struct ompi_communicator_t *comm) {
  swapmeet_module_t *const mine = (swapmeet_module_t *)module;
#define SWAPMEET_DISABLE(name, Name, arguments)                      \
  if (mine->name##_owner && mine->name##_owner->coll_module_disable) \
    mine->name##_owner->coll_module_disable(mine->name##_owner, comm);
  SWAPMEET_CALLS(SWAPMEET_DISABLE)
  release(mine);
  return OMPI_SUCCESS;
}

/* --- the component ---------------------------------------------------------------------------------------------- */

static int priority = 0;

static bool is_first_rank(void) {
  const char *const rank = getenv("OMPI_COMM_WORLD_RANK");
  return !rank || !strcmp(rank, "0");
}

static bool explains(void) {
  const char *const explain = getenv("SWAPMEET_EXPLAIN");
  return explain && !strcmp(explain, "1");
}

static void *failed(void *library, const char *path, const char *why) {
  if (is_first_rank())
    fprintf(stderr, "swapmeet: warning: coll/swapmeet: %s%s; all-to-alls are Open MPI's own\n", path, why);
  if (library) dlclose(library);
  return NULL;
}

/* Loads libswapmeet.so from the folder above. If there is no usable one, prints a warning and returns NULL. */
static void *load(void) {
  Dl_info self;
  char path[PATH_MAX + 32];
  char *name = NULL;
  if (dladdr((void *)(function_t)load, &self) && realpath(self.dli_fname, path)) {
    name = strrchr(path, '/');
    *name = '\0';
    name = strrchr(path, '/');
  }
  if (!name) return failed(NULL, "the folder of this component", " is unknown");
  strcpy(name, "/libswapmeet.so");
  void *const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return failed(NULL, dlerror(), "");
  const char *(*const version)(void) = (const char *(*)(void))(function_t)dlsym(library, "swapmeet_version");
  if (!version || strcmp(version(), SWAPMEET_VERSION) != 0)
    return failed(library, path, " is of another version than the component, " SWAPMEET_VERSION);
  void (*const look_behind)(void *(*)(const char *)) =
      (void (*)(void *(*)(const char *)))(function_t)dlsym(library, "swapmeet_behind_front");
  swapmeet_communicator_ended = (void (*)(void))(function_t)dlsym(library, "swapmeet_communicator_ended");
#define SWAPMEET_FIND(name, Name, arguments) \
  swapmeet_##name = (int (*)(arguments##_PARAMETERS))(function_t)dlsym(library, "PMPI_" #Name);
  SWAPMEET_CALLS(SWAPMEET_FIND)
#define SWAPMEET_FOUND(name, Name, arguments) &&swapmeet_##name
  if (!(look_behind && swapmeet_communicator_ended SWAPMEET_CALLS(SWAPMEET_FOUND)))
    return failed(library, path, " lacks functions that the component calls");
  look_behind(host_function);
  if (explains() && is_first_rank())
    fprintf(stderr, "swapmeet: coll/swapmeet, priority %d: Open MPI is served by %s\n", priority, path);
  return library;
}

/* Whether this process is already served by a library that is preloaded or linked, or that the front has loaded. */
static bool served_already(void) {
  if (dlsym(RTLD_DEFAULT, "swapmeet_built_for")) return true;
  void *(*const of_front)(void) = (void *(*)(void))(function_t)dlsym(RTLD_DEFAULT, "swapmeet_front_library");
  return of_front && of_front();
}

static int register_parameters(void);
static int init_query(bool progress_threads, bool mpi_threads);
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority_there);

__attribute__((visibility("default"))) extern const mca_coll_base_component_t mca_coll_swapmeet_component;

const mca_coll_base_component_t mca_coll_swapmeet_component = {
    .collm_version = {MCA_COLL_BASE_VERSION_2_0_0, .mca_component_name = "swapmeet",
                      MCA_BASE_MAKE_VERSION(component, SWAPMEET_VERSION_MAJOR, SWAPMEET_VERSION_MINOR,
                                            SWAPMEET_VERSION_PATCH),
                      .mca_register_component_params = register_parameters},
    .collm_data = {MCA_BASE_METADATA_PARAM_CHECKPOINT},
    .collm_init_query = init_query,
    .collm_comm_query = comm_query};

static int register_parameters(void) {
  const int number = mca_base_component_var_register(
      &mca_coll_swapmeet_component.collm_version, "priority",
      "Priority of coll/swapmeet; 0 or less: it is not used. 95 is above all that compute, and below monitoring",
      MCA_BASE_VAR_TYPE_INT, NULL, 0, 0, OPAL_INFO_LVL_2, MCA_BASE_VAR_SCOPE_READONLY, &priority);
  return number < 0 ? number : OMPI_SUCCESS;
}

static int init_query(bool progress_threads, bool mpi_threads) {
  (void)progress_threads, (void)mpi_threads;
  if (priority <= 0) return OMPI_ERR_NOT_AVAILABLE;
  if (served_already()) {
    if (explains() && is_first_rank())
      fputs("swapmeet: coll/swapmeet: libswapmeet.so is preloaded or linked, and serves by itself\n", stderr);
    return OMPI_ERR_NOT_AVAILABLE;
  }
  return load() ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

/* Makes the module of a communicator. It sends no messages: the first all-to-all sets up the communicator. */
static mca_coll_base_module_t *comm_query(struct ompi_communicator_t *comm, int *priority_there) {
  *priority_there = -1;
  if (OMPI_COMM_IS_INTER(comm) || ompi_comm_size(comm) < 2) return NULL;
  swapmeet_module_t *const mine = OBJ_NEW(swapmeet_module_t);
  if (!mine) return NULL;
  mine->super.coll_module_enable = enable;
  mine->super.coll_module_disable = disable;
#define SWAPMEET_OFFER(name, Name, arguments) mine->super.coll_##name = serve_##name;
  SWAPMEET_CALLS(SWAPMEET_OFFER)
  *priority_there = priority;
  return &mine->super;
}
