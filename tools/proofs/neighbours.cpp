#include "proofs/neighbours.hpp"

#include <algorithm>
#include <optional>

#include "proofs/flow_execution.hpp"
#include "proofs/schedule_execution.hpp"

namespace swapmeet {

namespace {

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

void check_neighbourhood(const Neighbourhood& one, Rank ranks, Rank rank, Verdict& verdict) {
  const auto exists = [&](Rank peer) { return peer == nobody || (peer >= 0 && peer < ranks); };
  if (one.ranks != ranks || one.rank != rank || !std::ranges::all_of(one.to, exists) ||
      !std::ranges::all_of(one.from, exists))
    verdict.add("neighbourhood " + std::to_string(rank) + " is of another rank, or has neighbours that do not exist");
}

void check_neighbourhoods(std::span<const Neighbourhood> neighbourhoods, std::size_t programs, Verdict& verdict) {
  const auto ranks = static_cast<Rank>(neighbourhoods.size());
  if (programs != neighbourhoods.size()) return verdict.add("not as many schedules as ranks");
  for (Rank r = 0; r < ranks; ++r) check_neighbourhood(neighbourhoods[static_cast<std::size_t>(r)], ranks, r, verdict);
}

void check_degrees(const std::optional<Degrees>& found, const Neighbourhood& neighbourhood, Verdict& verdict) {
  if (found != neighbourhood.degrees())
    verdict.add("schedule " + std::to_string(neighbourhood.rank) +
                " is not for as many blocks as its rank has neighbours");
}

}  // namespace

Verdict verify_neighbours(std::span<const Schedule> schedules, std::span<const Neighbourhood> neighbourhoods) {
  Verdict verdict;
  check_neighbourhoods(neighbourhoods, schedules.size(), verdict);
  for (std::size_t r = 0; r < schedules.size() && verdict.proved(); ++r) {
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
    check_degrees(schedules[r].neighbours, neighbourhoods[r], verdict);
  }
  if (!verdict.proved()) return verdict;
  const AmongNeighbours ends(neighbourhoods, verdict);
  if (verdict.proved()) execute_schedules(schedules, ends, {}, verdict);
  return verdict;
}

Verdict verify_neighbours(std::span<const Flow> flows, std::span<const Neighbourhood> neighbourhoods) {
  Verdict verdict;
  check_neighbourhoods(neighbourhoods, flows.size(), verdict);
  for (std::size_t r = 0; r < flows.size() && verdict.proved(); ++r)
    check_degrees(flows[r].neighbours, neighbourhoods[r], verdict);
  if (!verdict.proved()) return verdict;
  const AmongNeighbours ends(neighbourhoods, verdict);
  if (verdict.proved()) execute_flows(flows, ends, {}, verdict);
  return verdict;
}

}  // namespace swapmeet
