#include "interpose/on_host.hpp"

namespace swapmeet {

int exchange_on_host(const Call& call, Communicator& communicator, const Decision& decision, bool& touched,
                     int (*exchange)(const Call&, Communicator&, const Decision&, bool& touched)) {
  HostCopy &out = communicator.send_host_copy(), &in = communicator.receive_host_copy();
  const auto phase = Watch(communicator.clock()).during(CallPhase::copy);
  int error = in.take(call.receive, communicator.ranks(), call.in_place);
  if (!error && !call.in_place) error = out.take(call.send, communicator.ranks(), true);
  touched = error != MPI_SUCCESS;
  if (!error) {
    if ((in.device() || out.device()) && communicator.options().explain)
      say_once("buffers that are memory of a device are brought to the host and back");
    const Blocks received = in.instead_of(call.receive), sent = call.in_place ? received : out.instead_of(call.send);
    phase.then(CallPhase::other);
    error = exchange({call.collective, call.in_place, sent, received, call.comm}, communicator, decision, touched);
    phase.then(CallPhase::copy);
    if (!error) touched = (error = in.give_back()) != MPI_SUCCESS;
  }
  in.release();
  out.release();
  return error;
}

}  // namespace swapmeet
