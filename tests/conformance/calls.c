/* Which arguments a collective takes is said once, for all forms of it. */
#include "calls.h"

#define UNIFORM_INT send->buffer, (int)send->count, send->type, recv->buffer, (int)recv->count, recv->type, comm
#define UNIFORM_LARGE send->buffer, send->count, send->type, recv->buffer, recv->count, recv->type, comm
#define VECTOR(counts, displacements, type)                                                                     \
  send->buffer, send->counts, send->displacements, send->type, recv->buffer, recv->counts, recv->displacements, \
      recv->type, comm
#define VECTOR_INT VECTOR(counts, displacements, type)
#define TYPED_INT VECTOR(counts, displacements, types)
#define VECTOR_LARGE VECTOR(large_counts, large_displacements, type)
#define TYPED_LARGE VECTOR(large_counts, large_displacements, types)

int call_blocking(Collective collective, const Arguments *send, const Arguments *recv, MPI_Comm comm) {
  switch (collective) {
    case ALLTOALL: return MPI_Alltoall(UNIFORM_INT);
    case ALLTOALLV: return MPI_Alltoallv(VECTOR_INT);
    case ALLTOALLW: return MPI_Alltoallw(TYPED_INT);
#if MPI_VERSION >= 4
    case ALLTOALL_C: return MPI_Alltoall_c(UNIFORM_LARGE);
    case ALLTOALLV_C: return MPI_Alltoallv_c(VECTOR_LARGE);
    case ALLTOALLW_C: return MPI_Alltoallw_c(TYPED_LARGE);
#endif
    default: return MPI_ERR_ARG;
  }
}

int call_nonblocking(Collective collective, const Arguments *send, const Arguments *recv, MPI_Comm comm,
                     MPI_Request *request) {
  switch (collective) {
    case ALLTOALL: return MPI_Ialltoall(UNIFORM_INT, request);
    case ALLTOALLV: return MPI_Ialltoallv(VECTOR_INT, request);
    case ALLTOALLW: return MPI_Ialltoallw(TYPED_INT, request);
#if MPI_VERSION >= 4
    case ALLTOALL_C: return MPI_Ialltoall_c(UNIFORM_LARGE, request);
    case ALLTOALLV_C: return MPI_Ialltoallv_c(VECTOR_LARGE, request);
    case ALLTOALLW_C: return MPI_Ialltoallw_c(TYPED_LARGE, request);
#endif
    default: return MPI_ERR_ARG;
  }
}

int call_persistent(Collective collective, const Arguments *send, const Arguments *recv, MPI_Comm comm,
                    MPI_Request *request) {
#if HAS_PERSISTENT
  const MPI_Info none = MPI_INFO_NULL;
  switch (collective) {
    case ALLTOALL: return MPI_Alltoall_init(UNIFORM_INT, none, request);
    case ALLTOALLV: return MPI_Alltoallv_init(VECTOR_INT, none, request);
    case ALLTOALLW: return MPI_Alltoallw_init(TYPED_INT, none, request);
#if MPI_VERSION >= 4
    case ALLTOALL_C: return MPI_Alltoall_init_c(UNIFORM_LARGE, none, request);
    case ALLTOALLV_C: return MPI_Alltoallv_init_c(VECTOR_LARGE, none, request);
    case ALLTOALLW_C: return MPI_Alltoallw_init_c(TYPED_LARGE, none, request);
#endif
    default: return MPI_ERR_ARG;
  }
#else
  (void)collective, (void)send, (void)recv, (void)comm, (void)request;
  return MPI_ERR_ARG;
#endif
}

int call_plan(Collective collective, const Arguments *send, const Arguments *recv, MPI_Comm comm, const char *spec,
              swapmeet_plan **plan) {
  switch (collective) {
    case ALLTOALL: return plans()->alltoall(UNIFORM_INT, spec, plan);
    case ALLTOALLV: return plans()->alltoallv(VECTOR_INT, spec, plan);
    case ALLTOALLW: return plans()->alltoallw(TYPED_INT, spec, plan);
#if MPI_VERSION >= 4
    case ALLTOALL_C: return plans()->alltoall_c(UNIFORM_LARGE, spec, plan);
    case ALLTOALLV_C: return plans()->alltoallv_c(VECTOR_LARGE, spec, plan);
    case ALLTOALLW_C: return plans()->alltoallw_c(TYPED_LARGE, spec, plan);
#endif
    default: return MPI_ERR_ARG;
  }
}
