/// One member of a node under test: in each step it exchanges a block with every other by rows, as all others do.
#pragma once

#include "messages.hpp"

class RowMember {
 public:
  RowMember(const Settings& settings, swapmeet::Node& node, std::uint32_t me)
      : settings_(settings), node_(node), me_(me) {}

  /// All steps. Returns how many blocks were wrong; says which.
  int run();

 private:
  /// A block on its way.
  struct Block {
    std::uint32_t other;
    bool outgoing;
    std::size_t bytes, expected;
    bool failed;
    std::vector<char> memory;
    swapmeet::Piece piece;
    swapmeet::Transfer transfer;
  };

  void step(std::uint32_t number);
  Block block(std::uint32_t step, std::uint32_t other, bool outgoing) const;
  void start(Block& block, std::uint16_t call);
  void check(const Block& block, std::uint32_t step);

  const Settings& settings_;
  swapmeet::Node& node_;
  std::uint32_t me_;
  std::uint64_t draws_ = 0;
  int wrong_ = 0;
};
