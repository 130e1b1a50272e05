#include "session/lookup.hpp"

#include <memory>
#include <mutex>

#include "mpi/guard.hpp"
#include "mpi/simulation.hpp"
#include "mpi/world_ranks.hpp"
#include "session/communicator.hpp"
#include "session/duplicates.hpp"
#include "session/left_calls.hpp"

namespace swapmeet {

constinit thread_local Recent recent_of_thread{};

namespace {

/// Whether this library may call the host MPI. If not (before MPI_Init, after MPI_Finalize, or with sessions only), all
/// calls are left to the host MPI.
bool can_call_host_mpi() {
  if (!find_mpi()) return false;
  int initialised = 0, finalised = 0;
  PMPI_Initialized(&initialised);
  PMPI_Finalized(&finalised);
  return initialised && !finalised;
}

/// Returns what is_communicator() returns. To be called between MPI_Init and MPI_Finalize.
bool is_valid(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return false;
  if constexpr (simulated) return true;
#if defined(OMPI_MAJOR_VERSION)
  return PMPI_Comm_c2f(comm) >= 0;  // negative for the communicators that MPI calls refuse
#else
  if (!host_is_mpich) return true;
  int result = MPI_UNEQUAL;  // MPICH raises an error of the second communicator on the first one
  return PMPI_Comm_compare(context().job.alone(), comm, &result) == MPI_SUCCESS;
#endif
}

/// The result of kept_for() for a valid communicator. Requires the attribute's key.
Communicator* kept_by(MPI_Comm comm) { return static_cast<Communicator*>(attribute_of(comm, context().keyval)); }

/// The state of a freed communicator with the ranks of `comm`, if all ranks have it. Collective over `comm`.
std::unique_ptr<Communicator> taken_over(MPI_Comm comm, Context& all, const FirstCall* first) {
  int is_inter = 0;
  PMPI_Comm_test_inter(comm, &is_inter);
  if (is_inter) return nullptr;
  const auto ranks = world_ranks_of(comm);
  std::unique_ptr<Communicator> state = all.kept_states.take(ranks);
  if (state && state->can_be_taken_over() && state->take_over(comm, first)) return state;
  // Otherwise all ranks begin anew, or they would propose different states the next time, too.
  while (state) state = all.kept_states.take(ranks);
  return nullptr;
}

/// Returns a state for `comm`, which has none. Collective over `comm`, unless the exchange of parameters is put off.
std::unique_ptr<Communicator> set_up_for(MPI_Comm comm, Context& all, SetUp set_up, const FirstCall* first) {
  const int left = end_leaving_unobserved(comm);
  SetupPolicy calls;
  calls.were_left(left);
  if (set_up == SetUp::after_first_calls || left > 0) calls.leave(first_calls_of(comm, all.options) - left);
  const bool now = set_up != SetUp::later && !calls.leaves_more();
  std::unique_ptr<Communicator> state;
  if (now && !all.kept_states.empty()) state = taken_over(comm, all, first);
  if (!state) state = std::make_unique<Communicator>(comm, all.options, set_up, calls, first);
  const std::lock_guard lock(all.mutex);
  all.communicators.push_back(state.get());
  return state;
}

/// Returns what communicator_of() and serving() do, without the cache of recent communicators. Sets `left` to the counter
/// of `comm` if this call is left to the host MPI as one of the first.
Communicator* look_up(MPI_Comm comm, Context& all, SetUp set_up, bool shared, const FirstCall* first,
                      LeftCalls*& left) {
  if (!can_call_host_mpi()) return nullptr;
  attach_to_mpi();
  if (!is_valid(comm)) return nullptr;
  if (Communicator* const known = kept_by(comm)) return known;
  Communicator* const of_duplicates = shared_by_duplicates(comm);
  if (shared && of_duplicates) return of_duplicates;
  const bool shares = !all.job.facts().threaded && is_duplicate(comm);
  if (set_up == SetUp::after_first_calls && shares) set_up = SetUp::in_mpi_call;  // it will serve all duplicates
  if (set_up == SetUp::after_first_calls) left = leaves_unobserved(comm, all.options);
  if (left) return begin_to_serve(), nullptr;
  Communicator* const kept = set_up_for(comm, all, set_up, first).release();
  if (shared && share_with_duplicates(comm, *kept)) return kept;
  if (PMPI_Comm_set_attr(comm, all.keyval, kept) != MPI_SUCCESS) return all.end(kept), nullptr;
  // Caches still name the shared object, which has served `comm` so far.
  if (of_duplicates) forget_handles();
  return kept;
}

Communicator* find_or_make(MPI_Comm comm, SetUp set_up, bool shared, const FirstCall* first = nullptr) {
  const std::uint64_t as_of = generation.load(std::memory_order_acquire);
  LeftCalls* left = nullptr;
  Communicator* const communicator = look_up(comm, context(), set_up, shared, first, left);
  recent().note(comm, communicator, left, as_of);
  return communicator;
}

}  // namespace

int delete_communicator(MPI_Comm, int, void* attribute, void*) {
  return guarded([&]() -> int {
    context().end(static_cast<Communicator*>(attribute));
    return MPI_SUCCESS;
  });
}

Communicator* communicator_of(MPI_Comm comm, SetUp set_up) {
  if (Communicator* const known = recent().find(comm); known && !known->shared()) return known;
  return find_or_make(comm, set_up, false);
}

Communicator* serving_from_now_on(MPI_Comm comm) {
  if (Communicator* const known = recent().find(comm)) return known;
  return find_or_make(comm, SetUp::now, true);
}

Communicator* serving(MPI_Comm comm, const FirstCall* first) {
  if (Communicator* const known = recent().find(comm)) return known;
  if (LeftCalls* const left = recent().left_calls(comm); left && left->leaves()) return nullptr;
  return find_or_make(comm, SetUp::after_first_calls, true, first);
}

bool is_communicator(MPI_Comm comm) { return recent().find(comm) || (can_call_host_mpi() && is_valid(comm)); }

Communicator* kept_for(MPI_Comm comm) {
  if (!context().attached.load(std::memory_order_acquire) || !can_call_host_mpi()) return nullptr;
  return is_valid(comm) ? kept_by(comm) : nullptr;
}

Communicator* known_for(MPI_Comm comm) {
  Communicator* const known = recent().find(comm);
  return known && !known->shared() ? known : kept_for(comm);
}

int raise(MPI_Comm comm, int error) {
  Communicator* const own = kept_for(comm);
  if (Communicator* const communicator = own ? own : shared_by_duplicates(comm)) error = communicator->failed(error);
  PMPI_Comm_call_errhandler(comm, error);
  return error;
}

}  // namespace swapmeet
