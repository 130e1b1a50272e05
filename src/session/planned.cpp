#include "session/planned.hpp"

#include <algorithm>

#include "engine/engine.hpp"
#include "mpi/guard.hpp"
#include "session/context.hpp"
#include "session/explain.hpp"

namespace swapmeet {

Planned::Planned(std::unique_ptr<KeptCall> call, PreparedExchange prepared, std::shared_ptr<PlanTeam> team,
                 std::uint16_t exchanges, double expected_seconds, const Members& members)
    : team_(std::move(team)), call_(std::move(call)), prepared_(std::move(prepared)),
      goes_on_in_progress_(!team_->by_mpi || !progress_is_locked()), exchanges_(exchanges),
      expected_seconds_(expected_seconds), spec_text_(to_text(prepared_.spec)) {
  const auto decide = [&](Decision& decision, Exchange* exchange) {
    decision.exchange = exchange;
    decision.reason = prepared_.reason;
    decision.least_bytes = decision.most_bytes = -1;  // it serves this plan only
    decision.collective = call_->arguments().collective;
    decision.ranks = members.ranks();
  };
  decide(usual_, prepared_.exchange.get());
  decide(single_, prepared_.single.get());
  if (!prepared_.exchange) native_.emplace(call_->arguments());
  if (prepared_.single) {
    tuning_.emplace(members, team_->team, name_of_plan(usual_.collective), usual_, [this] { return &single_; });
    settling_.emplace();
  }
  context().under_way.expect();
}

Planned::~Planned() { context().under_way.forget(); }

/// Makes the tallies now, since no memory may be needed in the progress of the host MPI.
void Planned::count() {
  usual_.tally();
  if (prepared_.single) single_.tally();
  counts_ = true;
}

int Planned::start() {
  if (on_host()) return native_->start(team_->team.user_comm());
  if (counts_) counted_.begin(call_->arguments());
  settles_ = tuning_ && tuning_->begins(PMPI_Wtime());
  if (!settles_) begin();
  return MPI_SUCCESS;
}

void Planned::begin() {
  if (tuning_) decision_ = &tuning_->next();
  call_->start(*decision_->exchange, {&team_->team, ++exchanges_, MPI_SUCCESS, false}, team_->team.alone());
}

/// Advances the agreement on trials. Returns whether it is over.
bool Planned::settle() {
  return settling_->advance(team_->team, [this] { return tuning_->settle(), MPI_SUCCESS; }) != unfinished;
}

void Planned::advance() {
  if (!under_way()) return;
  int error = MPI_SUCCESS;
  if (settles_) {
    if (!settle()) return;
    settles_ = false;
    error = guarded([this] { return begin(), MPI_SUCCESS; });
  }
  if (!error) error = on_host() ? native_->advance() : call_->advance();
  if (error != unfinished) over(error);
}

void Planned::over(int error) {
  result_ = error;
  if (counts_) counted_.end(decision_->tally());
  if (!on_host() && is_fault(error)) team_->revoke();
  if (over_) over_(state_, error);
}

Ongoing::Rest Planned::rest() { return rest_with(team_->node.peers()); }

std::optional<SentTraffic> Planned::traffic() const {
  if (on_host()) return std::nullopt;
  return prepared_.exchange->traffic(call_->arguments().send);
}

std::int64_t Planned::scratch_bytes() const {
  if (on_host()) return 0;
  const std::int64_t bytes = scratch_bytes_of(*prepared_.exchange);
  return prepared_.single ? std::max(bytes, scratch_bytes_of(*prepared_.single)) : bytes;
}

std::int64_t Planned::scratch_bytes_of(const Exchange& exchange) const {
  const Arguments& arguments = call_->arguments();
  std::int64_t bytes = exchange.peak_bytes() + call_->staging_bytes(exchange);
  if (arguments.collective == Collective::alltoall)
    bytes += (exchange.working_blocks() - arguments.blocks.out - arguments.blocks.in) * arguments.send.bytes(0);
  return bytes;
}

}  // namespace swapmeet
