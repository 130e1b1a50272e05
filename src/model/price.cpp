#include "model/price.hpp"

#include <algorithm>
#include <numeric>

#include "engine/row_size.hpp"

namespace swapmeet {

namespace {

/// Sizes that the price of a phase depends on.
struct Size {
  double block_bytes;
  double passes;  ///< number of passes over all messages: segments of a block
  bool rows;      ///< whether blocks within nodes are sent by rows: see Work
  double peers;   ///< number of peers of a rank on other nodes, in all phases

  double message_bytes(const EqualMessages& equal) const { return equal.blocks * block_bytes / passes; }
};

/// Returns how many times a rank's core is busy for o, with its messages within its node or between nodes.
double overheads(const PhaseTraffic& traffic, bool within, Size size) {
  const double messages = static_cast<double>(traffic.messages) * size.passes;
  return within && size.rows && messages > 0 ? messages + 1 : 2 * messages;
}

/// Returns the link that ranks wait for, which is the slowest one: between nodes if the phase has such messages.
const MessageCost& slowest(const PhaseWork& phase, const MessageCost& within, const MessageCost& between) {
  return phase.between.messages > 0 ? between : within;
}

double bytes_us(const MessageCost& link, double bytes) { return bytes * link.byte_ns * us_of_ns; }

Price hockney(const PhaseWork& phase, const MessageCost& within, const MessageCost& between, Size size) {
  Price price;
  for (const auto& [link, traffic] : {std::pair(&within, &phase.within), std::pair(&between, &phase.between)}) {
    const bool near = traffic == &phase.within, at_once = near && size.rows && traffic->messages > 0;
    const double starts = at_once ? 1 : static_cast<double>(traffic->messages) * size.passes;
    price.latency += link->latency_us * starts + link->overhead_us * overheads(*traffic, near, size);
    price.bandwidth += bytes_us(*link, static_cast<double>(traffic->blocks) * size.block_bytes);
  }
  return price;
}

/// Returns the time that batches wait. Each batch waits for `start_us` of its first message, which is its largest.
template <class Start>
double waiting_us(const PhaseWork& phase, const MessageCost& link, Size size, Start start_us) {
  double sum = 0;
  for (const EqualMessages& equal : phase.by_size) {
    const double bytes = size.message_bytes(equal);
    const double rendezvous_us = link.is_eager(bytes) ? 0 : link.rendezvous_us;
    sum += static_cast<double>(equal.firsts) * size.passes * (start_us(bytes) + rendezvous_us);
  }
  return sum;
}

/// Returns the time that the core is busy with messages between nodes in addition to o: handshakes, and peers that are
/// not kept ready.
double core_us(const PhaseWork& phase, const MessageCost& between, Size size) {
  const auto messages = static_cast<double>(phase.messages());
  if (messages == 0) return 0;
  double large = 0;
  for (const EqualMessages& equal : phase.by_size)
    if (!between.is_eager(size.message_bytes(equal))) large += static_cast<double>(equal.messages);
  const double o = between.core_us(size.peers), far = static_cast<double>(phase.between.messages) * size.passes;
  return 2 * far * (o - between.overhead_us + o * between.handshake_trips * large / messages);
}

/// Returns the waiting time with a sliding window: the part of `waiting` that `busy_us` of other messages does not
/// hide, but at least that of the first batch.
double hidden(const PhaseWork& phase, double waiting, double busy_us, Size size) {
  const double once = phase.batches > 0 ? waiting / (static_cast<double>(phase.batches) * size.passes) : 0;
  return std::max(once, waiting - busy_us);
}

Price loggp(const PhaseWork& phase, const MessageCost& within, const MessageCost& between, Size size, bool sliding) {
  Price price;
  const MessageCost& slow = slowest(phase, within, between);
  const double all = static_cast<double>(std::max<std::int64_t>(1, phase.messages()));
  double core = 0;
  for (const auto& [link, traffic] : {std::pair(&within, &phase.within), std::pair(&between, &phase.between)}) {
    const double share = static_cast<double>(traffic->messages) / all;
    core += link->overhead_us * overheads(*traffic, traffic == &phase.within, size);
    for (const EqualMessages& equal : phase.by_size) {
      const double bytes = bytes_us(*link, size.message_bytes(equal));
      const double apart = std::max(link->overhead_us, link->gap_us + bytes) - bytes;  // in addition to the bytes
      price.bandwidth += share * size.passes * static_cast<double>(equal.messages) * bytes;
      price.gap += share * size.passes * static_cast<double>(equal.messages - equal.lasts) * apart;
    }
  }
  price.latency = waiting_us(phase, slow, size, [&](double) { return slow.start_us(); });
  if (sliding) price.latency = hidden(phase, price.latency, price.bandwidth + price.gap, size);
  price.overhead = std::max(0.0, core - price.total());
  return price;
}

/// Time of a phase's messages of one kind without latency: on the rank's core, and on the wire.
struct PhaseLoad {
  double overhead = 0, gap = 0, bandwidth = 0;
  double core() const { return overhead + gap; }
};

PhaseLoad load_within(const PhaseWork& phase, const MessageCost& within, const Machine& machine, Size size) {
  const PhaseTraffic& near = phase.within;
  const double messages = static_cast<double>(near.messages) * size.passes;
  return {within.overhead_us * overheads(near, true, size), within.gap_us * messages,
          std::max(bytes_us(within, static_cast<double>(near.blocks) * size.block_bytes),
                   near.node_blocks * size.block_bytes * machine.memory_byte_ns * us_of_ns)};
}

PhaseLoad load_between(const PhaseWork& phase, const MessageCost& between, const Machine& machine, Size size) {
  const PhaseTraffic& far = phase.between;
  const double messages = static_cast<double>(far.messages) * size.passes;
  return {between.overhead_us * overheads(far, false, size) + core_us(phase, between, size),
          std::max(between.gap_us * messages, machine.node_message_us * far.node_messages * size.passes),
          std::max(bytes_us(between, static_cast<double>(far.blocks) * size.block_bytes),
                   far.node_blocks * size.block_bytes * machine.node_byte_ns * us_of_ns)};
}

double batches_us(const PhaseWork& phase, const MessageCost& link, Size size) {
  return waiting_us(phase, link, size, [&](double bytes) { return link.latency_us + link.startup_us(bytes); });
}

Price max_rate(const PhaseWork& phase, const MessageCost& within, const MessageCost& between, const Machine& machine,
               Size size, bool sliding) {
  const PhaseLoad near = load_within(phase, within, machine, size), far = load_between(phase, between, machine, size);
  Price price;
  price.overhead = near.overhead + far.overhead;
  price.gap = near.gap + far.gap;
  price.bandwidth = near.bandwidth + far.bandwidth;
  price.latency = batches_us(phase, slowest(phase, within, between), size);
  if (sliding) price.latency = hidden(phase, price.latency, price.overhead + price.gap + price.bandwidth, size);
  return price;
}

/// Returns the price if the rank's core, the wire and the latency between nodes overlap: see price.hpp.
Price pipelined(const PhaseWork& phase, const MessageCost& within, const MessageCost& between, const Machine& machine,
                Size size, bool sliding, bool shared) {
  const PhaseLoad near = load_within(phase, within, machine, size), far = load_between(phase, between, machine, size);
  const bool flagged = shared && phase.within.messages > 0, leaves = phase.between.messages > 0;
  Price price;
  price.overhead = near.overhead + far.overhead;
  price.gap = near.gap + far.gap;
  price.latency = flagged ? static_cast<double>(phase.within.messages) * size.passes * within.latency_us : 0;
  price.bandwidth = leaves || flagged ? near.bandwidth : 0;
  if (phase.messages() == 0 || (flagged && !leaves)) return price;
  const double on_wire = leaves ? far.bandwidth : near.bandwidth;
  double waiting = batches_us(phase, leaves ? between : within, size);
  double batches = static_cast<double>(phase.batches) * size.passes;
  if (sliding) waiting = hidden(phase, waiting, price.total() + on_wire, size), batches = 1;
  const double core = price.total() / batches, wire = on_wire / batches, latency = waiting / batches;
  const double one = core * batches / (static_cast<double>(phase.messages()) * size.passes);
  const double exposed = std::max(0.0, latency - (core - one) / 2);
  const double longest = std::max(core + exposed, one + wire + latency);
  price.latency += batches * exposed;
  price.bandwidth += batches * (longest - core - exposed);
  return price;
}

Price phase_price(const PhaseWork& phase, const Work& work, const Machine& machine, Model model, Size size) {
  const MessageCost &within = work.shared ? machine.shared : machine.within, &between = machine.between;
  switch (model) {
    case Model::hockney: return hockney(phase, within, between, size);
    case Model::loggp: return loggp(phase, within, between, size, work.sliding);
    case Model::max_rate: return max_rate(phase, within, between, machine, size, work.sliding);
    default: return pipelined(phase, within, between, machine, size, work.sliding, work.shared);
  }
}

}  // namespace

double copies_us(const Copies& copies, const Copying& cost, double block_bytes, Rank ranks, double cache_bytes) {
  if (block_bytes == 0) return 0;
  const double byte_ns = cost.byte_ns_of(2 * block_bytes * static_cast<double>(ranks), cache_bytes);
  return copies.blocks * block_bytes * byte_ns * us_of_ns + copies.pieces * cost.piece_us;
}

Price price(const Work& work, const Machine& machine, Model model, std::int64_t block_bytes) {
  const std::int64_t segment = work.segment_bytes;
  const std::int64_t passes = segment == 0 || block_bytes <= segment ? 1 : (block_bytes - 1) / segment + 1;
  const Size size{static_cast<double>(block_bytes), static_cast<double>(passes),
                  work.rows && block_bytes <= RowSize::most_block_bytes,
                  std::accumulate(work.phases.begin(), work.phases.end(), 0.0, [](double sum, const PhaseWork& phase) {
                    return sum + (phase.between.blocks > 0 ? static_cast<double>(phase.between.messages) : 0);
                  })};
  Price sum;
  for (const PhaseWork& phase : work.phases) {
    const Price one = phase_price(phase, work, machine, model, size);
    sum.latency += one.latency;
    sum.overhead += one.overhead;
    sum.gap += one.gap;
    sum.bandwidth += one.bandwidth;
  }
  if (model == Model::hockney || model == Model::loggp) return sum;
  sum.pack = copies_us(work.packed, machine.pack, size.block_bytes, work.ranks, machine.cache_bytes) +
             copies_us(work.typed, machine.datatype, size.block_bytes, work.ranks, machine.cache_bytes) +
             (block_bytes == 0 ? 0 : work.typed_messages * machine.datatype_us);
  sum.call = machine.call_us;
  return sum;
}

}  // namespace swapmeet
