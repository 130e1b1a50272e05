/// The functions and constants of the host MPI, which are found when they are first needed. The library is not linked
/// with an MPI: when preloaded, it would load a second MPI into processes that use another one, or an MPI into
/// processes that use none.
#pragma once

#include <mpi.h>

#include <atomic>
#include <string>

namespace swapmeet {

inline constexpr int most_attempts = 8;  ///< attempts at an MPI call that fails

/// Whether `error` says that MPI refused the arguments of a call. Then nothing was sent, and MPI would refuse them
/// again.
bool refused(int error);

/// Repeats a call that has returned `error`, until it succeeds, at most `most_attempts` times in all. The cause of a
/// failure is often transient, and a rank that omits a call, or lacks its result, falls out of step with the others. The
/// call is not repeated if final(error) is true. Returns the last error.
template <class Final, class Function, class... Arguments>
[[gnu::noinline, gnu::cold]] int repeat_unless(Final final, int error, Function function, Arguments... arguments) {
  for (int attempt = 2; error != MPI_SUCCESS && !final(error) && attempt <= most_attempts; ++attempt)
    error = function(arguments...);
  return error;
}

/// A local MPI function whose call is repeated if it fails. It is not repeated if MPI refuses an argument: the argument
/// may be the program's, and each attempt calls the program's error handler.
template <class Function>
class LocalCall;

template <class... Parameters>
class LocalCall<int (*)(Parameters...)> {
 public:
  using Function = int (*)(Parameters...);
  LocalCall& operator=(Function function) { return function_ = function, *this; }

  [[gnu::always_inline]] int operator()(Parameters... arguments) const {
    const int error = function_(arguments...);
    if (error == MPI_SUCCESS) [[likely]]
      return error;
    return repeat_unless(refused, error, function_, arguments...);
  }

 private:
  Function function_ = nullptr;
};

/// The MPI functions that the library calls. A function that is not listed does not link. Those that the library itself
/// exports must be called by these names within the namespace: they are then the host MPI's.
// clang-format off
#define SWAPMEET_MPI_ALLTOALLS(CALL, size)                                                                             \
  CALL(Alltoall##size) CALL(Alltoallv##size) CALL(Alltoallw##size)                                                     \
  CALL(Ialltoall##size) CALL(Ialltoallv##size) CALL(Ialltoallw##size)                                                  \
  CALL(Neighbor_alltoall##size) CALL(Neighbor_alltoallv##size) CALL(Neighbor_alltoallw##size)

#define SWAPMEET_MPI_CALLS(CALL)                                                                                       \
  SWAPMEET_MPI_ALLTOALLS(CALL, )                                                                                       \
  CALL(Allgather) CALL(Allreduce) CALL(Comm_call_errhandler) CALL(Comm_create) CALL(Comm_create_group)                 \
  CALL(Comm_free) CALL(Iallgather) CALL(Ibarrier)                                                                      \
  CALL(Ibcast) CALL(Improbe) CALL(Imrecv) CALL(Iprobe) CALL(Irecv) CALL(Ireduce_scatter_block)                         \
  CALL(Isend) CALL(Issend) CALL(Mprobe) CALL(Pack) CALL(Recv) CALL(Request_get_status)                                 \
  CALL(Send) CALL(Sendrecv) CALL(Test) CALL(Testany) CALL(Unpack) CALL(Wait) CALL(Waitany) CALL(Wtime)

#define SWAPMEET_MPI_LOCAL_CALLS(CALL)                                                                                 \
  CALL(Cancel) CALL(Cart_shift) CALL(Cartdim_get) CALL(Comm_compare) CALL(Comm_create_errhandler)                      \
  CALL(Comm_create_keyval) CALL(Comm_get_attr)                                                                         \
  CALL(Comm_get_errhandler) CALL(Comm_get_name) CALL(Comm_get_parent) CALL(Comm_group) CALL(Comm_rank)                 \
  CALL(Comm_remote_group) CALL(Comm_remote_size) CALL(Comm_set_attr) CALL(Comm_set_errhandler) CALL(Comm_size)         \
  CALL(Comm_test_inter) CALL(Dist_graph_neighbors) CALL(Dist_graph_neighbors_count) CALL(Errhandler_free)              \
  CALL(Error_class) CALL(Error_string) CALL(Finalized) CALL(Get_address) CALL(Get_elements_x)                          \
  CALL(Get_library_version) CALL(Get_processor_name) CALL(Graph_neighbors) CALL(Graph_neighbors_count)                 \
  CALL(Grequest_complete) CALL(Grequest_start) CALL(Group_compare) CALL(Group_free) CALL(Group_size)                   \
  CALL(Group_translate_ranks) CALL(Initialized) CALL(Query_thread) CALL(Recv_init) CALL(Reduce_local)                  \
  CALL(Request_free) CALL(Status_set_cancelled) CALL(Status_set_elements) CALL(Topo_test) CALL(Type_commit)            \
  CALL(Type_contiguous) CALL(Type_create_hindexed) CALL(Type_create_hvector) CALL(Type_create_keyval)                  \
  CALL(Type_create_struct) CALL(Type_free) CALL(Type_get_attr) CALL(Type_get_contents)                                 \
  CALL(Type_get_envelope) CALL(Type_get_extent) CALL(Type_get_extent_x) CALL(Type_get_name)                            \
  CALL(Type_get_true_extent_x) CALL(Type_set_attr) CALL(Type_size_x)

// clang-format on

#if MPI_VERSION >= 4
#define SWAPMEET_MPI_LARGE_CALLS(CALL) SWAPMEET_MPI_ALLTOALLS(CALL, _c) CALL(Pack_c) CALL(Unpack_c)
#define SWAPMEET_MPI_LOCAL_LARGE_CALLS(CALL) CALL(Type_get_contents_c) CALL(Type_get_envelope_c)
#else
#define SWAPMEET_MPI_LARGE_CALLS(CALL)
#define SWAPMEET_MPI_LOCAL_LARGE_CALLS(CALL)
#endif

// Conversions between integers and handles. The standard ABI has names of its own, and no type MPI_Fint. MPICH has
// macros.
#ifdef MPI_ABI_VERSION
#define SWAPMEET_MPI_CONVERSIONS(CALL) CALL(Comm_fromint) CALL(Type_fromint)
#elif !defined(PMPI_Comm_f2c)
#define SWAPMEET_MPI_CONVERSIONS(CALL) CALL(Comm_c2f) CALL(Comm_f2c) CALL(Type_c2f) CALL(Type_f2c)
#else
#define SWAPMEET_MPI_CONVERSIONS(CALL)
#endif

// Inside this namespace these hide the functions of the same names.
#define SWAPMEET_DECLARE(name) inline decltype(&::PMPI_##name) PMPI_##name = nullptr;
SWAPMEET_MPI_CALLS(SWAPMEET_DECLARE)
SWAPMEET_MPI_LARGE_CALLS(SWAPMEET_DECLARE)
SWAPMEET_MPI_CONVERSIONS(SWAPMEET_DECLARE)
#undef SWAPMEET_DECLARE
#define SWAPMEET_DECLARE(name) inline LocalCall<decltype(&::PMPI_##name)> PMPI_##name;
SWAPMEET_MPI_LOCAL_CALLS(SWAPMEET_DECLARE)
SWAPMEET_MPI_LOCAL_LARGE_CALLS(SWAPMEET_DECLARE)
#undef SWAPMEET_DECLARE

#ifdef OMPI_MAJOR_VERSION
/// Open MPI's constants, which are addresses of its variables.
// clang-format off
#define SWAPMEET_OPEN_MPI_CONSTANTS(CONSTANT)                                                                          \
  CONSTANT(ompi_message_null) CONSTANT(ompi_mpi_byte) CONSTANT(ompi_mpi_comm_null)                                     \
  CONSTANT(ompi_mpi_comm_self) CONSTANT(ompi_mpi_comm_world) CONSTANT(ompi_mpi_datatype_null)                          \
  CONSTANT(ompi_mpi_double) CONSTANT(ompi_mpi_errhandler_null) CONSTANT(ompi_mpi_errors_are_fatal)                     \
  CONSTANT(ompi_mpi_errors_return) CONSTANT(ompi_mpi_group_null) CONSTANT(ompi_mpi_info_null) CONSTANT(ompi_mpi_int)   \
  CONSTANT(ompi_mpi_int32_t) CONSTANT(ompi_mpi_int64_t)                                                                \
  CONSTANT(ompi_mpi_op_max) CONSTANT(ompi_mpi_op_min)                                                                  \
  CONSTANT(ompi_mpi_op_sum) CONSTANT(ompi_mpi_packed) CONSTANT(ompi_mpi_uint64_t) CONSTANT(ompi_request_null)

// clang-format on

namespace open_mpi {
#define SWAPMEET_DECLARE(name) inline void* name = nullptr;
SWAPMEET_OPEN_MPI_CONSTANTS(SWAPMEET_DECLARE)
SWAPMEET_DECLARE(ompi_mpi_errors_abort)  // nullptr in Open MPI 4, which has none
#undef SWAPMEET_DECLARE
}  // namespace open_mpi

#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, name) (static_cast<type>(::swapmeet::open_mpi::name))

inline decltype(&::OMPI_C_MPI_COMM_NULL_COPY_FN) OMPI_C_MPI_COMM_NULL_COPY_FN = nullptr;
#endif

inline std::atomic<bool> mpi_found{false};
inline bool host_is_mpich = false;  ///< or an MPI that is derived from it; set once the MPI is found

/// Finds the MPI of this process. Returns false if there is none (yet), or if it is of another kind than this library
/// was built for. It must be called before anything else of this file is used, including constants. Thread-safe.
bool find_mpi();

/// Finds the MPI of this process as find_mpi() does, and prints a warning, once, if it cannot be used. Handles of an
/// MPI of another kind have no meaning here.
bool mpi_suits_slowly();
inline bool mpi_suits() { return mpi_found.load(std::memory_order_acquire) || mpi_suits_slowly(); }

/// The text of MPI_Get_library_version().
std::string library_version();

/// The symbol of that name in the host MPI, never that of this library; nullptr if there is none.
void* mpi_symbol(const char* name);

/// A function that finds the next definition of a symbol, after a certain object in the search order of the dynamic
/// loader. It returns nullptr if there is none.
using NextDefinition = void*(const char* name);

/// Makes mpi_symbol() search after the front (src/front) that has loaded this library, not after this library.
void look_behind(NextDefinition* front_looks);

/// The symbol of that name in the host MPI. Ends the process if there is none, because the application's call cannot be
/// passed on.
void* needed_mpi_symbol(const char* name);

}  // namespace swapmeet
