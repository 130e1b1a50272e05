#include "choose/description.hpp"

#include <algorithm>

#include "schedule/names.hpp"

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
  const auto figures = [](double number) { return short_text(number, 3); };
  std::string all = figures(network.start_us) + " us a message";
  if (network.message_us >= 0) all += ", " + figures(network.message_us) + " us one of several";
  if (network.byte_ns >= 0) all += ", " + figures(network.byte_ns) + " ns a byte";
  if (network.piece_us >= 0) all += "; " + figures(network.piece_us) + " us a copied piece";
  if (network.copy_ns >= 0) all += ", " + figures(network.copy_ns) + " ns a byte";
  return all + "; measured in " + figures(network.took_us / 1e3) + " ms";
}

}  // namespace swapmeet
