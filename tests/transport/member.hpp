/// One member of a node under test: exchanges the planned messages with the others, in a random order, and checks them.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "messages.hpp"

class Member {
 public:
  Member(const Settings& settings, swapmeet::Node& node, std::uint32_t me)
      : settings_(settings), node_(node), me_(me) {}

  /// All steps. Returns how many messages were wrong; says which.
  int run();

 private:
  /// The messages to, or from, another member in a step, in their order.
  struct Queue {
    std::uint32_t other;
    bool outgoing;
    std::vector<Message> messages;
    std::vector<std::unique_ptr<Scattered>> memory;
    std::vector<swapmeet::Transfer> transfers;
    std::size_t next = 0;

    bool done() const { return next == transfers.size(); }
  };

  std::vector<Queue> queues(std::uint32_t step);
  Queue queue(std::uint32_t step, std::uint32_t other, bool outgoing);
  bool advance(Queue& queue);
  void complain();
  bool right(const Queue& queue, std::size_t k) const;

  const Settings& settings_;
  swapmeet::Node& node_;
  std::uint32_t me_;
  std::uint64_t draws_ = 0;
  int wrong_ = 0;
};
