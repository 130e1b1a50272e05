#include "row_programs.hpp"

#include <utility>

#include "scenarios.hpp"

using namespace swapmeet;

RowProgram::RowProgram(const Setting& setting, std::vector<RowExchange> exchanges)
    : NodeProgram(setting), exchanges_(std::move(exchanges)), links_(setting.ranks) {
  for (Rank me = 0; me < setting.ranks; ++me) {
    make_node(me, shared_memory());
    for (std::uint32_t i = 1; i < setting.ranks; ++i)
      links_[me].push_back(&node(me).link(static_cast<std::uint32_t>((me + i) % setting.ranks)));
  }
}

void RowProgram::begin(Rank me, std::size_t exchange) {
  for (const NodeLink* const link : links_[me])
    fill(exchange, me, link->member, exchanges_[exchange].bytes(me, link->member));
  node(me).rows().begin(call(exchange), exchanges_[exchange].equal_bytes);
}

// --- at once -------------------------------------------------------------------------------------------------------------

RowsAtOnce::RowsAtOnce(const Setting& setting, std::vector<RowExchange> exchanges)
    : RowProgram(setting, std::move(exchanges)), peers_(setting.ranks) {
  for (Rank me = 0; me < setting.ranks; ++me)
    peers_[me] = {links_[me], links_[me], std::vector<std::uint32_t>(setting.ranks)};
}

/// The numbers of blocks that have not been read yet are all that read_late_rows() knows besides.
void RowsAtOnce::forget_late(Rank me, std::size_t exchange) {
  std::size_t left = 0;
  for (const NodeLink* const link : links_[me]) left += exchanges_[exchange].bytes(link->member, me) > 0;
  left -= node(me).rows().raised() ? node(me).rows().seen_ : left;
  std::uint64_t late = 0;
  for (std::size_t i = 0; i < left; ++i) late = late << 8 | (peers_[me].late[i] + 1);
  forget(me, {exchange, 1, late}, {});
}

void RowsAtOnce::run(Rank me) {
  const std::span<NodeLink* const> others(links_[me]);
  for (std::size_t exchange = 0; exchange < exchanges_.size(); ++exchange) {
    begin(me, exchange);
    const auto bytes = [&](std::size_t i, bool is_sent) {
      return is_sent ? exchanges_[exchange].bytes(me, others[i]->member)
                     : exchanges_[exchange].bytes(others[i]->member, me);
    };
    const auto out = [&](std::size_t i) { return Piece{outgoing(me, others[i]->member), bytes(i, true)}; };
    const auto in = [&](std::size_t i) { return Piece{incoming(me, others[i]->member), bytes(i, false)}; };
    const auto turn = [&](bool moved) {
      explorer().must(node(me).broken() == Broken::no, "is out of step");
      explorer().turn(moved);
    };
    const auto receive = [&](NodeLink& link, const Piece& block) {  // as NodeMessages::receive_unexpected(), but waits
      Transfer transfer = Transfer::by_rows(link, {&block, 1}, block.bytes, false, call(exchange));
      while (true) {
        const bool moved = node(me).advance(transfer);
        if (transfer.done()) return transfer.cut || transfer.failed ? 1 : 0;
        turn(moved);
      }
    };
    RowProgress progress;
    while (true) {  // as Fabric::exchange_rows()
      bool moved = false;
      int error = begin_by_rows(progress, node(me), peers_[me], out, in, [] {});
      if (error == unfinished && progress.written)
        error = read_late_rows(progress, node(me), peers_[me], in, receive, moved);
      explorer().must(error == 0 || error == unfinished, "has an error");
      if (error == 0) break;
      turn(moved);
      forget_late(me, exchange);
    }
    while (!node(me).rows().raised() && !node(me).raise()) explorer().turn(false);  // Fabric::raise_row_flag()
    for (std::size_t i = 0; i < others.size(); ++i) expect(exchange, me, others[i]->member, bytes(i, false));
    forget(me, {exchange, 0}, {});
  }
}

// --- by transfers --------------------------------------------------------------------------------------------------------

RowsByTransfers::RowsByTransfers(const Setting& setting, std::vector<RowExchange> exchanges)
    : RowProgram(setting, std::move(exchanges)), blocks_(setting.ranks, std::vector<Block>(2 * (setting.ranks - 1))),
      transfers_(setting.ranks) {}

/// As NodeMessages::start().
void RowsByTransfers::start(Rank me, Rank other, std::size_t exchange, bool is_sent, Block& block) {
  NodeLink& link = node(me).link(static_cast<std::uint32_t>(other));
  NodeRows& rows = node(me).rows();
  const RowExchange& is = exchanges_[exchange];
  const std::size_t bytes = is_sent ? is.bytes(me, other) : is.bytes(other, me);
  block.piece = {is_sent ? outgoing(me, other) : incoming(me, other), bytes};
  const std::span<const Piece> pieces(&block.piece, 1);
  block.transfer.state = Transfer::State::done;
  if (bytes == 0) return;
  if (is_sent && is.fails && me == 0) return rows.mark_failed(link.member);
  if (is_sent && bytes > rows.block_bytes()) {
    rows.mark_elsewhere(link.member);
    block.transfer = Transfer::send(link, pieces, bytes, {}, call(exchange));
    node(me).advance(block.transfer);
    return;
  }
  if (is_sent && rows.ready()) return rows.write(link.member, block.piece);
  if (is_sent) rows.defer();
  block.transfer = Transfer::by_rows(link, pieces, bytes, is_sent, call(exchange));
}

void RowsByTransfers::run(Rank me) {
  for (std::size_t exchange = 0; exchange < exchanges_.size(); ++exchange) {
    begin(me, exchange);
    std::size_t number = 0;
    for (const bool is_sent : {false, true})
      for (const NodeLink* const link : links_[me]) start(me, link->member, exchange, is_sent, blocks_[me][number++]);
    std::vector<const Transfer*>& transfers = transfers_[me];
    transfers.clear();
    for (const Block& block : blocks_[me]) transfers.push_back(&block.transfer);
    node(me).rows().mark_posted();
    bool raised = node(me).raise();
    for (std::size_t left = 1; left > 0;) {
      bool moved = !raised && (raised = node(me).raise());
      left = !raised;
      for (Block& block : blocks_[me]) {
        if (!block.transfer.done()) moved |= node(me).advance(block.transfer);
        left += !block.transfer.done();
      }
      explorer().must(node(me).broken() == Broken::no, "is out of step");
      if (left == 0) break;
      explorer().turn(moved);
      forget(me, {exchange, 2, raised}, transfers);
    }
    for (const NodeLink* const link : links_[me]) {
      const bool failed = exchanges_[exchange].fails && link->member == 0;
      expect(exchange, me, link->member, failed ? 0 : exchanges_[exchange].bytes(link->member, me));
    }
    forget(me, {exchange, 0}, {});
  }
}
