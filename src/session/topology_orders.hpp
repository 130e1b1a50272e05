/// The topology orders of a communicator. Rank 0 reads the table of each order once (topology/slot_table.hpp), and
/// sends every rank its part.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "team/team.hpp"
#include "topology/endpoints.hpp"

namespace swapmeet {

/// An order that was read, or the reason why it cannot be used. The same on all ranks except `rows`.
struct MadeOrder {
  OrderSource source;
  std::vector<std::int32_t> member_of;   ///< for each rank, its endpoint (topology/endpoints.hpp)
  std::shared_ptr<const SlotRows> rows;  ///< rows of the table for this rank's endpoint; nullptr: it was not read
  std::string problem;                   ///< why the order cannot be used; "": it can
  std::string summary;                   ///< number of slots and their lower bound, to be printed
};

class Orders {
 public:
  /// The order that `spec` asks for; nullptr if it asks for none. The first call for an order reads it, and is
  /// collective over `team`, which must have the ranks of `shape` and be able to send messages.
  const MadeOrder* find(const Spec& spec, const Shape& shape, Team& team);

  /// Returns `shape` with the order that find() has made for `spec`, if any.
  Shape shape_for(const Spec& spec, const Shape& shape) const;

 private:
  const MadeOrder* known(const OrderSource& source, const Endpoints& all) const;
  std::vector<std::unique_ptr<MadeOrder>> made_;
};

}  // namespace swapmeet
