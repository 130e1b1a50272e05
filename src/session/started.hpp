/// The queue of the non-blocking all-to-alls of one communicator. All ranks start them in the same order, and each rank
/// begins to execute them in this order. One is under way at a time, by the plans and in the shared memory of the
/// blocking exchanges, unless the ranks have prepared more lanes (session/lanes.hpp). If the communicator must be set up
/// first, that is the first part of its first exchange, and is advanced in the host MPI's progress, too.
///
/// For the application, each exchange is a generalised request of the host MPI, which any completing call of MPI may
/// complete.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "observe/observer.hpp"
#include "session/call.hpp"
#include "session/deciding.hpp"
#include "session/lanes.hpp"
#include "session/under_way.hpp"
#include "team/steps.hpp"

namespace swapmeet {

class Communicator;
struct Decision;

class StartedQueue final : public Ongoing {
 public:
  explicit StartedQueue(Communicator& communicator);
  ~StartedQueue() override;

  /// Starts an exchange and makes the application's request. `neighbourhood`: as for KeptCall. Local. Returns as MPI
  /// does.
  int start(const Arguments& what, std::shared_ptr<const Neighbourhood> neighbourhood, MPI_Request* request);

  /// Starts an exchange in the memory of a completed one, if a completed one is `alike` in all but its addresses; else
  /// returns nothing. Only exchanges of predefined types are kept for this, neither in place nor with neighbours.
  std::optional<int> start_again(const std::function<bool(const Arguments&)>& alike, const void* send,
                                 const void* receive, MPI_Request* request);

  /// Whether an exchange of `collective` with blocks of `block_bytes` bytes (0: unequal) must be started by the host MPI
  /// on the application's communicator, because the host MPI can start it only in the order of the application's calls.
  /// The same on all ranks.
  bool goes_to_host(Collective collective, std::int64_t block_bytes);

  /// Discards all decisions. Requires that all started exchanges are complete.
  void decide_anew();

  /// Waits until all started exchanges are complete.
  void finish();

  /// Ends all waiting for node peers, because a rank has died or the application has revoked the communicator. Local.
  void revoke() { lanes_.end(); }

  bool under_way() const override { return !waiting_.empty(); }
  void advance() override;
  Rest rest() override;

 private:
  struct StartedExchange;
  struct IdleExchanges;

  static int query(void* state, MPI_Status* status);
  static int free(void* state);
  static bool is_over(void* state);
  int begin(std::unique_ptr<StartedExchange> one, MPI_Request* request);
  // These functions return `unfinished`, MPI_SUCCESS, or an error with which the exchange ends. `before`: number of
  // exchanges that were started before it and are under way.
  int advance(std::size_t before);
  int begin_next(StartedExchange& one, std::size_t before);
  int decide(StartedExchange& one, std::size_t before);
  int prepare(StartedExchange& one);
  bool look_is_due() const;
  void agree_on_lanes();
  void prepare_lanes(Plan& plan);
  static Plan* plan_for_lanes(const Decision& decision);
  bool lacks_lanes(const Decision& decision) const;
  void next();
  void over(std::size_t before, int error);

  Communicator& communicator_;
  std::vector<StartedExchange*> waiting_;  ///< in the order of their starts; those that have begun come first
  Lanes lanes_;
  std::size_t most_waiting_ = 0;  ///< the largest number of exchanges in waiting_ so far
  std::shared_ptr<IdleExchanges> idle_;
  Observer observer_;     ///< reports to the watchdog
  bool watched_ = false;  ///< the watchdog knows of the first exchange
  // Of the exchange that begins next:
  std::int64_t number_ = 0;     ///< number of exchanges that have begun before it
  std::int64_t next_look_ = 4;  ///< number of the exchange at which the ranks agree on the number of lanes
  std::size_t next_lane_ = 0;
  Steps preparing_;
  CallTuning tuning_;
  bool counted_ = false;  ///< decides_alone(), which counts the call in online tuning, has been called for it
  bool alone_ = false;    ///< it needs no other rank to begin
};

}  // namespace swapmeet
