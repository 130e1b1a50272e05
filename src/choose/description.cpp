#include "choose/description.hpp"

#include <algorithm>
#include <cstdio>

namespace swapmeet {

Machine described_by(const MeasuredNetwork& network, Machine machine) {
  MessageCost& between = machine.between;
  between.latency_us = std::max(network.start_us - 2 * between.overhead_us, 0.1);
  between.rendezvous_us = 2 * between.latency_us;
  if (network.byte_ns >= 0) between.byte_ns = machine.node_byte_ns = network.byte_ns;
  return machine;
}

std::string to_text(const MeasuredNetwork& network) {
  char text[100];
  if (network.byte_ns < 0)
    std::snprintf(text, sizeof text, "%.3g us a message, measured in %.3g ms", network.start_us, network.took_us / 1e3);
  else
    std::snprintf(text, sizeof text, "%.3g us a message, %.3g ns a byte, measured in %.3g ms", network.start_us,
                  network.byte_ns, network.took_us / 1e3);
  return text;
}

}  // namespace swapmeet
