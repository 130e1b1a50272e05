#include "choose/description.hpp"

#include <algorithm>
#include <cstdio>

namespace swapmeet {

Machine described_by(const MeasuredNetwork& network, Machine machine) {
  constexpr double off = 2, least_share = 1.0 / 8;
  MessageCost& between = machine.between;
  Copying& pack = machine.pack;
  const double later = network.start_us / (between.latency_us + 2 * between.overhead_us);
  if (network.piece_us > off * pack.piece_us) pack.piece_us = network.piece_us;
  if (network.copy_ns > off * pack.byte_ns) pack.byte_ns = network.copy_ns;
  if (network.message_us > off * between.overhead_us)
    between.overhead_us = std::min(network.message_us, network.start_us / 2);
  between.overhead_us = std::max(between.overhead_us, least_share * network.start_us);
  between.latency_us = std::max(network.start_us - 2 * between.overhead_us, 0.1);
  between.rendezvous_us = 2 * between.latency_us;
  between.byte_ns = network.complete() ? network.byte_ns : std::max(1.0, later) * between.byte_ns;
  machine.node_byte_ns = network.complete() ? network.byte_ns : std::max(1.0, later) * machine.node_byte_ns;
  return machine;
}

std::string to_text(const MeasuredNetwork& network) {
  char text[100];
  std::string all;
  const auto add = [&](const char* format, double number) {
    std::snprintf(text, sizeof text, format, number);
    all += text;
  };
  add("%.3g us a message", network.start_us);
  if (network.message_us >= 0) add(", %.3g us one of several", network.message_us);
  if (network.byte_ns >= 0) add(", %.3g ns a byte", network.byte_ns);
  if (network.piece_us >= 0) add("; %.3g us a copied piece", network.piece_us);
  if (network.copy_ns >= 0) add(", %.3g ns a byte", network.copy_ns);
  add("; measured in %.3g ms", network.took_us / 1e3);
  return all;
}

}  // namespace swapmeet
