#include "algorithms/phase.hpp"

#include <algorithm>

namespace swapmeet {

void add_rounds(FlowBuilder& flow, const Spec& spec, std::int32_t positions, bool by_position,
                std::span<const PositionedMessage> outgoing, std::span<const PositionedMessage> incoming) {
  const std::int32_t at_a_time = by_position && spec.window != 0 ? spec.window : std::max(1, positions);
  auto send = outgoing.begin();
  auto receive = incoming.begin();
  for (std::int32_t done = 0; done == 0 || done < positions; done += at_a_time) {
    flow.round(by_position ? 0 : spec.window, spec.completion, spec.posting);
    for (; send != outgoing.end() && send->position - done <= at_a_time; ++send)
      flow.send(send->peer, send->blocks, send->last);
    for (; receive != incoming.end() && receive->position - done <= at_a_time; ++receive)
      flow.receive(receive->peer, receive->blocks, receive->last);
  }
}

}  // namespace swapmeet
