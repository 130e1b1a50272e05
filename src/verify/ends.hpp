/// The correct results for the proofs: the block that each receive block must hold at the end.
#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "schedule/flow.hpp"
#include "topology/neighbourhood.hpp"
#include "verify/verify.hpp"

namespace swapmeet {

using Block = std::int64_t;  // source rank · stride + number in its send buffer
inline constexpr Block nothing = -1;

/// The result of an all-to-all: block d of each rank goes to rank d.
struct AllToAll {
  Block stride;

  Rank destination(Block block) const { return static_cast<Rank>(block % stride); }
  Block at_end(std::size_t rank, std::size_t number) const {
    return static_cast<Block>(number) * stride + static_cast<Block>(rank);
  }
};

/// The result of a neighbourhood collective, by the lists of neighbours, as MPI matches them. On a Cartesian grid block
/// b goes to block b^1 of the neighbour. Else the n-th block for a rank goes to the n-th of the blocks that this rank
/// receives from the sender.
class AmongNeighbours {
 public:
  Block stride = 1;

  AmongNeighbours(std::span<const Neighbourhood> all, Verdict& verdict) : all_(all), ends_(all.size()) {
    for (const Neighbourhood& one : all) stride = std::max(stride, static_cast<Block>(one.to.size()));
    for (std::size_t r = 0; r < all.size(); ++r)
      for (std::size_t b = 0; b < all[r].from.size(); ++b) {
        ends_[r].push_back(nothing);
        const Rank source = all[r].from[b];
        if (source == nobody) continue;
        const std::int64_t sent = sent_from(static_cast<Rank>(r), b);
        if (sent < 0)
          verdict.add("rank " + std::to_string(r) + " has rank " + std::to_string(source) +
                      " as a neighbour for its block " + std::to_string(b) + ", but not the other way round");
        else ends_[r].back() = static_cast<Block>(source) * stride + sent;
      }
  }

  Rank destination(Block block) const {
    return all_[static_cast<std::size_t>(block / stride)].to[static_cast<std::size_t>(block % stride)];
  }
  Block at_end(std::size_t rank, std::size_t number) const { return ends_[rank][number]; }

 private:
  /// Returns the number of the block that its source sends for block `b` of `rank`; -1 if there is none.
  std::int64_t sent_from(Rank rank, std::size_t b) const {
    const Neighbourhood& mine = all_[static_cast<std::size_t>(rank)];
    const std::vector<Rank>& to = all_[static_cast<std::size_t>(mine.from[b])].to;
    if (mine.grid) return (b ^ 1) < to.size() && to[b ^ 1] == rank ? static_cast<std::int64_t>(b ^ 1) : -1;
    auto n = std::count(mine.from.begin(), mine.from.begin() + static_cast<std::ptrdiff_t>(b), mine.from[b]);
    for (std::size_t s = 0; s < to.size(); ++s)
      if (to[s] == rank && n-- == 0) return static_cast<std::int64_t>(s);
    return -1;
  }

  std::span<const Neighbourhood> all_;
  std::vector<std::vector<Block>> ends_;
};

/// Executes flows symbolically and adds findings to `verdict`. Requires one flow for each rank, with as many blocks as
/// `ends` has.
template <class Ends>
void execute_flows(std::span<const Flow> flows, const Ends& ends, const Progress& progress, Verdict& verdict);

}  // namespace swapmeet
