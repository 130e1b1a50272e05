#include "session/starts.hpp"

#include <algorithm>
#include <utility>

#include "mpi/mpi.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "session/duplicates.hpp"
#include "session/explain.hpp"

namespace swapmeet {

Starts::~Starts() { close(); }

// If the host MPI's progress is locked, agreements are impossible within it. Non-blocking exchanges are then left to
// the host MPI until the ranks have made their agreements in a blocking call. No queue is made for a communicator that
// is being freed: MPICH would wait forever.
StartedQueue* Starts::queue(Collective collective, std::int64_t block_bytes) {
  if (queue_) return queue_.get();
  Members& members = communicator_.members();
  RecordExchange& records = communicator_.records();
  if (!context().job.facts().same_version) warn_once(different_versions, instead_of_versions);
  if (!members.refusal.empty() || members.leaves_starts() || !members.gathers() || !has_progress() ||
      is_being_freed(members.user()))
    return nullptr;
  const bool prepared = members.locked ? communicator_.node().peers() && members.nodes() == 1 : records.known();
  if (!prepared && !next_start_is_ours()) return nullptr;
  if (!prepared && members.locked) return request_preparation(collective, block_bytes), nullptr;
  auto made = std::make_unique<StartedQueue>(communicator_);
  if (!records.known()) records.begin();
  if (!members.refusal.empty()) return nullptr;  // a rank has died
  queue_ = std::move(made);
  return queue_.get();
}

/// Counts a start, and returns whether further starts are worth setting up for. Some libraries make a communicator for
/// only a few exchanges.
bool Starts::next_start_is_ours() {
  if (communicator_.user() == MPI_COMM_WORLD || communicator_.node().joined()) return true;
  starts_ = std::min(starts_ + 1, first_start_of_ours);
  return starts_ == first_start_of_ours;
}

void Starts::request_preparation(Collective collective, std::int64_t block_bytes) {
  constexpr std::size_t most = 16;
  const Kind kind{collective, block_bytes};
  if (wanted_.size() == most || std::ranges::count(wanted_, kind) > 0 || cannot_prepare_ ||
      !communicator_.members().refusal.empty())
    return;
  wanted_.push_back(kind);
  communicator_.fast_paths().clear();  // so that the next blocking call calls prepare_wanted()
  if (wanted_.size() == 1) ++waiting_for_set_up;
}

void Starts::prepare() {
  --waiting_for_set_up;
  const std::vector<Kind> kinds = std::exchange(wanted_, {});
  communicator_.finish_started();  // a started exchange may still be making decisions
  communicator_.records().finish();
  Decisions& decisions = communicator_.decisions();
  decisions.setup_policy().end();
  const Members& members = communicator_.members();
  cannot_prepare_ = !members.refusal.empty() || members.leaves_starts();
  if (cannot_prepare_) return;
  for (const Kind& kind : kinds) decisions.decide(kind.collective, kind.block_bytes, Begun::now);
}

std::unique_lock<TryMutex> Starts::lock() {
  return queue_ ? std::unique_lock(queue_->mutex()) : std::unique_lock<TryMutex>();
}

// MPI_BYTE takes the place of the call's type, because MPICH 5.0 divides by the size of the type.
int Starts::start_nothing(Collective collective, MPI_Request* request) {
  {
    const std::unique_lock<TryMutex> alone = lock();
    Decision& nothing = communicator_.decisions().decline(collective, "nothing to send");
    if (!std::exchange(nothing.explained(Begun::started), true))
      explain(name_of_start(collective), collective, communicator_.members(), nothing, {});
    if (communicator_.options().statistics) nothing.tally().add(0, std::chrono::nanoseconds{0}, communicator_.ranks());
  }
  return PMPI_Ialltoall(nullptr, 0, MPI_BYTE, nullptr, 0, MPI_BYTE, communicator_.user(), request);
}

void Starts::close() {
  if (!std::exchange(wanted_, {}).empty()) --waiting_for_set_up;
  queue_.reset();
}

}  // namespace swapmeet
