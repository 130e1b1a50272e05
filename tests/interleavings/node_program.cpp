// Compiled with -fno-access-control: numbers are set to where they wrap around, and all that a node keeps is read.
#include "node_program.hpp"

#include <array>
#include <cstring>
#include <utility>

#include "scenarios.hpp"

using namespace swapmeet;

namespace {

constexpr std::size_t outgoing_at = std::size_t{60} << 10;  ///< in shared memory, behind all parts
constexpr std::size_t memory_bytes = std::size_t{64} << 10;
alignas(4096) char memory[memory_bytes];

std::string from_to(std::size_t from, std::size_t to) {
  return " from rank " + std::to_string(from) + " to " + std::to_string(to);
}

std::string name_of_row(std::size_t member, std::size_t row, std::size_t at) {
  const char* const what = at < RowSize::flag_bytes ? "row flag" : "row bytes";
  return std::string(what) + " of rank " + std::to_string(member) + ", row " + std::to_string(row) +
         (at < RowSize::flag_bytes ? "" : ", byte " + std::to_string(at));
}

std::string name_of_cell(std::size_t cell, std::size_t at) {
  if (at == offsetof(Cell, number)) return "cell number, of cell " + std::to_string(cell);
  return std::string(at < sizeof(Cell) - sizeof Cell::payload ? "cell head" : "cell bytes") + ", of cell " +
         std::to_string(cell);
}

}  // namespace

char* shared_memory() { return memory; }
std::size_t shared_bytes() { return memory_bytes; }

NodeProgram::NodeProgram(const Setting& setting)
    : setting_(setting), layout_{setting.ranks, setting.channel, setting.row_block_bytes}, nodes_(setting.ranks),
      incoming_(std::size_t{setting.ranks} * setting.ranks * most_bytes) {}

void NodeProgram::make_node(Rank rank, char* part) {
  const std::vector<pid_t> processes(setting_.ranks, 1);
  let_ranks_read_others(setting_.readable);
  nodes_[rank] =
      std::make_unique<Node>(NodeMemory(part), layout_, static_cast<std::uint32_t>(rank), processes, regions_);
  if (setting_.first_number != 0) set_numbers(rank);
}

/// As the destructor of Node, which would lose memory if the execution ended within it.
void NodeProgram::leave_node(Rank rank) {
  const NodeMemory last(std::move(nodes_[rank]->memory_));
  nodes_[rank].reset();
}

/// As after so many cells and exchanges.
void NodeProgram::set_numbers(Rank me) {
  const std::uint32_t number = setting_.first_number;
  for (std::uint32_t other = 0; other < setting_.ranks; ++other) {
    NodeLink& link = nodes_[me]->link(other);
    link.out.filled_ = link.out.emptied_ = link.in.emptied_ = number;
    link.in.acknowledgement_->emptied = number;
    for (std::uint32_t cell = 0; cell < setting_.channel.cells; ++cell)
      link.out.ring_[number - 1 - cell].number = number - cell;
  }
  NodeRows& rows = nodes_[me]->rows();
  rows.number_ = number;
  for (const std::uint32_t exchange : {number - 1, number})
    rows.flag_cell(static_cast<std::uint32_t>(me), exchange) = RowFlag::packed(exchange, 0, 8);
}

/// Not on which CPU a rank says that it runs.
bool NodeProgram::matters(std::size_t offset) const {
  const std::size_t at = offset % layout_.bytes();  // parts follow one another
  return offset >= outgoing_at || at < NodeLayout::waiter_slot(0) || at >= NodeLayout::waiter_slot(setting_.ranks);
}

std::string NodeProgram::name(std::size_t offset) const {
  if (offset >= outgoing_at)
    return "the blocks of rank " + std::to_string((offset - outgoing_at) / most_bytes / setting_.ranks);
  offset %= layout_.bytes();  // parts follow one another
  if (offset < sizeof(PartHeader)) return offset == offsetof(PartHeader, closed) ? "closed" : "abandoned";
  const std::size_t heads = layout_.rows().heads_bytes(), head = layout_.rows().head_bytes();
  for (std::uint32_t member = 0; member < setting_.ranks; ++member) {
    if (heads > 0 && offset - layout_.row_heads(member) < heads) {
      const std::size_t at = offset - layout_.row_heads(member);
      return name_of_row(member, at / head, at % head);
    }
    if (const std::size_t at = offset - layout_.acknowledgements(member); at < setting_.ranks * sizeof(Acknowledgement))
      return (at % sizeof(Acknowledgement) == 0 ? "cells emptied" : "offers refused") +
             from_to(at / sizeof(Acknowledgement), member);
    if (const std::size_t at = offset - layout_.cells(member);
        at < std::size_t{setting_.ranks} * setting_.channel.cells * sizeof(Cell)) {
      const std::size_t cell = at / sizeof(Cell);
      return name_of_cell(cell % setting_.channel.cells, at % sizeof(Cell)) +
             from_to(member, cell / setting_.channel.cells);
    }
    if (offset >= layout_.row_bulks(member) && offset < layout_.bulk(member + 1))
      return "row bulk of rank " + std::to_string(member);
    if (offset >= layout_.bulk(member) && offset < layout_.bulk(member + 1))
      return "cell bulk of rank " + std::to_string(member);
  }
  return "byte " + std::to_string(offset);
}

char* NodeProgram::outgoing(Rank me, Rank other) const {
  return memory + outgoing_at + (me * setting_.ranks + other) * most_bytes;
}

void NodeProgram::fill(std::size_t exchange, Rank me, Rank other, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) outgoing(me, other)[i] = byte(exchange, me, other, i);
}

void NodeProgram::expect(std::size_t exchange, Rank me, Rank other, std::size_t bytes) {
  for (std::size_t i = 0; i < most_bytes; ++i)
    if (incoming(me, other)[i] != (i < bytes ? byte(exchange, other, me, i) : 0))
      explorer().must(false, "receives a wrong byte " + std::to_string(i) + from_to(other, me) + ", exchange " +
                                 std::to_string(exchange));
  std::memset(incoming(me, other), 0, most_bytes);
}

void NodeProgram::forget(Rank me, std::initializer_list<std::uint64_t> numbers,
                         std::span<const Transfer* const> transfers) {
  const Node& mine = *nodes_[me];
  const NodeRows& rows = mine.rows_;
  std::array<std::uint64_t, 256> kept{};
  std::size_t count = 0;
  const auto keep = [&](auto... values) { ((kept.at(count++) = static_cast<std::uint64_t>(values)), ...); };
  for (const std::uint64_t number : numbers) keep(number);
  keep(rows.number_, rows.checked_, rows.seen_, rows.deferred_, rows.my_flag_, rows.equal_bytes_, rows.raised_,
       rows.posted_, mine.broken_);
  for (const NodeLink& link : mine.links_)
    keep(link.out.filled_, link.out.emptied_, link.out.refusals_, link.in.emptied_, link.in.refusals_, link.left,
         link.announced_region, link.refused_region, link.sends.made, link.sends.done, link.receives.made,
         link.receives.done);
  for (const Transfer* const transfer : transfers)
    keep(transfer->state, transfer->turn, transfer->moved, transfer->piece, transfer->offset, transfer->bytes,
         transfer->by_row, transfer->copy_by_kernel, transfer->cut, transfer->failed);
  explorer().forget(std::span(kept).first(count));
}
