/// An exchange planned by the application, and the state to execute it many times. Each plan has a team of its own,
/// because its exchanges may come in another order than those of other plans.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "choose/select.hpp"
#include "exchange/exchange.hpp"
#include "session/call.hpp"
#include "session/decision.hpp"
#include "session/native_exchange.hpp"
#include "session/node_sharing.hpp"
#include "session/under_way.hpp"
#include "team/steps.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// The exchange that a plan executes, and its memory.
struct PreparedExchange {
  Spec spec;
  std::string reason;                    ///< for the choice of the spec
  std::unique_ptr<Exchange> exchange{};  ///< nullptr: the host MPI
  std::unique_ptr<Exchange> single{};    ///< the exchange by single_step() that starts may try; nullptr: none
};

/// The ranks of a plan, and what only its exchanges use: a team, and shared memory within the node.
struct PlanTeam {
  explicit PlanTeam(const Members& members) : team(*members.team, members.user()) {}
  PlanTeam(const PlanTeam&) = delete;
  PlanTeam& operator=(const PlanTeam&) = delete;

  Team team;
  NodeSharing node;
  bool by_mpi = false;  ///< some or all messages are sent by the host MPI

  /// Ends all waiting, because the application has revoked the communicator or a rank has died. Local.
  void revoke() {
    team.give_up();
    node.end();
  }
};

/// A planned exchange, which can be started many times. A lock guards it (Ongoing::mutex()).
class Planned final : public Ongoing {
 public:
  /// An exchange of `members`. `expected_seconds`: negative if not known.
  Planned(std::unique_ptr<KeptCall> call, PreparedExchange prepared, std::shared_ptr<PlanTeam> team,
          std::uint16_t exchanges, double expected_seconds, const Members& members);
  ~Planned() override;

  /// Sets a function to be called with `state` and the result when an exchange is over, by the thread that has advanced
  /// it. To be called before the first start.
  using Over = void (*)(void* state, int error);
  void tell(Over over, void* state) { over_ = over, state_ = state; }

  /// Counts exchanges in the statistics from now on.
  void count();

  bool under_way() const override { return settles_ || call_->under_way() || (native_ && native_->under_way()); }

  /// Starts the exchange. Requires that it is not under way. Returns an error only if it has not been started. Another
  /// error of this rank alone is not returned: the exchange ends with it, on all ranks whose data depend on this one.
  int start();

  /// Frees the datatypes of the call, on which delete callbacks of the application may wait. The exchange cannot be
  /// started again. Requires that it is not under way.
  void free_types() { call_->free_types(); }

  void advance() override;
  Rest rest() override;
  bool goes_on_in_progress() const override { return goes_on_in_progress_; }

  /// The result of the last exchange. Resets it to MPI_SUCCESS.
  int result() { return std::exchange(result_, MPI_SUCCESS); }

  bool on_host() const { return native_.has_value(); }
  const std::string& spec() const { return spec_text_; }
  const std::string& reason() const { return prepared_.reason; }
  const Decision& decision() const { return usual_; }
  std::optional<SentTraffic> traffic() const;  ///< messages and bytes of an exchange; nothing: not known
  std::int64_t scratch_bytes() const;
  double expected_seconds() const { return expected_seconds_; }

 private:
  void begin();
  bool settle();
  void over(int error);
  std::int64_t scratch_bytes_of(const Exchange& exchange) const;

  const std::shared_ptr<PlanTeam> team_;
  const std::unique_ptr<KeptCall> call_;
  std::optional<NativeExchange> native_;  ///< the exchange by the host MPI; nothing: the plan is executed by `exchange`
  PreparedExchange prepared_;
  /// Chooses between `exchange` and `single` of prepared_; nothing: there is no `single`.
  std::optional<StartedTuning> tuning_;
  bool settles_ = false;           ///< the ranks are agreeing on trials before the exchange
  std::optional<Steps> settling_;  ///< steps in which they agree; nothing: no trials
  Decision usual_, single_;        ///< by `exchange` and by `single` of prepared_
  Decision* decision_ = &usual_;   ///< of the last exchange
  bool counts_ = false;            ///< exchanges are counted in the statistics
  CallCount counted_;              ///< of the last exchange, if exchanges are counted
  bool goes_on_in_progress_;
  std::uint16_t exchanges_;
  double expected_seconds_;
  std::string spec_text_;
  int result_ = MPI_SUCCESS;
  Over over_ = nullptr;
  void* state_ = nullptr;
};

}  // namespace swapmeet
