/// An exchange that the application has planned: what executes it, again and again, by a team of its own, for its exchanges may come
/// in another order than those of others.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "choose/select.hpp"
#include "exchange/exchange.hpp"
#include "node/node_peers.hpp"
#include "observe/statistics.hpp"
#include "mpi/coroutine.hpp"
#include "session/execution.hpp"
#include "session/started_tuning.hpp"
#include "session/under_way.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// What executes it.
struct Executor {
  Spec spec;
  std::string reason;
  std::unique_ptr<NodePeers> node_peers{};  ///< of this exchange alone
  std::int64_t share_bytes = 0;             ///< of shared memory, that count for this rank
  std::unique_ptr<Exchange> exchange{};     ///< nullptr: the host MPI
  std::unique_ptr<Exchange> single{};       ///< by single_step(), which starts try; nullptr: they try nothing
};

/// The ranks of a plan.
struct PlanTeam {
  /// `job_ranks`: as of Team; nullptr: the plan is the host MPI's.
  PlanTeam(Job& job, const std::shared_ptr<const std::vector<int>>& job_ranks, Rank rank, MPI_Comm user, MPI_Comm alone)
      : peers(user) {
    peers.alone = alone;
    if (!job_ranks) return;
    team.emplace(job, job_ranks, rank, user);
    peers.team = &*team;
  }
  PlanTeam(const PlanTeam&) = delete;
  PlanTeam& operator=(const PlanTeam&) = delete;

  bool has_messages() const { return team && team->has_messages(); }

  std::optional<Team> team;
  Peers peers;
  bool by_mpi = false;  ///< some messages are of the host MPI, or all
};

class Planned final : public Ongoing {
 public:
  /// `expected_seconds`: negative if nobody knows. `ranks`: those that try.
  Planned(Request request, Executor executor, std::unique_ptr<PlanTeam> team, std::uint16_t exchanges,
          double expected_seconds, StartedTuning::Ranks ranks);
  ~Planned() override;

  /// Is called, with `state` and the result, when an exchange is over; whoever moves it on. Before the first start.
  using Over = void (*)(void* state, int error);
  void tell(Over over, void* state) { over_ = over, state_ = state; }

  /// Exchanges are counted from now on: by tally_of(spec) those that `spec` executes.
  template <class TallyOf>
  void count(TallyOf tally_of) {
    tallies_ = {tally_of(executor_.spec), executor_.single ? tally_of(single_step()) : nullptr};
  }

  bool under_way() const override { return settles_ || execution_.under_way(); }

  /// Begins the exchange. Requires that it is not under way. Returns an error, and then it is not. What fails on this
  /// rank alone is no such error: the exchange ends with it, on all ranks whose data depend on this one.
  int start();

  /// It will not be started again: frees its types, for which delete callbacks of the application's wait. Requires that it
  /// is not under way.
  void free_types() { execution_.free_types(); }

  void advance() override;
  Rest rest() override;
  bool goes_on_in_progress() const override { return goes_on_in_progress_; }

  /// The application has revoked the communicator, or a rank has died: no rank is to wait for another in this any more. Local.
  void revoke();

  /// The communicator is gone.
  void outlives_communicator() {
    if (team_->team) team_->team->called(MPI_COMM_NULL);
  }

  /// For who may have to call revoke(): nullptr once this is gone.
  std::weak_ptr<Planned* const> handle() const { return handle_; }

  /// What the last exchange ended with, told once.
  int result() { return std::exchange(result_, MPI_SUCCESS); }

  bool on_host() const { return !executor_.exchange; }
  const std::string& spec() const { return spec_text_; }
  const std::string& reason() const { return executor_.reason; }
  std::optional<SentTraffic> traffic() const;  ///< of an exchange; nothing: not known
  std::int64_t scratch_bytes() const;
  double expected_seconds() const { return expected_seconds_; }

 private:
  void begin();
  bool settle();
  void over(int error);
  std::int64_t scratch_bytes_of(const Exchange& exchange) const;

  Execution execution_;
  Executor executor_;
  std::optional<StartedTuning> tuning_;                 ///< between the executor's two; nothing: it has one
  bool settles_ = false;                                ///< before the exchange, what its ranks must agree on
  std::optional<Coroutine> settling_;                   ///< if there is something to try
  StartedTuning::Arm arm_ = StartedTuning::Arm::usual;  ///< of the last exchange
  std::array<Tally*, 2> tallies_{};                     ///< of each arm; nullptr: nobody counts
  std::chrono::steady_clock::time_point began_{};       ///< if somebody does
  const std::unique_ptr<PlanTeam> team_;
  bool goes_on_in_progress_;
  std::uint16_t exchanges_;
  double expected_seconds_;
  std::string spec_text_;
  int result_ = MPI_SUCCESS;
  Over over_ = nullptr;
  void* state_ = nullptr;
  std::shared_ptr<Planned* const> handle_ = std::make_shared<Planned* const>(this);
};

}  // namespace swapmeet
