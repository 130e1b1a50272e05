/// Counts and work of exchanges in which ranks differ: places are proxies, some ranks lead, or nodes divide the grid
/// unevenly. PhaseTally counts them message by message; leaders are counted one by one (leader_counts.cpp).
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "model/counts.hpp"
#include "model/work.hpp"
#include "topology/arrangement.hpp"

namespace swapmeet {

/// A number of messages and the number of blocks in them.
struct Volume {
  std::int64_t messages = 0, blocks = 0;
  void add(std::int64_t more, std::int64_t of_blocks) { messages += more, blocks += of_blocks; }
  void keep_most(const Volume& other) {
    messages = std::max(messages, other.messages);
    blocks = std::max(blocks, other.blocks);
  }
  bool operator==(const Volume&) const = default;
};

/// Counts the messages and blocks that each rank and each node sends and receives in a phase.
class PhaseTally {
 public:
  /// Counts the first `ranks` ranks.
  PhaseTally(std::int64_t ranks, const Nodes& nodes);

  void add(Rank from, Rank to, std::int64_t messages, std::int64_t blocks);

  /// Returns the traffic of the phase, the largest numbers of any rank and node, and begins the next phase.
  PhaseWork take();

 private:
  struct Ends {
    Volume sent, received;
  };

  const Nodes& nodes_;
  std::array<std::vector<Ends>, 2> of_rank_, of_node_;  ///< index 0: between nodes; index 1: within nodes
};

/// Appends a phase with this number of batches to `work`, unless it has no messages. All messages count as equally
/// large.
void append(PhaseWork phase, std::int64_t batches, Work& work);

/// Adds the work of an exchange on a grid without proxies, but for the initial and final copies (rotations).
void grid_work(const Spec& spec, const Shape& shape, const std::vector<std::int32_t>& sizes, const Nodes& nodes,
               Work& work);

/// Counts the work of an exchange in its schedules.
void tally_schedules(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

/// Counts an exchange on a grid with proxies, whose digits are given. `most` holds the sizes of the grid.
void count_proxies(const Spec& spec, const Shape& shape, const std::vector<Digit>& digits, Counts& most);

/// Counts the work of an exchange on a grid with proxies, without the initial and final copies (rotations).
void proxy_work(const Spec& spec, const Shape& shape, const Nodes& nodes, Work& work);

/// Returns the counts of an exchange by leaders.
Counts count_leaders(const Spec& spec, const Shape& shape);

/// Adds the phases and copies of an exchange by leaders to `work`, which must be empty.
void leader_work(const Spec& spec, const Shape& shape, Work& work);

/// Returns the number of batches of `window` messages; 0: all messages are one batch.
inline std::int64_t batches(std::int64_t messages, std::int64_t window) {
  return window == 0 ? messages > 0 : (messages + window - 1) / window;
}

/// Returns h(z): how many of the offsets 0..size-1 have the value z in this digit.
inline std::int64_t offsets_with(const Digit& digit, std::int64_t size, std::int64_t value) {
  const std::int64_t weight = digit.weight, period = weight * digit.radix;
  return size / period * weight + std::clamp(size % period - value * weight, std::int64_t{0}, weight);
}

}  // namespace swapmeet
