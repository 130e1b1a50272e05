/// The state of a plan for blocks of unequal size that is kept from call to call (sized.hpp).
#pragma once

#include <array>
#include <vector>

#include "exchange/fabric.hpp"
#include "model/threshold.hpp"
#include "observe/traffic.hpp"
#include "schedule/flow.hpp"
#include "schedule/spec.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// A rank's numbers for the agreement on sizes, of which the maximum over all ranks is taken: bytes of the largest
/// block; minus the bytes of the smallest, so that its maximum gives the minimum; then, if the threshold depends on them,
/// the number of blocks in each size class.
using AgreedNumbers = std::array<std::int64_t, 2 + size_classes>;

struct SizedState {
  /// `node`: for messages within the node. `sends_directly`: some blocks may be sent directly. `among`: the graph for
  /// a neighbourhood collective, whose edges are the blocks; nullptr: the flow has a block for each rank.
  SizedState(Flow what, Sizes treatment, const NodeTransport& node, bool sends_directly,
             const Neighbourhood* among = nullptr);

  void make_room_for_background();
  void list_blocks();
  void list_blocks(const Neighbourhood& among);

  /// A block that this rank sends or forwards. `address` is nullptr if its data were lost. `message` is the received
  /// message that holds it; own blocks have none.
  struct Item {
    const char* address = nullptr;
    std::int64_t bytes = 0;
    std::uint32_t message = 0;
  };

  /// The memory in which the blocks of a message were gathered for sending.
  struct Gathered {
    char* memory = nullptr;
    std::int64_t bytes = 0;
  };

  /// A block to another rank, or from one.
  struct End {
    Rank peer = 0;
    std::int32_t block = 0;
  };

  Flow flow;
  Sizes sizes;
  std::vector<End> to, from;  ///< all blocks, in the order in which they are sent if they are sent directly
  std::vector<OwnBlock> own;  ///< blocks of this rank for itself
  /// number of each message among those with the same peer that are under way together, for its tag
  std::vector<std::uint32_t> send_numbers, receive_numbers;
  std::int64_t most_together = 0;     ///< number of messages from one rank to another that may be under way together
  std::vector<Item> items;            ///< by number of the block in the flow
  std::vector<Gathered> gathered;     ///< by slot of the engine
  std::vector<std::uint8_t> awaited;  ///< by slot of the receives: 1 until the header message has arrived
  ReceiveBuffers buffers;
  RoundMessages messages, background;
  SentTraffic traffic;
  /// buffers of an agreement and of its messages: the number of the call, itself and negative, then the agreed numbers
  std::array<std::int64_t, 2 + std::tuple_size_v<AgreedNumbers>> agreement{};
  std::array<std::int64_t, 2 * (2 + std::tuple_size_v<AgreedNumbers>)> agreement_room{};
};

}  // namespace swapmeet
