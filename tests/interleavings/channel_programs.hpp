/// Exchanges by channels: messages as data, of one cell and of several, and offers of a single copy; in place; and parts of
/// an arena that one communicator takes after another.
#pragma once

#include "node/arenas.hpp"
#include "node_program.hpp"

/// Messages of an exchange, from each rank to each other.
struct ChannelExchange {
  std::vector<std::size_t> bytes;  ///< of each; how many there are
  bool offered = false;            ///< all of them
  bool in_place = false;           ///< they take the place of what goes the other way
  bool one_way = false;            ///< from rank 0 alone
  bool fails = false;              ///< rank 0 has no data
  bool receives_first = false;     ///< looks at what arrives before what leaves
};

class ChannelProgram : public NodeProgram {
 public:
  ChannelProgram(const Setting& setting, std::vector<ChannelExchange> exchanges);
  void run(Rank me) override;

 protected:
  void exchange(Rank me, std::size_t number);

  std::vector<ChannelExchange> exchanges_;

 private:
  struct Message {
    Rank other;
    bool is_sent;
    swapmeet::Piece piece;
    swapmeet::Transfer transfer;
  };
  void start(Rank me, std::size_t number, Message& message);

  std::vector<std::vector<Message>> messages_;
  std::vector<std::vector<const swapmeet::Transfer*>> transfers_;  ///< of these
};

/// Communicators one after the other, each in a part of the arena of rank 0: an exchange in each.
class ArenaProgram : public ChannelProgram {
 public:
  ArenaProgram(const Setting& setting, std::vector<ChannelExchange> exchanges);
  void run(Rank me) override;

 private:
  /// What rank 0 tells the others by MPI, which orders what comes after.
  std::uint64_t agree(Rank me, std::uint64_t first, std::size_t round);

  std::vector<swapmeet::Arenas> arenas_;
};
