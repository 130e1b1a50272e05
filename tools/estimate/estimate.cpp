#include "estimate/estimate.hpp"

#include <algorithm>
#include <array>

#include "model/price.hpp"

namespace swapmeet {

namespace {

/// The time of the messages of one kind: of all on their links, and of the largest one alone.
struct Wire {
  double share = 0, latency_us = 0, all_us = 0, one_us = 0;

  /// For messages between nodes.
  Wire(const Traffic& traffic, const NetworkCosts& costs, double bytes) {
    if (traffic.largest == 0) return;
    const MessageCost& link = costs.between;
    const double largest = static_cast<double>(traffic.largest) * bytes;
    share = traffic.share;
    latency_us = std::max(0.0, link.latency_us - costs.hop_us) + traffic.hops * costs.hop_us + link.startup_us(largest);
    const double waits = traffic.mean_hops > 1 ? 1 - 1 / traffic.mean_hops : 0;
    const double waiting = traffic.mixed.blocks + (costs.contention - 1) * waits * traffic.mixed.apart;
    const double node_ns = costs.node_byte_ns > 0 ? costs.node_byte_ns : link.byte_ns;
    const double blocks_ns =
        std::max(traffic.hosts.blocks * node_ns, std::max(traffic.between.blocks, waiting) * costs.link_byte_ns);
    const double messages_ns =
        std::max(traffic.hosts.messages * node_ns, traffic.between.messages * costs.link_byte_ns);
    one_us = (largest + envelope_bytes) * link.byte_ns * us_of_ns;
    all_us = std::max(one_us, (blocks_ns * bytes + messages_ns * envelope_bytes) * us_of_ns);
  }

  /// For messages within nodes.
  Wire(const Traffic& traffic, double latency, double byte_ns, double memory_ns, double bytes) {
    if (traffic.largest == 0) return;
    share = traffic.share;
    latency_us = latency;
    one_us = (static_cast<double>(traffic.largest) * bytes + envelope_bytes) * byte_ns * us_of_ns;
    const Busiest& memory = traffic.hosts;
    all_us = std::max(one_us, (memory.blocks * bytes + memory.messages * envelope_bytes) * memory_ns * us_of_ns);
  }
};

struct RoundTimes {
  double sends, m, overlap, eager_receives = 0, handshakes = 0;
  bool eager;
  std::array<Wire, 2> wires;

  RoundTimes(const RoundLoad& load, const NetworkCosts& costs, double bytes, double peers)
      : sends(static_cast<double>(load.sends)),
        m(costs.between.overhead_us + load.between.share * (costs.between.core_us(peers) - costs.between.overhead_us)),
        overlap(costs.overlap),
        eager(costs.between.is_eager(static_cast<double>(std::max(load.between.largest, load.within.largest)) * bytes)),
        wires{Wire(load.between, costs, bytes),
              Wire(load.within, costs.within_latency_us, costs.within_byte_ns, costs.memory_byte_ns, bytes)} {
    for (const Arrivals& some : load.arrivals)
      if (costs.between.is_eager(static_cast<double>(some.blocks) * bytes))
        eager_receives += static_cast<double>(some.receives);
    if (!eager)
      handshakes =
          load.between.share * costs.between.handshake_trips * (sends + static_cast<double>(load.receives)) * m;
  }

  /// Returns the time of the round if nothing else is in flight.
  double alone_us() const {
    const double taken = eager ? m : 0;  // by the last receive
    const double core = (sends + eager_receives) * m + handshakes;
    const double longest =
        std::max({core, sends * m + latency_us() + one_us() + taken, m + latency_us() + all_us() + taken});
    return serial(longest, core);
  }

  /// Returns the time of the round if another one precedes it.
  double following_us() const {
    const double core = (sends + eager_receives) * m + handshakes;
    return serial(std::max({core, m + latency_us() + one_us(), all_us()}), core);
  }

  /// Returns the time of a round in which the core's and the network's work overlap only in part. `longest`: the time
  /// with full overlap; `core`: the time of the core's work.
  double serial(double longest, double core) const {
    return overlap * longest + (1 - overlap) * (core + latency_us() + std::max(one_us(), all_us()));
  }

  double latency_us() const { return wires[0].share * wires[0].latency_us + wires[1].share * wires[1].latency_us; }
  double one_us() const { return wires[0].share * wires[0].one_us + wires[1].share * wires[1].one_us; }
  double all_us() const { return std::max(wires[0].all_us, wires[1].all_us); }
};

/// Returns the time of the empty messages that grant those of a step.
double grants_us(const StepLoad& step, const NetworkCosts& costs, double peers) {
  if (step.sliding && !step.rounds.empty()) return RoundTimes(step.all, costs, 0, peers).alone_us();
  double sum = 0;
  for (const RoundLoad& load : step.rounds) sum += RoundTimes(load, costs, 0, peers).alone_us();
  return sum;
}

double step_us(const StepLoad& step, const NetworkCosts& costs, double bytes, Rank ranks, double peers) {
  double sum = copies_us(step.copies, costs.copying, bytes, ranks, costs.cache_bytes) +
               copies_us(step.typed, costs.datatype, bytes, ranks, costs.cache_bytes) +
               step.typed.messages * costs.datatype_us;
  if (step.sliding && !step.rounds.empty()) {
    const RoundTimes all(step.all, costs, bytes, peers);
    if (all.eager) return sum + all.alone_us();
    sum += all.latency_us();
  }
  for (const RoundLoad& load : step.rounds) {
    const RoundTimes round(load, costs, bytes, peers);
    sum += step.sliding ? round.following_us() : round.alone_us();
  }
  return sum;
}

}  // namespace

NetworkEstimate::NetworkEstimate(const Spec& spec, const Shape& shape, const Routing& routing, Rank per_node)
    : ranks_(shape.ranks), granted_(spec.posting == Posting::granted),
      segment_bytes_(spec.family == Family::direct ? spec.segment_bytes : 0),
      load_(exchange_load(spec, shape, routing, per_node)) {}

double NetworkEstimate::pass_us(std::int64_t bytes, const NetworkCosts& costs) const {
  double sum = 0;
  const auto peers = static_cast<double>(load_.peers);
  for (const StepLoad& step : load_.steps) {
    if (granted_) sum += grants_us(step, costs, peers);
    sum += step_us(step, costs, static_cast<double>(bytes), ranks_, peers);
  }
  return sum;
}

double NetworkEstimate::time_us(std::int64_t block_bytes, const NetworkCosts& costs) const {
  if (segment_bytes_ == 0 || block_bytes <= segment_bytes_) return costs.call_us + pass_us(block_bytes, costs);
  const std::int64_t whole = block_bytes / segment_bytes_, rest = block_bytes % segment_bytes_;
  return costs.call_us + static_cast<double>(whole) * pass_us(segment_bytes_, costs) +
         (rest > 0 ? pass_us(rest, costs) : 0);
}

}  // namespace swapmeet
