#include "session/started.hpp"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include "engine/engine.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// An exchange and the application's request for it.
struct StartedQueue::StartedExchange {
  StartedExchange(Request what, std::shared_ptr<IdleExchanges> from)
      : call(std::move(what)), returns_to(std::move(from)) {}

  Collective collective() const { return call.arguments().collective; }

  KeptCall call;
  CallCount counted;
  MPI_Request request = MPI_REQUEST_NULL;
  Decision* decision = nullptr;
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

  std::unique_ptr<StartedExchange> take(const std::function<bool(const Request&)>& alike) {
    const std::lock_guard lock(mutex);
    const auto found = std::ranges::find_if(
        all, [&](const std::unique_ptr<StartedExchange>& one) { return alike(one->call.request()); });
    if (found == all.end()) return nullptr;
    std::unique_ptr<StartedExchange> one = std::move(*found);
    all.erase(found);
    return one;
  }

  /// Keeps an exchange for reuse, unless it holds types of the application, is not executed by a plan of this library,
  /// or belongs to old decisions.
  void give(std::unique_ptr<StartedExchange> one) {
    const Request& request = one->call.request();
    if (of_neighbours(request.collective) || !request.send || !request.send->is_plain() || !request.receive.is_plain())
      return;
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
    : communicator_(communicator), idle_(std::make_shared<IdleExchanges>(communicator.user())) {
  context().under_way->expect();
  Watchdog& watchdog = context().watchdog;
  if (watchdog.on()) observer_.publish(watchdog.take(watched_communicator(communicator.user(), true)));
}

StartedQueue::~StartedQueue() {
  idle_->forget(true);
  context().under_way->forget();
}

void StartedQueue::decide_anew() {
  idle_->forget(false);
  tuning_ = {};
}

int StartedQueue::start(Request what, MPI_Request* request) {
  return begin(std::make_unique<StartedExchange>(std::move(what), idle_), request);
}

std::optional<int> StartedQueue::start_again(const std::function<bool(const Request&)>& alike, const void* send,
                                             const void* receive, MPI_Request* request) {
  std::unique_ptr<StartedExchange> one = idle_->take(alike);
  if (!one) return std::nullopt;
  one->call.lie_at(send, receive);
  return begin(std::move(one), request);
}

/// The query function. The thread that completes the request calls it. From here on it sees what the thread that
/// executed the exchange has written.
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
  one->over.store(false, std::memory_order_relaxed);
  one->generation = idle_->generation.load(std::memory_order_relaxed);
  communicator_.fast_paths().repeat = {};  // so that the next blocking call waits for this exchange
  return context().under_way->start(*this, [&]() -> int {
    waiting_.push_back(one.get());
    const int error =
        make_request(OngoingExchanges::in_progress, {query, free, refuse_to_cancel, is_over}, one.get(), &one->request);
    if (error) return waiting_.pop_back(), error;
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
  if (OngoingExchanges::has(*this)) context().under_way->finish(*this);
}

void StartedQueue::advance() {
  if (CallState* const watched = observer_.call_state())
    CallState::set(watched->looks, CallState::get(watched->looks) + 1);
  while (!waiting_.empty()) {
    int error = MPI_SUCCESS;
    const int thrown = guarded([&] { return error = advance_first(), MPI_SUCCESS; });
    if (thrown) error = thrown;
    if (error == unfinished) return;
    over(error);
  }
}

Ongoing::Rest StartedQueue::rest() { return rest_with(communicator_.node().peers()); }

int StartedQueue::advance_first() {
  StartedExchange& one = *waiting_.front();
  if (!one.call.under_way())
    if (const int error = start_first(one)) return error;
  return one.call.advance();
}

int StartedQueue::start_first(StartedExchange& one) {
  CallState* const watched = observer_.call_state();
  if (watched && !std::exchange(begun_, true))
    observer_.call_begins(one.collective(), one.call.arguments().sent_bytes());
  const bool anew = !one.decision || one.decision->sized || communicator_.members().nodes() > 1;
  if (anew || preparing_.under_way())
    if (const int error = decide(one)) return error;
  if (watched) {
    CallState::set(watched->number, static_cast<std::int64_t>(communicator_.members().number));
    observer_.call_decided(one.decision->tally(), one.call.arguments().sent_bytes(), Doing::exchanging);
  }
  if (!one.decision->exchange) return MPI_ERR_NO_MEM;
  Invocation exchange = communicator_.next_exchange();
  exchange.waits = false;
  exchange.observer = watched ? &observer_ : nullptr;
  one.call.start(*one.decision->exchange, exchange, communicator_.members().packing());
  return MPI_SUCCESS;
}

/// Determines the decision for `one`. Returns `unfinished` while ranks still have to agree.
int StartedQueue::decide(StartedExchange& one) {
  if (!counted_) try {
      alone_ = decides_alone(one.call, communicator_, tuning_);
      counted_ = true;
    } catch (const std::bad_alloc&) {
      return unfinished;  // memory may be available later
    }
  if (!alone_) return preparing_.advance(*communicator_.members().team, [this, &one] { return prepare(one); });
  one.decision = &swapmeet::decide(one.call, communicator_, Begun::started, tuning_);
  return MPI_SUCCESS;
}

/// Makes the agreements of the ranks for `one`, and waits for the other ranks.
int StartedQueue::prepare(StartedExchange& one) {
  communicator_.records().finish();
  if (!communicator_.members().has_messages()) return MPI_ERR_OTHER;  // this library's exchanges need messages
  communicator_.decisions().setup_policy().end();
  one.decision = &swapmeet::decide(one.call, communicator_, Begun::started, tuning_);
  return MPI_SUCCESS;
}

/// Completes the first exchange with `error`.
void StartedQueue::over(int error) {
  StartedExchange* const one = waiting_.front();
  waiting_.pop_front();
  counted_ = false;
  tuning_ = {};
  if (std::exchange(begun_, false)) observer_.call_ends();
  one->error = error;
  // This must not wait until the program completes the request: the next exchange may wait for ranks that wait in this
  // one.
  if (error) communicator_.has_failed();  // the application may learn of it when the communicator is freed already
  if (is_fault(error)) communicator_.revoke();
  if (communicator_.options().statistics && one->decision)
    static_cast<void>(guarded([&] { return one->counted.end(one->decision->tally()), MPI_SUCCESS; }));
  MPI_Request request = one->request;
  one->over.store(true, std::memory_order_release);
  PMPI_Grequest_complete(request);  // from here on `one` may be deleted
}

}  // namespace swapmeet
