/// The entry points of non-blocking and persistent all-to-alls. The library exports both the MPI_ and the PMPI_ names,
/// as in entry.cpp.
#include <atomic>
#include <memory>
#include <utility>

#include "api/export.hpp"
#include "api/given_arguments.hpp"
#include "interpose/foreign.hpp"
#include "interpose/parameters.hpp"
#include "interpose/kept_types.hpp"
#include "interpose/progressed.hpp"
#include "mpi/guard.hpp"
#include "mpi/neighbourhood.hpp"
#include "mpi/progress.hpp"
#include "mpi/world_ranks.hpp"
#include "session/communicator.hpp"

namespace swapmeet {

namespace {

/// The way in which this process serves these calls: by the host MPI, or by this library in the host MPI's progress. It
/// is the same in all processes.
enum class By : std::uint8_t { unknown, host, progress };
std::atomic<By> by{By::unknown};

By find_out() {
  int initialised = 0, finalised = 0;
  if (!mpi_suits()) return By::host;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  if (!initialised || finalised) return By::host;
  attach_to_mpi();
  // This does not depend on whether this rank's options ask for the host MPI's algorithm or for a thread: those of other
  // ranks may not, and only the exchange of parameters shows that.
  by = has_progress() ? By::progress : By::host;
  if (by == By::host && context().options.explain && reports().world_rank == 0)
    say_once("Ialltoall, Alltoall_init and their siblings: native (the host MPI calls no other code in its progress)");
  return by;
}

By served_by() {
  const By known = by.load(std::memory_order_relaxed);
  return known == By::unknown ? find_out() : known;
}

/// The number of blocks on each side of a call, on any communicator.
Degrees degrees_of(MPI_Comm comm, bool neighbours) {
  int rank = 0;
  const int ranks = peers_of(comm);
  if (!neighbours) return {ranks, ranks};
  PMPI_Comm_rank(comm, &rank);
  const std::optional<Neighbourhood> neighbourhood = neighbourhood_of(comm, ranks, rank);
  return neighbourhood ? neighbourhood->degrees() : Degrees{};
}

/// The error of the host MPI for a type of the call that has data: it may not be committed, for example. MPI_SUCCESS if
/// there is none. To be called before the types are copied, since copies are committed.
int refused_type(const Arguments& arguments, Communicator& communicator) {
  return Call(arguments, communicator.memory().copies).check_types(context().job.alone());
}

/// Whether the host MPI is expected to be faster. Open MPI's MPI_Ialltoallw of small blocks within a node takes less
/// time than keeping the derived types alive that such calls usually have. Calls in place are excluded: Open MPI 5.0.11
/// delivers wrong data in non-blocking exchanges of unequal blocks in place, on four ranks or more. Neighbourhood
/// collectives were not measured, so the host MPI is assumed to be faster.
template <class Given>
bool faster_by_host(const Given& call) {
  return of_neighbours(Given::collective) ||
         (Given::collective == Collective::alltoallw && !host_is_mpich && call.send.base != MPI_IN_PLACE);
}

/// Whether the call is left to the host MPI because that is expected to be faster. A call is not left to it if all
/// ranks have set an algorithm, which is known at the first start. For neighbourhood collectives that is known only
/// when the ranks have made a decision together in a blocking call, since in the host MPI's progress one rank would
/// decide earlier than another. Until then they are left to the host MPI, and the communicator is marked to be set up
/// for them in the next call in which all ranks wait for one another.
template <class Given>
bool left_to_host(const Given& call, Communicator& communicator) {
  if (!faster_by_host(call)) return false;
  const auto lock = communicator.starts().lock();
  if (!of_neighbours(Given::collective)) return !communicator.members().has_algorithm_everywhere();
  if (communicator.decisions().decided(Given::collective, 0)) return !communicator.options().algorithm;
  if (communicator.members().gathers()) communicator.starts().request_preparation(Given::collective, 0);
  return true;
}

/// Whether the call has a mistake that can be found without a Communicator for `comm`. No Communicator must be made for
/// such a call, because other ranks may not make it.
template <class Given>
bool mistaken_anywhere(const Given& call, MPI_Comm comm) {
  if (!is_communicator(comm)) return true;
  if constexpr (of_neighbours(Given::collective)) return false;
  return call.mistaken(of_unequal_blocks(Given::collective) ? degrees_of(comm, false) : Degrees{});
}

/// Starts a non-blocking exchange in the memory of an earlier one with the same arguments but for the buffers, whose
/// arguments were found to be right. Returns the result, or nothing if there is none.
template <class Given>
std::optional<int> begin_again(MPI_Comm comm, MPI_Request* request, const Given& call) {
  if (of_neighbours(Given::collective) || !call.has_buffers()) return std::nullopt;
  Communicator* const communicator = known_for(comm);
  StartedQueue* const queue = communicator ? communicator->starts().made_queue() : nullptr;
  if (!queue) return std::nullopt;
  const auto alike = [&call](const Arguments& one) { return call.is(one); };
  return queue->start_again(alike, call.send.base, call.receive.base, request);
}

/// Starts a non-blocking exchange. Returns false if the call must be passed to the host MPI. Otherwise `error` is the
/// result and `request` the application's request.
template <class Given>
bool begin(int& error, MPI_Comm comm, MPI_Request* request, const Given& call) {
  if (served_by() != By::progress || !request) return false;
  if (const std::optional<int> again = begin_again(comm, request, call)) return error = *again, true;
  if (mistaken_anywhere(call, comm)) return false;
  Communicator* const communicator = communicator_of(comm, SetUp::later);
  const std::optional<Degrees> blocks = communicator ? blocks_of<Given>(*communicator) : std::nullopt;
  if (!blocks || (of_neighbours(Given::collective) && call.mistaken(*blocks))) return false;
  if (left_to_host(call, *communicator)) return false;
  std::int64_t block_bytes = 0;  // 0 for unequal blocks, whose types the host MPI alone looks at if it gets the call
  bool may_pass_unchanged = true;
  std::optional<Arguments> arguments;
  if constexpr (Given::collective == Collective::alltoall) {
    arguments.emplace(call.arguments(*communicator, *blocks));
    if (host_is_mpich && arguments->are_empty())
      return error = communicator->starts().start_nothing(Given::collective, request), true;
    // A call with elements, but without data, is not passed on: MPICH 5.0 divides by the size of the type.
    block_bytes = arguments->block_bytes();
    may_pass_unchanged = block_bytes > 0 || (arguments->receive.count(0) == 0 && arguments->send.count(0) == 0);
  }
  StartedQueue* const queue = communicator->starts().queue(Given::collective, block_bytes);
  if (!queue) return false;
  if ((may_pass_unchanged || communicator->members().locked) && queue->goes_to_host(Given::collective, block_bytes))
    return false;
  if (!arguments) arguments.emplace(call.arguments(*communicator, *blocks));
  error = refused_type(*arguments, *communicator);
  if (!error) error = queue->start(*arguments, shared_neighbourhood_of(call, *communicator), request);
  return true;
}

/// Plans a persistent exchange. Returns as begin() does. Collective.
template <class Given>
bool plan(int& error, MPI_Comm comm, MPI_Request* request, const Given& call) {
  if (served_by() != By::progress) return false;
  Communicator* const communicator = communicator_of(comm, SetUp::in_mpi_call);
  if (!communicator) return false;
  communicator->be_ready();  // first, since communicator_of() has just set it up on ranks where it did not exist
  const std::optional<Degrees> blocks = blocks_of<Given>(*communicator);
  if (!blocks || !communicator->members().gathers() || communicator->members().starts_on_host) return false;
  if (of_neighbours(Given::collective) && !communicator->options().algorithm) return false;
  end_freed_plans();
  std::unique_ptr<KeptCall> what;  // nullptr if this rank cannot take part, which it tells the others in planning
  std::optional<PersistentRequest> made;
  guarded(
      [&]() -> int {
        if (!request || call.mistaken(*blocks)) return MPI_ERR_ARG;
        const Arguments arguments = call.arguments(*communicator, *blocks);
        if (refused_type(arguments, *communicator)) return MPI_ERR_ARG;
        if (made.emplace(comm))
          what = std::make_unique<KeptCall>(arguments, shared_neighbourhood_of(call, *communicator));
        return MPI_SUCCESS;
      },
      [](int failed, const char*) { return failed; });
  std::unique_ptr<Planned> planned = communicator->planner().plan_persistent(std::move(what));
  if (!planned) return false;
  *request = made->start_of(std::move(planned));
  return error = MPI_SUCCESS, true;
}

/// Keeps the derived types of a call alive whose persistent request was made by the host MPI. Returns an MPI error
/// code.
template <class Given>
int keep_types_of(const Given& call, MPI_Comm comm, MPI_Request* request) {
  if (host_is_mpich) return MPI_SUCCESS;  // MPICH keeps them itself
  const int error =
      guarded([&] { return keep_types(*request, call.types(degrees_of(comm, of_neighbours(Given::collective)))); });
  if (!error) return MPI_SUCCESS;
  PMPI_Request_free(request);
  return raise(comm, error);
}

/// Calls `serve` and returns its result: whether it has served the call. An exception counts as served with an error.
/// An error is raised on `comm`.
template <class Serve>
bool served(int& error, MPI_Comm comm, Serve serve) {
  bool done = true;
  if (comm == MPI_COMM_NULL) return false;
  if (const int thrown = guarded([&] { return done = serve(), MPI_SUCCESS; })) error = thrown, done = true;
  if (error) error = raise(comm, error);
  return done;
}

}  // namespace

}  // namespace swapmeet

using swapmeet::Handle;

// `how` is begin or plan; entry points of plan have an additional MPI_Info parameter. Handles are passed on unchanged
// (interpose/foreign.hpp).
#define SWAPMEET_PARAMETER_begin
#define SWAPMEET_PARAMETER_plan Handle info,
#define SWAPMEET_ARGUMENT_begin
#define SWAPMEET_ARGUMENT_plan info,
#define SWAPMEET_KEEP_begin(...)
#define SWAPMEET_KEEP_plan(...) \
  if (!error) error = swapmeet::keep_types_of(__VA_ARGS__, user, request);

// An entry point. `shape` is that of the parameters (interpose/parameters.hpp).
#define SWAPMEET_STARTING(name, Name, shape, how, neighbours, Count, Displacement)                         \
  SWAPMEET_NAMED(name, (SWAPMEET_PARAMETERS_##shape(Count, Displacement), Handle comm,                     \
                        SWAPMEET_PARAMETER_##how MPI_Request * request)) {                                 \
    static void* const underneath = swapmeet::needed_mpi_symbol(#Name);                                    \
    if (!swapmeet::mpi_suits()) [[unlikely]]                                                               \
      return swapmeet::pass_on(underneath, SWAPMEET_GIVEN_##shape, comm, SWAPMEET_ARGUMENT_##how request); \
    const MPI_Comm user = swapmeet::as<MPI_Comm>(comm);                                                    \
    int error = MPI_SUCCESS;                                                                               \
    const auto serve = [&] {                                                                               \
      return swapmeet::how(error, user, request, swapmeet::call_of<neighbours>(SWAPMEET_HERE_##shape));    \
    };                                                                                                     \
    if (swapmeet::served(error, user, serve)) return error;                                                \
    error = swapmeet::pass_on(underneath, SWAPMEET_GIVEN_##shape, comm, SWAPMEET_ARGUMENT_##how request);  \
    SWAPMEET_KEEP_##how(swapmeet::call_of<neighbours>(SWAPMEET_HERE_##shape));                             \
    return error;                                                                                          \
  }

// `displacement_of_typed` is the type of displacements in the variant with a type for each block:
// MPI_Neighbor_alltoallw takes MPI_Aint.
#define SWAPMEET_THREE(begins, ends, how, neighbours, count, displacement, displacement_of_typed)            \
  SWAPMEET_ENTRIES(SWAPMEET_STARTING, begins##lltoall##ends, equal, how, neighbours, count, displacement)    \
  SWAPMEET_ENTRIES(SWAPMEET_STARTING, begins##lltoallv##ends, unequal, how, neighbours, count, displacement) \
  SWAPMEET_ENTRIES(SWAPMEET_STARTING, begins##lltoallw##ends, typed, how, neighbours, count, displacement_of_typed)

SWAPMEET_THREE(Ia, , begin, false, int, int, int)
SWAPMEET_THREE(Ineighbor_a, , begin, true, int, int, MPI_Aint)
#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5  // Open MPI 5 has these, but reports version 3 of the standard
SWAPMEET_THREE(A, _init, plan, false, int, int, int)
SWAPMEET_THREE(Neighbor_a, _init, plan, true, int, int, MPI_Aint)
#endif
#if MPI_VERSION >= 4
SWAPMEET_THREE(Ia, _c, begin, false, MPI_Count, MPI_Aint, MPI_Aint)
SWAPMEET_THREE(Ineighbor_a, _c, begin, true, MPI_Count, MPI_Aint, MPI_Aint)
SWAPMEET_THREE(A, _init_c, plan, false, MPI_Count, MPI_Aint, MPI_Aint)
SWAPMEET_THREE(Neighbor_a, _init_c, plan, true, MPI_Count, MPI_Aint, MPI_Aint)
#endif
