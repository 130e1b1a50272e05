/// Exchanges by rows: as the library does them at once, and as its engine does.
#pragma once

#include <array>

#include "node/row_exchange.hpp"
#include "node_program.hpp"

/// The blocks of an exchange: of one size, or listed.
struct RowExchange {
  std::size_t equal_bytes;              ///< 0: they are listed
  std::array<std::size_t, 3> listed{};  ///< by (from + 2 * to) % 3
  bool fails = false;                   ///< rank 0 has no data

  std::size_t bytes(std::size_t from, std::size_t to) const {
    return equal_bytes > 0 ? equal_bytes : listed[(from + 2 * to) % 3];
  }
};

class RowProgram : public NodeProgram {
 public:
  RowProgram(const Setting& setting, std::vector<RowExchange> exchanges);

 protected:
  /// The exchange begins, with the blocks in outgoing().
  void begin(Rank me, std::size_t exchange);

  std::vector<RowExchange> exchanges_;
  std::vector<std::vector<swapmeet::NodeLink*>> links_;  ///< of each rank: the others
};

/// By begin_by_rows() and read_late_rows(): blocks that fit.
class RowsAtOnce : public RowProgram {
 public:
  RowsAtOnce(const Setting& setting, std::vector<RowExchange> exchanges);
  void run(Rank me) override;

 private:
  void forget_late(Rank me, std::size_t exchange);

  std::vector<swapmeet::RowPeers> peers_;  ///< of each rank
};

/// By Transfers, as the engine and the calls that do not wait.
class RowsByTransfers : public RowProgram {
 public:
  RowsByTransfers(const Setting& setting, std::vector<RowExchange> exchanges);
  void run(Rank me) override;

 private:
  struct Block {
    swapmeet::Piece piece;
    swapmeet::Transfer transfer;
  };
  void start(Rank me, Rank other, std::size_t exchange, bool is_sent, Block& block);

  std::vector<std::vector<Block>> blocks_;
  std::vector<std::vector<const swapmeet::Transfer*>> transfers_;  ///< of these
};
