/// ByLeaders is the common part of exchanges by leaders, among all ranks (leaders.cpp) and with neighbours of a virtual
/// topology (neighbour_leaders.cpp). It knows the rank's place among the members and leaders of its node, and adds the
/// rounds of a phase.
#pragma once

#include <cstdint>
#include <span>

#include "algorithms/phase.hpp"
#include "topology/leader_map.hpp"

namespace swapmeet {

class ByLeaders {
 protected:
  ByLeaders(const Spec& spec, const Shape& shape, Rank rank)
      : spec_(spec), rank_(rank), map_(shape, spec.leaders), flow_(shape, rank), node_(map_.node_of(rank)),
        members_(map_.members(node_)), member_(map_.member_of(rank)), group_(map_.group_of(rank)),
        mine_(map_.members(group_)) {}

  bool leads() const { return mine_.front() == rank_; }

  void add_rounds(std::int32_t positions, const PositionedMessages& outgoing, const PositionedMessages& incoming) {
    swapmeet::add_rounds(flow_, spec_, positions, spec_.completion == Completion::all, outgoing.list(),
                         incoming.list());
  }

  const Spec& spec_;
  Rank rank_;
  LeaderMap map_;
  FlowBuilder flow_;
  std::int32_t node_;
  std::span<const Rank> members_;  ///< of this rank's node
  std::int32_t member_;            ///< index of this rank among them
  Group group_;                    ///< the group of this rank
  std::span<const Rank> mine_;     ///< members of the group; the first is its leader
};

}  // namespace swapmeet
