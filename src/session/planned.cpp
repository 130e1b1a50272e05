#include "session/planned.hpp"

#include "engine/engine.hpp"
#include "session/context.hpp"

namespace swapmeet {

Planned::Planned(Request request, Executor executor, MPI_Comm comm, bool own_comm, bool by_mpi, std::uint16_t exchanges,
                 double expected_seconds)
    : execution_(std::move(request)), executor_(std::move(executor)), comm_(comm), own_comm_(own_comm),
      goes_on_in_progress_(!by_mpi || !progress_is_locked()), exchanges_(exchanges),
      expected_seconds_(expected_seconds), spec_text_(to_text(executor_.spec)) {
  context().under_way->expect();
}

Planned::~Planned() {
  int finalised = 0;
  PMPI_Finalized(&finalised);
  executor_.exchange.reset();
  executor_.neighbours.reset();
  context().share_bytes -= executor_.share_bytes;
  context().under_way->forget();
  if (own_comm_ && !finalised) PMPI_Comm_free(&comm_);
}

int Planned::start() {
  if (on_host()) return execution_.start_on_host(comm_);
  execution_.start(*executor_.exchange, {comm_, ++exchanges_, MPI_SUCCESS, false}, comm_);
  return MPI_SUCCESS;
}

void Planned::advance() {
  if (!under_way()) return;
  const int error = execution_.advance();
  if (error == unfinished) return;
  result_ = error;
  if (!on_host() && is_fault(error)) {
    revoke(comm_);
    if (executor_.neighbours) executor_.neighbours->end();
  }
  if (over_) over_(state_, error);
}

Ongoing::Rest Planned::rest() { return rest_with(executor_.neighbours.get()); }

std::optional<SentTraffic> Planned::traffic() const {
  if (on_host()) return std::nullopt;
  return executor_.exchange->traffic(execution_.request().sent());
}

std::int64_t Planned::scratch_bytes() const {
  if (on_host()) return 0;
  const Exchange& exchange = *executor_.exchange;
  const Request& request = execution_.request();
  std::int64_t bytes = exchange.peak_bytes() + execution_.staging_bytes(exchange);
  if (request.collective == Collective::alltoall)
    bytes += (exchange.working_blocks() - request.blocks.out - request.blocks.in) * request.sent().bytes(0);
  return bytes;
}

}  // namespace swapmeet
