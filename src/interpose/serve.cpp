#include "interpose/serve.hpp"

namespace swapmeet {

namespace {

std::string sizes(const Decision& decision) {
  if (decision.most_bytes < 0) return "";
  const std::string least = std::to_string(decision.least_bytes);
  return decision.most_bytes == INT64_MAX ? ", blocks from " + least + " B"
                                          : ", blocks of " + least + " to " + std::to_string(decision.most_bytes) + " B";
}

void explain(const Call& call, const Communicator& communicator, Decision& decision) {
  decision.explained = true;
  if (communicator.rank() != 0) return;
  say_once(std::string(collective_names[static_cast<std::size_t>(call.collective)]) + " on " +
      std::to_string(communicator.ranks()) + (communicator.ranks() == 1 ? " rank" : " ranks") +
      (call.collective == Collective::alltoall ? sizes(decision) : "") + ": " +
      (decision.plan ? to_text(decision.plan->spec()) : "native") + " (" + decision.reason + ")");
}

/// Working memory that a rank may need, where all ranks can tell: Alltoall, whose blocks are all of one size. Part of it
/// is needed only for derived types, but which ranks use them is not shared.
std::int64_t shared_scratch_bytes(const Call& call, const Plan& plan, Rank ranks) {
  if (call.collective != Collective::alltoall) return 0;
  return (2 * ranks + plan.scratch_blocks()) * call.receive.bytes(0);
}

/// The exchange over staging: of what is sent, of what is received, or of both.
int staged_exchange(const Call& call, Communicator& communicator, Plan& plan, bool stage_send, bool stage_receive,
                    bool& touched) {
  const Blocks& send = call.in_place ? call.receive : call.send;
  Staging &out = communicator.send_staging(), &in = communicator.receive_staging();
  touched = false;
  if ((stage_send && !out.reserve(send, communicator.ranks())) ||
      (stage_receive && !in.reserve(call.receive, communicator.ranks())))
    return touched = true, MPI_ERR_NO_MEM;  // the other ranks are under way: an error, not the MPI underneath
  int error = stage_receive ? Staging::check(call.receive.type(), communicator.ours()) : MPI_SUCCESS;
  if (!error && stage_send) error = out.pack(send, communicator.ours());
  if (!error)
    error = plan.run(stage_send ? out.blocks() : send, stage_receive ? in.blocks() : call.receive, communicator.ours(),
                     touched);
  if (!error && stage_receive) error = in.unpack(call.receive, communicator.ours());
  if (stage_send) out.release();
  if (stage_receive) in.release();
  return error;
}

int exchange(const Call& call, Communicator& communicator, Plan& plan, bool& touched) {
  if (!call.in_place && !plan.needs_bytes()) return plan.run(call.send, call.receive, communicator.ours(), touched);
  // In place too: bytes that meet a derived type in one message are more than every MPI can do.
  return staged_exchange(call, communicator, plan, call.in_place || !call.send.type().contiguous,
                         !call.receive.type().contiguous, touched);
}

}  // namespace

Decision& decide(const Call& call, Communicator& communicator) {
  const std::int64_t block_bytes = call.collective == Collective::alltoall ? call.receive.bytes(0) : 0;
  Decision* decision = &communicator.decide(call.collective, block_bytes);
  const bool staged = decision->plan && (call.in_place || decision->plan->needs_bytes());
  if (staged && shared_scratch_bytes(call, *decision->plan, communicator.ranks()) > communicator.options().scratch_limit_bytes)
    decision = &communicator.decline(call.collective, "more working memory than SWAPMEET_SCRATCH_LIMIT allows");
  const bool by_types = decision->plan && decision->plan->spec().family == Family::bruck &&
                        decision->plan->spec().packing == Packing::datatype;
  if (by_types && block_bytes > INT_MAX)
    decision = &communicator.decline(call.collective, "pack=datatype cannot hold blocks of more than 2 GiB");
  if (communicator.options().explain && !decision->explained) explain(call, communicator, *decision);
  return *decision;
}

bool run(const Call& call, Communicator& communicator, Decision& decision, int& error) {
  bool touched = false;
  error = exchange(call, communicator, *decision.plan, touched);
  if (error == MPI_SUCCESS) return true;
  if (!touched) return false;
  PMPI_Comm_call_errhandler(call.comm, error);
  return true;
}

void count(const Call& call, const Communicator& communicator, Decision& decision, std::chrono::nanoseconds time) {
  const Blocks& sent = call.in_place ? call.receive : call.send;
  std::uint64_t bytes = 0;
  for (Rank i = 0; i < communicator.ranks(); ++i) bytes += static_cast<std::uint64_t>(sent.bytes(i));
  decision.tally->add(bytes, time);
}

}  // namespace swapmeet
