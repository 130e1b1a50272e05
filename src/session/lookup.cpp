#include "session/lookup.hpp"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>

#include "mpi/guard.hpp"
#include "mpi/simulation.hpp"
#include "mpi/world_ranks.hpp"
#include "session/communicator.hpp"
#include "session/duplicates.hpp"

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

/// What is kept for one communicator of the application alone, as an attribute of it. Nothing else is made before the
/// first calls are over, so that one of few calls costs no more than this attribute.
struct Kept {
  LeftCalls left{};  ///< first calls that were left to the host MPI when there was no other state
  std::atomic<Communicator*> own = nullptr;  ///< owned; nullptr: there is none. Threads may look while it is made.
};

/// nullptr: nothing is kept for `comm`, which must be valid.
Kept* kept_of(MPI_Comm comm) { return static_cast<Kept*>(attribute_of(comm, context().keyval)); }

/// The state that `comm`, which must be valid, does not share; nullptr: it has none.
Communicator* own_of(MPI_Comm comm) {
  const Kept* const kept = kept_of(comm);
  return kept ? kept->own.load() : nullptr;
}

/// As kept_of(), but it is made if there is none. nullptr: there is no memory, or MPI refuses the attribute.
Kept* made_for(MPI_Comm comm) {
  if (Kept* const kept = kept_of(comm)) return kept;
  std::unique_ptr<Kept> made(new (std::nothrow) Kept);
  if (!made || PMPI_Comm_set_attr(comm, context().keyval, made.get()) != MPI_SUCCESS) return nullptr;
  return made.release();
}

/// How many first calls on `comm` are left to the host MPI. Uses only what is the same on all ranks before they have
/// exchanged their parameters. Setting up takes some 5 us on two ranks. A small call takes 1.4 us longer with MPICH than
/// with this library, and 0.06 us longer with Open MPI (docs/measurements/setup.md).
int first_calls_of(MPI_Comm comm, const Options& options) {
  if (!context().job.facts().alike || comm == MPI_COMM_WORLD || options.algorithm || !options.tuning.evidence.empty() ||
      options.check || options.recording() || !options.trace.file.empty())
    return 0;
  return options.first_calls.value_or(host_is_mpich ? 1 : 8);
}

/// The counter of `comm`, if this blocking call is left to the host MPI although nothing else has been made for `comm`;
/// the call is then counted. Returns nullptr if it is not left; if calls are counted, timed or watched on this rank; and
/// if no counter can be made, for lack of memory. A Communicator then counts the first calls, and leaves as many.
LeftCalls* leaves_unobserved(MPI_Comm comm, const Options& options) {
  if (options.statistics || options.phases || context().watchdog.on()) return nullptr;
  const int most = first_calls_of(comm, options);
  if (most == 0) return nullptr;
  Kept* const kept = made_for(comm);
  if (!kept) return nullptr;
  if (kept->left.made == 0) kept->left.most = most;
  return kept->left.leaves() ? &kept->left : nullptr;
}

/// Number of calls on `comm` that were left so. From now on leaves_unobserved() is false for it, in every thread: threads
/// may still have the counter in their caches.
int end_leaving_unobserved(MPI_Comm comm) {
  Kept* const kept = kept_of(comm);
  if (!kept) return 0;
  kept->left.most = 0;
  return kept->left.made;
}

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
  if (Communicator* const known = own_of(comm)) return known;
  Communicator* const of_duplicates = shared_by_duplicates(comm);
  if (shared && of_duplicates) return of_duplicates;
  // An attribute that is set now is never deleted (see BeingFreed). A later communicator would have it on the ranks where
  // it gets the handle of this one.
  if (is_being_freed(comm) && !kept_of(comm)) return nullptr;
  const bool shares = !all.job.facts().threaded && is_duplicate(comm);
  if (set_up == SetUp::after_first_calls && shares) set_up = SetUp::in_mpi_call;  // it will serve all duplicates
  if (set_up == SetUp::after_first_calls) left = leaves_unobserved(comm, all.options);
  if (left) return begin_to_serve(), nullptr;
  Communicator* const made = set_up_for(comm, all, set_up, first).release();
  if (shared && share_with_duplicates(comm, *made)) return made;
  Kept* const kept = made_for(comm);
  if (!kept) return all.end(made), nullptr;
  kept->own = made;
  // Caches still name the shared object, which has served `comm` so far.
  if (of_duplicates) forget_handles();
  return made;
}

Communicator* find_or_make(MPI_Comm comm, SetUp set_up, bool shared, const FirstCall* first = nullptr) {
  const std::uint64_t as_of = generation.load(std::memory_order_acquire);
  LeftCalls* left = nullptr;
  Communicator* const communicator = look_up(comm, context(), set_up, shared, first, left);
  recent().note(comm, communicator, left, as_of);
  return communicator;
}

}  // namespace

int delete_kept(MPI_Comm, int, void* attribute, void*) {
  return guarded([&]() -> int {
    const std::unique_ptr<Kept> kept(static_cast<Kept*>(attribute));
    forget_handles();  // caches name the counter
    if (Communicator* const own = kept->own) context().end(own);
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
  return is_valid(comm) ? own_of(comm) : nullptr;
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
