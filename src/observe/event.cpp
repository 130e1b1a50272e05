#include "observe/event.hpp"

#include <cstddef>
#include <unordered_map>

namespace swapmeet {

std::vector<CallMessage> messages_in(std::span<const CallEvent> events) {
  std::vector<CallMessage> messages;
  std::unordered_map<std::uint64_t, std::size_t> under_way;
  for (const CallEvent& event : events) {
    if (event.kind == CallEvent::Kind::begins) {
      under_way[event.message] = messages.size();
      messages.push_back({event, 0, event.bytes, false});
    } else if (const auto found = under_way.find(event.message);
               event.kind == CallEvent::Kind::done && found != under_way.end()) {
      CallMessage& message = messages[found->second];
      message.done_ns = event.time_ns;
      message.over = true;
      if (event.bytes != CallEvent::as_begun) message.bytes = event.bytes;
      under_way.erase(found);
    }
  }
  return messages;
}

}  // namespace swapmeet
