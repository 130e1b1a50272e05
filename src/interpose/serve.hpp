/// One intercepted call: served by a schedule, or left to the MPI underneath.
#pragma once

#include "execute/blocks.hpp"
#include "execute/context.hpp"

namespace swapmeet {

/// A call whose arguments look right. `send` is meaningless if `in_place`.
struct Call {
  Collective collective;
  bool in_place;
  const Blocks &send, &receive;
  MPI_Comm comm;
};

/// The decision for `call`, counted and explained. Collective over call.comm on its first use.
Decision& decide(const Call& call, Communicator& communicator);

/// Runs `call` by the plan of `decision`. True: done, with MPI's result in `error` (raised on the communicator if it is
/// one). False: MPI refused the arguments before anything was sent; the MPI underneath is to say so.
bool run(const Call& call, Communicator& communicator, Decision& decision, int& error);

/// Counts a call that took so long.
void count(const Call& call, const Communicator& communicator, Decision& decision, std::chrono::nanoseconds time);

/// Serves `call`, or calls `underneath`, which makes the application's call on the MPI underneath.
template <class Underneath>
int serve(const Call& call, Communicator& communicator, Underneath underneath) {
  Decision& decision = decide(call, communicator);
  const bool timed = communicator.options().statistics;
  const auto begin = timed ? std::chrono::steady_clock::now() : std::chrono::steady_clock::time_point{};
  int error = MPI_SUCCESS;
  if ((!decision.plan && !decision.varying) || !run(call, communicator, decision, error)) error = underneath();
  if (timed) count(call, communicator, decision, std::chrono::steady_clock::now() - begin);
  return error;
}

}  // namespace swapmeet
