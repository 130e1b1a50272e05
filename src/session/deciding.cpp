#include "session/deciding.hpp"

#include <chrono>

#include "mpi/progress.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"
#include "session/explain.hpp"

namespace swapmeet {

namespace {

/// Whether node peers can read the sent blocks directly. Only the first byte of each block is looked up.
bool lies_directly(const Arguments& call) {
  const Regions& regions = context().regions;
  if (context().options.heap_block_bytes == 0 && !regions.any()) return false;
  const Blocks& sent = call.send;
  for (Rank i = 0; i < call.sent_blocks(); ++i) {
    const Piece first{sent.address(i), 1};
    if (sent.bytes(i) > 0 && regions.find({&first, 1}).file.random == 0) return false;
  }
  return true;
}

/// The decision of online tuning for a blocking call, for which `first` was decided without it. Collective when a new
/// trial may begin; otherwise local.
[[gnu::noinline]] Decision& tried(const Arguments& call, Decisions& decisions, Decision& first, CallTuning& tuning) {
  const std::int64_t block_bytes = call.block_bytes();
  OnlineTuning* const online = decisions.tuning_for(call.collective, first, block_bytes);
  if (!online) return first;
  const bool due = online->due();
  Decision& decision = due ? online->next(block_bytes, call.sent_bytes(), lies_directly(call)) : online->usual();
  if (due && online->under_way()) tuning.trial = online;
  tuning.counts = decisions.tuning_for(call.collective, first, block_bytes);  // the same on all ranks
  return decision;
}

/// The same for a call that has been started.
Decision& tried_start(const Arguments& call, Decision& first, const CallTuning& tuning) {
  if (!tuning.starts) return first;
  if (tuning.settles) tuning.starts->settle();
  Decision& decision = tuning.counted ? tuning.starts->next() : tuning.starts->chosen();
  return decision.settled_for(call.block_bytes()) ? decision : first;
}

}  // namespace

bool decides_alone(const Call& call, Communicator& communicator, CallTuning& tuning) {
  if (!communicator.ready()) return false;
  Decisions& decisions = communicator.decisions();
  const Collective collective = call.arguments().collective;
  const std::int64_t block_bytes = call.arguments().block_bytes();
  Decision* const known = decisions.decided(collective, block_bytes);
  if (!known) return false;
  tuning.starts = decisions.start_tuning_for(collective, *known, block_bytes);
  tuning.counted = tuning.starts && decisions.counts(*tuning.starts);
  tuning.settles = tuning.counted && tuning.starts->begins(PMPI_Wtime());
  if (tuning.settles || known->sized) return false;
  return call.can_be_started(communicator, *known) || decisions.known_by_messages(collective);
}

Decision& decide(const Call& call, Communicator& communicator, Begun begun, CallTuning& tuning) {
  const Arguments& arguments = call.arguments();
  const Collective collective = arguments.collective;
  const std::int64_t block_bytes = arguments.block_bytes();
  Decisions& decisions = communicator.decisions();
  Decision* decision = &decisions.decide(collective, block_bytes, begun);
  if (decision->tries) [[unlikely]]
    decision = begun == Begun::now ? &tried(arguments, decisions, *decision, tuning)
                                   : &tried_start(arguments, *decision, tuning);
  const bool timed = decision->sized && !decision->explained(begun);
  const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  if (!decision->settled_for(block_bytes) || (begun == Begun::started && !decision->exchange))
    decision = &call.settle(communicator, *decision, begun);
  const auto agreement = timed ? std::chrono::steady_clock::now() - begin : std::chrono::nanoseconds{};
  if (!decision->explained(begun)) [[unlikely]] {
    decision->explained(begun) = true;
    if (begun == Begun::now) explain(name_of(collective), collective, communicator.members(), *decision, agreement);
    else explain(name_of_start(collective), collective, communicator.members(), *decision, agreement, advanced_by());
  }
  return *decision;
}

}  // namespace swapmeet
