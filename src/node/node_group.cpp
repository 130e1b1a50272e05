#include "node/node_group.hpp"

#include <algorithm>
#include <cstring>

#include "team/messages.hpp"

namespace swapmeet {

NodeGroup::NodeGroup(Team& team, bool gathers, const std::vector<std::int32_t>& nodes)
    : all_(team), gathers_(gathers), members_(nodes.size(), -1) {
  for (std::size_t other = 0; other < nodes.size(); ++other) {
    if (nodes[other] != nodes[static_cast<std::size_t>(all_.rank())]) continue;
    members_[other] = count();
    ranks_.push_back(static_cast<int>(other));
  }
}

int NodeGroup::allgather_bytes(const void* mine, std::size_t bytes, void* all) const {
  if (!gathers_ && all_.has_messages() && count() < all_.size())
    return gather_by_messages(all_, ranks_, mine, bytes, static_cast<char*>(all));
  // For all ranks together; at least one byte of each. The reserve of memory serves it (buffers/reserve.cpp).
  constexpr std::size_t most_at_a_time = 48 << 10;
  const std::size_t most = std::clamp<std::size_t>(most_at_a_time / members_.size(), 1, bytes);
  std::vector<char> received(members_.size() * most);
  for (std::size_t first = 0; first < bytes; first += most) {
    const std::size_t part = std::min(most, bytes - first);
    if (const int error =
            swapmeet::allgather_bytes(static_cast<const char*>(mine) + first, part, received.data(), all_))
      return error;
    auto* to = static_cast<char*>(all) + first;
    for (const int rank : ranks_) {
      std::memcpy(to, received.data() + static_cast<std::size_t>(rank) * part, part);
      to += bytes;
    }
  }
  return MPI_SUCCESS;
}

std::string NodeGroup::open(std::size_t bytes, Segment& segment) const {
  const bool makes = me() == 0 && count() > 1;  // a rank that is alone does not need it
  std::string problem = makes ? segment.make(bytes, Segment::Naming::of_system) : "";
  std::vector<SegmentName> names;
  if (allgather(problem.empty() ? segment.name() : SegmentName{}, names) != MPI_SUCCESS)
    return "the ranks of a node cannot send one another the names of their shared memory";
  if (me() != 0 && names.front().random != 0) problem = segment.open(names.front(), bytes);
  return problem;
}

bool NodeGroup::share(std::size_t bytes, std::size_t first, std::size_t mine, Segment& segment,
                      std::string& problem) const {
  const bool opened = no_rank_has(open(bytes, segment), problem, all_);
  segment.unlink();  // from here on a killed process leaves nothing behind
  if (!opened) return false;
  const bool reserved = no_rank_has(segment.memory() ? segment.reserve(first, mine) : "", problem, all_);
  segment.close_file();
  return reserved;
}

}  // namespace swapmeet
