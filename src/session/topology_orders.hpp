/// Orders of the topology on a communicator: its first rank reads the table of each of them (topology/slot_table.hpp) once and
/// gives every rank its part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "team/peers.hpp"
#include "topology/endpoints.hpp"

namespace swapmeet {

/// What has come of an order, the same on all ranks but for the rows.
struct MadeOrder {
  OrderSource source;
  std::vector<std::int32_t> member_of;   ///< for each rank, who it is of those that meet
  std::shared_ptr<const SlotRows> rows;  ///< of this rank, or its node
  std::string problem;                   ///< why there are none; "": there are
  std::string summary;                   ///< how good it is, for people
};

class Orders {
 public:
  /// The order of `spec`, read when it is first asked for. Collective over `peers`, whose ranks are those of `shape`, and who can send messages.
  /// nullptr: the spec asks for none.
  const MadeOrder* find(const Spec& spec, const Shape& shape, Rank rank, const Peers& peers);

  /// `shape` with the order that was made for `spec`.
  Shape shape_for(const Spec& spec, const Shape& shape) const;

 private:
  const MadeOrder* known(const OrderSource& source, const Endpoints& all) const;
  std::vector<std::unique_ptr<MadeOrder>> made_;
};

}  // namespace swapmeet
