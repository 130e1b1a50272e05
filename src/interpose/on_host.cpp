#include "interpose/on_host.hpp"

namespace swapmeet {

int exchange_on_host(const Call& call, Communicator& communicator, const Decision& decision, bool& sent,
                     int (*exchange)(const Call&, Communicator&, const Decision&, int failure, bool& sent)) {
  HostCopy &out = communicator.memory().send_host_copy, &in = communicator.memory().receive_host_copy;
  const auto phase = Watch(communicator.observer().get()).during(CallPhase::copy);
  int failure = in.take(call.receive, call.blocks.in, call.in_place || call.neighbourhood);  // some bytes may stay
  if (!failure && !call.in_place) failure = out.take(call.send, call.blocks.out, true);
  if ((in.device() || out.device()) && communicator.options().explain)
    say_once("buffers that are memory of a device are brought to the host and back");
  const Blocks received = failure ? call.receive : in.instead_of(call.receive);
  const Blocks to_send = failure ? call.send : call.in_place ? received : out.instead_of(call.send);
  phase.then(CallPhase::other);
  int error = exchange({call.collective, call.in_place, to_send, received, call.comm, call.blocks, call.neighbourhood},
                       communicator, decision, failure, sent);
  phase.then(CallPhase::copy);
  if (!error) error = in.give_back();
  in.release();
  out.release();
  return error;
}

}  // namespace swapmeet
