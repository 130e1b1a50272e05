#include "session/started.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <ranges>
#include <span>
#include <string>
#include <utility>

#include "engine/engine.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "session/explain.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

/// An exchange and the application's request for it.
struct StartedQueue::StartedExchange {
  StartedExchange(const Arguments& what, std::shared_ptr<const Neighbourhood> neighbourhood,
                  std::shared_ptr<IdleExchanges> from)
      : call(what, std::move(neighbourhood)), returns_to(std::move(from)) {}

  Collective collective() const { return call.arguments().collective; }

  KeptCall call;
  CallCount counted;
  MPI_Request request = MPI_REQUEST_NULL;
  Decision* decision = nullptr;
  bool begun = false;          ///< it is or was under way
  bool beside_others = false;  ///< others may be under way with it, each in its lane
  std::size_t lane = 0;
  int error = MPI_SUCCESS;
  std::atomic<bool> over{false};
  std::shared_ptr<IdleExchanges> returns_to;
  std::uint64_t generation = 0;  ///< value of IdleExchanges::generation at the start
};

/// Completed exchanges for reuse. Shared with the exchanges, because their requests may outlive the communicator.
struct StartedQueue::IdleExchanges {
  static constexpr std::size_t most = 8;

  explicit IdleExchanges(MPI_Comm comm) : user(comm) { all.reserve(most); }

  /// Raises an error on the communicator, if it still exists. Returns what swapmeet::raise() returns.
  int raise(int error) {
    bool lives = false;
    {
      const std::lock_guard lock(mutex);
      lives = !closed;
    }
    if (lives) error = swapmeet::raise(user, error);
    return_next_error();
    return error;
  }

  std::unique_ptr<StartedExchange> take(const std::function<bool(const Arguments&)>& alike) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find_if(
        all, [&](const std::unique_ptr<StartedExchange>& one) { return alike(one->call.arguments()); });
    if (found == all.end()) return nullptr;
    std::unique_ptr<StartedExchange> one = std::move(*found);
    all.erase(found);
    return one;
  }

  /// Keeps an exchange for reuse, unless it holds types of the application, is not executed by a plan of this library,
  /// or belongs to old decisions.
  void give(std::unique_ptr<StartedExchange> one) {
    if (!one->call.suits_others()) return;
    const std::lock_guard lock(mutex);
    if (closed || one->generation != generation || one->error || !one->decision || !one->decision->plan) return;
    if (all.size() == most) all.erase(all.begin());
    all.push_back(std::move(one));
  }

  /// Drops all kept exchanges when decisions are discarded. `for_ever`: the queue ends.
  void forget(bool for_ever) {
    const std::lock_guard lock(mutex);
    all.clear();
    ++generation;
    closed |= for_ever;
  }

  const MPI_Comm user;
  TryMutex mutex;
  std::vector<std::unique_ptr<StartedExchange>> all;
  std::atomic<std::uint64_t> generation = 0;  ///< incremented when decisions are discarded
  bool closed = false;
};

namespace {

/// Fills in a status like that of the host MPI's own collectives: no data, from no rank.
void fill(MPI_Status* status) {
  PMPI_Status_set_elements(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
}

/// The cancel function. Requests of collectives cannot be cancelled.
int refuse_to_cancel(void*, int) { return MPI_SUCCESS; }

}  // namespace

StartedQueue::StartedQueue(Communicator& communicator)
    : communicator_(communicator), lanes_(communicator.plans()),
      idle_(std::make_shared<IdleExchanges>(communicator.user())) {
  context().under_way.expect();
  Watchdog& watchdog = context().watchdog;
  if (watchdog.on()) observer_.publish(watchdog.take(watched_communicator(communicator.user(), true)));
}

StartedQueue::~StartedQueue() {
  idle_->forget(true);
  context().under_way.forget();
}

void StartedQueue::decide_anew() {
  idle_->forget(false);
  tuning_ = {};
  lanes_.clear();
}

int StartedQueue::start(const Arguments& what, std::shared_ptr<const Neighbourhood> neighbourhood,
                        MPI_Request* request) {
  return begin(std::make_unique<StartedExchange>(what, std::move(neighbourhood), idle_), request);
}

std::optional<int> StartedQueue::start_again(const std::function<bool(const Arguments&)>& alike, const void* send,
                                             const void* receive, MPI_Request* request) {
  std::unique_ptr<StartedExchange> one = idle_->take(alike);
  if (!one) return std::nullopt;
  one->call.lie_at(send, receive);
  return begin(std::move(one), request);
}

/// The query function. The thread that completes the request calls it; is_over() makes what the executing thread has
/// written visible to it.
int StartedQueue::query(void* state, MPI_Status* status) {
  const StartedExchange& one = *static_cast<StartedExchange*>(state);
  is_over(state);
  fill(status);
  return one.error ? one.returns_to->raise(one.error) : MPI_SUCCESS;
}

bool StartedQueue::is_over(void* state) {
  return static_cast<StartedExchange*>(state)->over.load(std::memory_order_acquire);
}

int StartedQueue::free(void* state) {
  is_over(state);  // for the same reason as in query(), which may not have been called
  std::unique_ptr<StartedExchange> mine(static_cast<StartedExchange*>(state));
  const std::shared_ptr<IdleExchanges> idle = mine->returns_to;
  return guarded([&] { return idle->give(std::move(mine)), MPI_SUCCESS; });
}

int StartedQueue::begin(std::unique_ptr<StartedExchange> one, MPI_Request* request) {
  if (communicator_.options().statistics) one->counted.begin(one->call.arguments());
  one->error = MPI_SUCCESS;
  one->begun = false;
  one->lane = 0;
  one->over.store(false, std::memory_order_relaxed);
  one->generation = idle_->generation.load(std::memory_order_relaxed);
  communicator_.fast_paths().repeat = {};  // so that the next blocking call waits for this exchange
  return context().under_way.start(*this, [&]() -> int {
    waiting_.push_back(one.get());
    const int error =
        make_request(OngoingExchanges::in_progress, {query, free, refuse_to_cancel, is_over}, one.get(), &one->request);
    if (error) return waiting_.pop_back(), error;
    most_waiting_ = std::max(most_waiting_, waiting_.size());
    *request = one.release()->request;
    return MPI_SUCCESS;
  });
}

bool StartedQueue::goes_to_host(Collective collective, std::int64_t block_bytes) {
  // The host MPI knows the neighbours only on the application's communicator, on which it must be called in order.
  if (communicator_.members().locked || of_neighbours(collective)) {
    const std::lock_guard lock(mutex());
    // A known decision was made in a blocking call, and so is the same on all ranks.
    const Decision* const decision = communicator_.decisions().decided(collective, block_bytes);
    const bool by_mpi = decision && (decision->spec().intra == Transport::mpi || decision->sized);
    // Such a call goes to the host MPI.
    const bool may_exceed_limits = decision && block_bytes > decision->unchecked_bytes;
    const bool ours = decision && decision->exchange && !may_exceed_limits &&
                      !(by_mpi && communicator_.members().locked) && !communicator_.members().leaves_starts();
    if (!decision) communicator_.starts().request_preparation(collective, block_bytes);
    return !ours;
  }
  return false;
}

void StartedQueue::finish() {
  if (OngoingExchanges::has(*this)) context().under_way.finish(*this);
}

void StartedQueue::advance() {
  if (CallState* const watched = observer_.call_state())
    CallState::set(watched->looks, CallState::get(watched->looks) + 1);
  for (std::size_t before = 0; before < waiting_.size();) {
    int error = MPI_SUCCESS;
    const int thrown = guarded([&] { return error = advance(before), MPI_SUCCESS; });
    if (thrown) error = thrown;
    if (error != unfinished) over(before, error);
    else if (waiting_[before]->begun) ++before;
    else return;  // the exchanges behind it begin later
  }
}

Ongoing::Rest StartedQueue::rest() {
  const std::size_t lane = waiting_.empty() ? 0 : waiting_.front()->lane;
  return rest_with(lane == 0 ? communicator_.node().peers() : lanes_.peers(lane));
}

int StartedQueue::advance(std::size_t before) {
  StartedExchange& one = *waiting_[before];
  if (!one.begun)
    if (const int error = begin_next(one, before)) return error;
  return one.call.advance();
}

/// Begins `one`, if it may run beside those before it; otherwise returns `unfinished`. Under the watchdog, none runs
/// beside another.
int StartedQueue::begin_next(StartedExchange& one, std::size_t before) {
  CallState* const watched = observer_.call_state();
  if (before > 0 && (watched || !waiting_.front()->beside_others)) return unfinished;
  if (watched && !std::exchange(watched_, true))
    observer_.call_begins(one.collective(), one.call.arguments().sent_bytes());
  if (const int error = decide(one, before)) return error;
  if (watched) {
    CallState::set(watched->number, static_cast<std::int64_t>(communicator_.members().number));
    observer_.call_decided(one.decision->tally(), one.call.arguments().sent_bytes(), Doing::exchanging);
  }
  if (!one.decision->exchange) return MPI_ERR_NO_MEM;
  const Plan* const shared = plan_for_lanes(*one.decision);
  const std::span<Exchange* const> lanes = shared ? lanes_.exchanges_of(*shared) : std::span<Exchange* const>{};
  one.beside_others = lanes.size() > 1;
  one.lane = one.beside_others ? next_lane_ % lanes.size() : 0;
  const auto in_this_lane = [&](const StartedExchange* other) { return other->lane == one.lane; };
  const bool must_wait =
      one.beside_others ? std::ranges::any_of(waiting_ | std::views::take(before), in_this_lane) : before > 0;
  if (must_wait) return unfinished;
  if (one.beside_others) ++next_lane_;
  one.begun = true;
  next();
  Invocation exchange = communicator_.next_exchange();
  exchange.waits = false;
  exchange.observer = watched ? &observer_ : nullptr;
  one.call.start(one.beside_others ? *lanes[one.lane] : *one.decision->exchange, exchange,
                 communicator_.members().packing());
  return MPI_SUCCESS;
}

/// Determines the decision for `one`. No exchange is under way while ranks agree.
int StartedQueue::decide(StartedExchange& one, std::size_t before) {
  if (!preparing_.under_way()) try {
      if (!counted_) {
        // An exchange that is used again keeps its decision, unless trials between nodes may have changed it, or it was
        // executed by messages only because that one call could not be executed otherwise.
        const Decision* const by_messages = communicator_.decisions().known_by_messages(one.collective());
        if (one.decision == by_messages || communicator_.members().nodes() > 1) one.decision = nullptr;
        alone_ = one.decision || decides_alone(one.call, communicator_, tuning_);
        counted_ = true;
      }
      if (alone_ && !one.decision) one.decision = &swapmeet::decide(one.call, communicator_, Begun::started, tuning_);
      if (alone_ && !look_is_due() && !lacks_lanes(*one.decision)) return MPI_SUCCESS;
    } catch (const std::bad_alloc&) {
      return unfinished;  // memory may be available later
    }
  if (before > 0) return unfinished;
  return preparing_.advance(*communicator_.members().team, [this, &one] { return prepare(one); });
}

/// Makes the agreements of the ranks for `one`, and waits for the other ranks.
int StartedQueue::prepare(StartedExchange& one) {
  communicator_.records().finish();
  // Exchanges of this library need messages. It is too late for the host MPI, which starts exchanges in order.
  if (!communicator_.members().has_messages()) return MPI_ERR_OTHER;
  communicator_.decisions().setup_policy().end();
  if (!one.decision) one.decision = &swapmeet::decide(one.call, communicator_, Begun::started, tuning_);
  if (look_is_due()) agree_on_lanes();
  if (lacks_lanes(*one.decision)) prepare_lanes(*one.decision->plan);
  return MPI_SUCCESS;
}

/// Whether the ranks agree on the number of lanes before the next exchange begins. Where the host MPI's progress is
/// locked, they cannot communicate in it, so there is one lane.
bool StartedQueue::look_is_due() const {
  return number_ == next_look_ && lanes_.number() < Lanes::most && !communicator_.members().locked;
}

/// Takes as many lanes as exchanges have waited at a time on any rank. Collective.
void StartedQueue::agree_on_lanes() {
  next_look_ *= 8;
  const Members& members = communicator_.members();
  const auto mine = static_cast<std::int64_t>(std::min(most_waiting_, Lanes::most));
  const auto most = static_cast<std::size_t>(most_of_any_rank(mine, *members.team));
  if (most > lanes_.number()) lanes_.use(most);
}

/// Prepares the lanes for exchanges of `plan`. Collective.
void StartedQueue::prepare_lanes(Plan& plan) {
  lanes_.prepare(plan);
  const Members& members = communicator_.members();
  const std::size_t number = lanes_.exchanges_of(plan).size();
  if (number > 1 && members.options().explain && members.rank() == 0) try {
      say_once("non-blocking exchanges" + on_ranks(members) + ": up to " + std::to_string(number) +
               " are under way at once, since the application starts so many");
    } catch (const std::bad_alloc&) {}  // on this rank only: the exchange continues
}

/// The plan of exchanges that may be under way beside others; nullptr: by `decision` they are executed one at a time.
Plan* StartedQueue::plan_for_lanes(const Decision& decision) {
  return of_neighbours(decision.collective) ? nullptr : decision.plan;
}

bool StartedQueue::lacks_lanes(const Decision& decision) const {
  const Plan* const plan = plan_for_lanes(decision);
  return plan && lanes_.may_prepare(*plan);
}

/// Goes on to the exchange that begins next.
void StartedQueue::next() {
  ++number_;
  counted_ = false;
  tuning_ = {};
}

/// Completes an exchange with `error`.
void StartedQueue::over(std::size_t before, int error) {
  StartedExchange* const one = waiting_[before];
  waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(before));
  if (!one->begun) next();
  if (std::exchange(watched_, false)) observer_.call_ends();
  one->error = error;
  // The exchange leaves the queue now, and not when the application completes its request: the next exchange may wait
  // for ranks that wait in this one.
  if (error) communicator_.has_failed();  // the application may learn of it when the communicator is freed already
  if (is_fault(error)) communicator_.revoke();
  if (communicator_.options().statistics && one->decision)
    static_cast<void>(guarded([&] { return one->counted.end(one->decision->tally()), MPI_SUCCESS; }));
  MPI_Request request = one->request;
  one->over.store(true, std::memory_order_release);
  PMPI_Grequest_complete(request);  // from here on `one` may be deleted
}

}  // namespace swapmeet
