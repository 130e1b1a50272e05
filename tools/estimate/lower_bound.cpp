#include "estimate/lower_bound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "schedule/elementary.hpp"

namespace swapmeet {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr std::int64_t exact_numbers = 128;  ///< rounds and messages are considered one by one up to this number
constexpr std::int64_t per_step = 32;        ///< above it, steps grow by 1/32

/// Returns 1, 2, ..., then numbers in equal ratios; `last` and last + 1 end the list.
std::vector<std::int64_t> numbers_to(std::int64_t last) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t n = 1; n <= last; n += n < exact_numbers ? 1 : n / per_step) numbers.push_back(n);
  if (numbers.back() != last) numbers.push_back(last);
  numbers.push_back(last + 1);
  return numbers;
}

/// A range of rounds, and of messages, from the first number to below the second. It gets one bound.
struct Interval {
  std::int64_t rounds, rounds_below, messages, messages_below;
};

class Bounding {
 public:
  Bounding(const Site& site, const NetworkCosts& costs, std::int64_t block_bytes)
      : site_(site), costs_(costs), bytes_(static_cast<double>(block_bytes)), q_(std::min(site.per_node, site.ranks)),
        nodes_((site.ranks + site.per_node - 1) / site.per_node), all_far_(q_ == 1), all_near_(nodes_ == 1) {
    const MessageCost& link = costs.between;
    node_ns_ = (costs.node_byte_ns > 0 ? costs.node_byte_ns : link.byte_ns) / site.links.host_links;
    large_ = !link.is_eager(bytes_);
    // bytes that a rank receives in a round
    const double most = (site.ranks - 1.0) * (site.balanced ? 1 : site.ranks) * bytes_;
    all_eager_ = link.is_eager(most);
    most_large_ = all_eager_ ? 0 : most / std::max(1.0, static_cast<double>(link.eager_bytes));
    const double far = std::max(0.0, link.latency_us - costs.hop_us) + site.links.nearest_hops * costs.hop_us;
    double far_startup =
        far + std::min(bytes_, static_cast<double>(link.fragment_bytes)) * link.fragment_byte_ns * us_of_ns;
    if (large_) far_startup += std::min(2 * link.latency_us * link.handshake_trips, far);  // or a segment more
    latency_ = kind(far_startup, costs.within_latency_us);
    one_ = kind(wire(link.byte_ns, bytes_), wire(costs.within_byte_ns, bytes_));
    const auto eager = static_cast<double>(link.eager_bytes);
    large_one_ = kind(wire(link.byte_ns, eager), wire(costs.within_byte_ns, eager));
    large_bytes_ = eager * shared_ns() * us_of_ns;
    // The bytes that every exchange transfers.
    const double others = static_cast<double>(site.ranks - q_);
    nic_ = q_ * others * bytes_ * node_ns_ * us_of_ns;
    links_ = site.links.blocks * bytes_ * costs.link_byte_ns * us_of_ns;
    if (block_bytes > 0) copy_ = bytes_ * costs.copying.byte_ns * us_of_ns + costs.copying.piece_us;
  }

  LowerBound find() const {
    LowerBound least;
    const auto at = [](auto& array, Limit limit) -> double& { return array[static_cast<std::size_t>(limit)]; };
    at(least.alone_us, Limit::call) = costs_.call_us + copy_;
    if (site_.ranks == 1) {
      least.us = at(least.parts_us, Limit::call) = costs_.call_us + copy_;
      return least;
    }
    const std::int64_t most = site_.ranks - 1;
    const double fewest =
        site_.ports == 0 ? 1 : std::ceil(elementary::log(site_.ranks) / elementary::log(site_.ports + 1.0) - 1e-9);
    at(least.alone_us, Limit::latency) = fewest * latency_;
    at(least.alone_us, Limit::messages) = std::bit_width(static_cast<std::uint64_t>(most)) * core_us(1);
    at(least.alone_us, Limit::nic) = nic_;
    at(least.alone_us, Limit::links) = links_;
    at(least.alone_us, Limit::memory) = all_near_ ? volume_us(static_cast<double>(most)) : 0;
    least.us = infinity;
    const std::vector<std::int64_t> messages = numbers_to(most);
    for (std::size_t k = 0; k + 1 < messages.size(); ++k) {
      const std::vector<std::int64_t> rounds = numbers_to(messages[k + 1] - 1);
      for (std::size_t d = 0; d + 1 < rounds.size(); ++d) {
        // more rounds only take longer
        if (costs_.call_us + copy_ + static_cast<double>(rounds[d]) * latency_ >= least.us) break;
        look_at({rounds[d], rounds[d + 1], messages[k], messages[k + 1]}, least);
      }
    }
    least.binding = static_cast<Limit>(std::ranges::max_element(least.parts_us) - least.parts_us.begin());
    return least;
  }

 private:
  /// Returns the value for messages between nodes, within them, or the lower one of both if there are both kinds.
  double kind(double far, double near) const { return all_far_ ? far : all_near_ ? near : std::min(far, near); }
  static double wire(double byte_ns, double bytes) { return (bytes + envelope_bytes) * byte_ns * us_of_ns; }

  double core_us(double peers) const {
    return all_far_ && !all_near_ ? costs_.between.core_us(peers) : costs_.between.overhead_us;
  }

  /// Returns the least time for the bytes if ranks send `blocks` blocks on average, distributed freely within and
  /// between nodes.
  double volume_us(double blocks) const { return blocks * site_.ranks / nodes_ * bytes_ * shared_ns() * us_of_ns; }

  /// Returns the time per byte on the shared resources of a node: its links, its memory, or both at the same time.
  double shared_ns() const {
    const double far = node_ns_, near = costs_.memory_byte_ns;
    return all_near_ ? near : all_far_ ? far : near > 0 && far > 0 ? 1 / (1 / near + 1 / far) : 0;
  }

  void look_at(const Interval& some, LowerBound& least) const {
    const auto most_rounds = static_cast<double>(some.rounds_below - 1);
    const auto most_messages = static_cast<double>(some.messages_below - 1);
    if (site_.ports > 0 && static_cast<double>(some.messages) > most_rounds * site_.ports) return;
    const double blocks = least_blocks(site_.ranks, some.rounds_below - 1, most_messages);
    if (blocks == infinity) return;
    const auto d = static_cast<double>(some.rounds), k = static_cast<double>(some.messages);
    const double m = core_us(k / most_rounds);
    const double waiting = d * latency_;
    const double volume = volume_us(blocks);
    const double spared = std::max({nic_, links_, volume, d * one_});
    // A step ends with its last message, of any size; or a message above the eager limit is on some wire.
    const double last = all_eager_ || (!large_ && large_one_ >= (most_messages + 1) * m + one_) ? m + one_ : 0;

    double us = infinity, core = 0, wires = 0;
    // `number`: messages above the eager limit, whose receives cost the core nothing
    const auto with_large = [&](double number) {
      number = std::clamp(number, 0.0, std::min(k, most_rounds * most_large_));
      double busy = m * (2 * k - number), carried = std::max(spared, number * large_bytes_);
      if (large_) {
        // handshakes, or segments, each of which is a message
        busy = m * k * (1 + (all_far_ ? std::min(1.0, 2 * costs_.between.handshake_trips) : 0));
        carried = spared;
      }
      const double longest = std::max({busy, m * k + waiting + d * last, waiting + carried});
      const double now = costs_.overlap * longest + (1 - costs_.overlap) * (busy + waiting + carried);
      if (now < us) us = now, core = busy, wires = carried;
    };
    if (large_) {
      with_large(k);
    } else if (all_eager_ || m == 0) {
      with_large(0);
    } else if (large_bytes_ == 0) {
      with_large(k);
    } else {
      // The time is convex and piecewise linear in the number, so its minimum is at an intersection of two pieces.
      for (const double meet :
           {0.0, k, spared / large_bytes_, k - (waiting + d * last) / m, (2 * k * m - waiting) / (m + large_bytes_),
            2 * k - (waiting + spared) / m, (k * m + d * last) / large_bytes_})
        with_large(meet);
    }
    us += costs_.call_us + copy_;
    if (us >= least.us) return;
    least.us = us;
    least.rounds = some.rounds, least.messages = k, least.blocks = blocks;
    least.parts_us = {costs_.call_us + copy_, waiting, core, 0, 0, 0};
    const Limit bytes = links_ >= wires ? Limit::links : all_near_ ? Limit::memory : Limit::nic;
    least.parts_us[static_cast<std::size_t>(bytes)] = wires;
  }

  const Site& site_;
  const NetworkCosts& costs_;
  double bytes_;
  Rank q_, nodes_;
  bool all_far_, all_near_;
  bool large_ = false;      ///< blocks are above the eager limit
  bool all_eager_ = false;  ///< all blocks that a rank can receive in a round are eager as one message
  double most_large_ = 0;   ///< limit on messages above the eager limit in a round
  double node_ns_ = 0;      ///< per byte, on the links to a host
  double latency_ = 0;      ///< per round
  double one_ = 0;          ///< a block alone on its wire
  double large_one_ = 0;    ///< the smallest message above the eager limit, alone
  double large_bytes_ = 0;  ///< the same on the links that its node shares
  double nic_ = 0, links_ = 0, copy_ = 0;
};

}  // namespace

double least_blocks(Rank ranks, std::int64_t rounds, double messages) {
  double left = ranks - 1.0, ways = 1, sum = 0;
  const auto d = static_cast<double>(rounds);
  const double each = messages / d;
  for (double j = 1; left > 0; ++j) {
    if (j > d) return left < 1e-6 * ranks ? sum : infinity;
    ways *= (d - j + 1) / j * each;
    const double reached = std::min(left, ways);
    sum += j * reached;
    left -= reached;
  }
  return sum;
}

LowerBound lower_bound(const Site& site, const NetworkCosts& costs, std::int64_t block_bytes) {
  return Bounding(site, costs, block_bytes).find();
}

}  // namespace swapmeet
