/// The non-blocking all-to-alls of one communicator. All ranks start them in the same order, and so each rank executes
/// them: one after the other, as the blocking ones, on the same plans and in the same shared memory. What setting up needs
/// of other ranks is the beginning of the first, and is waited for as that is: in the progress of the host MPI.
///
/// For the application each is a generalised request of the host MPI, which completes it in whatever call.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/coroutine.hpp"
#include "observe/observer.hpp"
#include "session/execution.hpp"
#include "session/started_tuning.hpp"
#include "session/under_way.hpp"

namespace swapmeet {

class Communicator;
struct Decision;

class StartedQueue final : public Ongoing {
 public:
  explicit StartedQueue(Communicator& communicator);
  ~StartedQueue() override;

  /// Starts an exchange, and makes the application's request. Local. Returns an error of MPI.
  int start(Request what, MPI_Request* request);

  /// The same for an exchange of predefined types, not in place nor among neighbours, that is one before but for where its
  /// buffers lie, whose memory serves again: one that is `alike`, if any.
  std::optional<int> start_again(const std::function<bool(const Request&)>& alike, const void* send,
                                 const void* receive, MPI_Request* request);

  /// Whether such an exchange is to be started by the host MPI at once, on the application's communicator, where it comes in the
  /// order of the application's calls: so on all ranks.
  bool goes_to_host(Collective collective, std::int64_t block_bytes);

  /// What was decided holds no more. Requires that all that was started is over.
  void decide_anew();

  /// Waits until all that was started is over.
  void finish();

  bool under_way() const override { return !waiting_.empty(); }
  void advance() override;
  Rest rest() override;

 private:
  struct StartedExchange;
  struct IdleExchanges;
  struct TrialOfStarts;

  static int query(void* state, MPI_Status* status);
  static int free(void* state);
  static bool is_over(void* state);
  int begin(std::unique_ptr<StartedExchange> one, MPI_Request* request);
  // Each returns `unfinished`, or an error, with which the first is over.
  int advance_first();
  int start_first(StartedExchange& one);
  int decide(StartedExchange& one);
  void count(StartedExchange& one);
  TrialOfStarts* trial_for(const StartedExchange& one);
  Decision* decided(const StartedExchange& one) const;
  Decision* instead_of(Decision& decision, const StartedExchange& one, Decision* by_messages) const;
  int prepare(StartedExchange& one);
  int settle(StartedExchange& one);
  void over(int error);

  Communicator& communicator_;
  std::deque<StartedExchange*> waiting_;  ///< in the order of their starts; the first is executed
  Coroutine preparing_;
  /// What tries others for exchanges of a kind, with blocks of a class of sizes.
  struct TrialOfStarts {
    StartedTuning tuning;
    Decision* usual;
    Decision* single = nullptr;  ///< once it is prepared

    Decision& by(StartedTuning::Arm arm) { return arm == StartedTuning::Arm::single && single ? *single : *usual; }
  };
  std::map<std::pair<Collective, std::int32_t>, std::unique_ptr<TrialOfStarts>> trials_;
  TrialOfStarts* settles_ = nullptr;  ///< with the exchange that is prepared
  TrialOfStarts* trial_ = nullptr;    ///< of these
  int others_ = 0;                    ///< exchanges of others since its last one
  std::shared_ptr<IdleExchanges> idle_;
  Observer observer_;     ///< for the watchdog
  bool begun_ = false;    ///< it knows of the first
  bool counted_ = false;  ///< the first, by what tries others
};

}  // namespace swapmeet
