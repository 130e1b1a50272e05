/// Ranks of one node, over the memory that the explorer watches.
#pragma once

#include <initializer_list>
#include <span>
#include <vector>

#include "explorer.hpp"
#include "node/node.hpp"

/// How a node is, and where its numbers begin.
struct Setting {
  std::uint32_t ranks = 2;
  swapmeet::ChannelSize channel{2, 64};
  std::uint32_t row_block_bytes = 64;
  std::uint32_t first_number = 0;  ///< of cells and exchanges: how many there were before
  std::uint16_t first_call = 1;
  bool readable = true;  ///< the ranks may read each other's memory; else they refuse every offer
};

class NodeProgram : public Program {
 public:
  explicit NodeProgram(const Setting& setting);
  bool matters(std::size_t offset) const override;
  std::string name(std::size_t offset) const override;

 protected:
  using Rank = std::size_t;
  static constexpr std::size_t most_bytes = 320;  ///< of a block

  static Explorer& explorer() { return *Explorer::here(); }

  swapmeet::Node& node(Rank rank) { return *nodes_[rank]; }
  /// Makes the node of a rank in a part of the memory.
  void make_node(Rank rank, char* part);
  /// The rank needs the part no more.
  void leave_node(Rank rank);

  static char byte(std::size_t exchange, Rank from, Rank to, std::size_t index) {
    return static_cast<char>(1 + exchange * 61 + from * 17 + to * 5 + index * 7);
  }
  /// The blocks of a rank: to and from each other. In shared memory, for others may read there.
  char* outgoing(Rank me, Rank other) const;
  char* incoming(Rank me, Rank other) { return &incoming_[(me * setting_.ranks + other) * most_bytes]; }
  void fill(std::size_t exchange, Rank me, Rank other, std::size_t bytes);
  void expect(std::size_t exchange, Rank me, Rank other, std::size_t bytes);

  /// How the rank has come here does not matter: only what the node keeps, these transfers, and these numbers.
  void forget(Rank me, std::initializer_list<std::uint64_t> numbers,
              std::span<const swapmeet::Transfer* const> transfers);

  std::uint16_t call(std::size_t exchange) const { return static_cast<std::uint16_t>(setting_.first_call + exchange); }

  Setting setting_;
  swapmeet::NodeLayout layout_;

 private:
  void set_numbers(Rank me);

  swapmeet::Regions regions_;
  std::vector<std::unique_ptr<swapmeet::Node>> nodes_;
  std::vector<char> incoming_;
};
