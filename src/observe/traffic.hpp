/// Counters of the messages and bytes that one rank sends.
#pragma once

#include <cstdint>

namespace swapmeet {

struct SentTraffic {
  std::int64_t messages = 0, bytes = 0;
  void add(std::int64_t message_bytes) { ++messages, bytes += message_bytes; }
};

}  // namespace swapmeet
