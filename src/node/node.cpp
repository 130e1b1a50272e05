#include "node/node.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace swapmeet {

namespace {

/// Polls between two checks of a process. One check takes as long as dozens of turns of a waiting loop.
constexpr std::uint32_t looks_between_members = 16;

/// Calls move(piece, first, bytes) for the parts of pieces that make up the next `bytes` bytes of `transfer`.
template <class Move>
void walk(Transfer& transfer, std::size_t bytes, Move move) {
  transfer.moved += bytes;
  while (bytes > 0) {
    const Piece& piece = transfer.pieces[transfer.piece];
    const std::size_t part = std::min(bytes, piece.bytes - transfer.offset);
    move(piece, transfer.offset, part);
    bytes -= part;
    transfer.offset += part;
    if (transfer.offset < piece.bytes) continue;
    ++transfer.piece;
    transfer.offset = 0;
  }
}

/// The label in every cell of a message.
std::uint64_t label_of(const Transfer& transfer) { return Cell::label(transfer.bytes, transfer.call); }

/// The beginning of the payload that announces a single copy. The pieces follow. If `count` is 0, one piece of elements
/// follows, then their map and its loops.
struct Announcement {
  heap::Place place;
  std::uint64_t count;
};
static_assert(sizeof(Announcement) + sizeof(RemotePiece) <=
              sizeof Cell::payload);  // so one cache line is enough in most
                                      // cases

/// The map of the elements of a message; nullptr if it consists of contiguous bytes.
const TypeMapView* map_of(const Transfer& transfer) { return transfer.pieces.front().map; }

template <class Item>
char* append(char* to, const Item* items, std::size_t count) {
  std::memcpy(to, items, count * sizeof(Item));
  return to + count * sizeof(Item);
}

/// Announces in `cell` the address of a message for a single copy. Returns the word `message` of the cell; 0 if the
/// announcement does not fit or no receiver could read the memory.
std::uint64_t announce(const Transfer& transfer, const Regions& regions, Cell& cell, const Ring& ring) {
  const TypeMapView* const map = map_of(transfer);
  const std::size_t bytes = sizeof(Announcement) + transfer.pieces.size() * sizeof(RemotePiece) +
                            (map ? sizeof *map + map->loop_count * sizeof(TypeLoop) : 0);
  const bool in_bulk = bytes > sizeof cell.payload;
  if (in_bulk && bytes > ring.most_payload()) return 0;
  Announcement head{transfer.copy_of_region ? regions.find(transfer.pieces) : heap::Place{},
                    map ? 0 : transfer.pieces.size()};
  if (head.place.file.random == transfer.link->refused_region) head.place = {};
  transfer.link->announced_region = head.place.file.random;
  const bool by_kernel =
      transfer.copy_by_kernel && transfer.link->process != 0 && !map && !transfer.link->refuses(transfer.bytes);
  if (transfer.link->announced_region == 0 && !by_kernel) return 0;
  char* to = append(ring.payload(cell, in_bulk), &head, 1);
  for (const Piece& piece : transfer.pieces) {
    const RemotePiece remote{reinterpret_cast<std::uintptr_t>(piece.address), piece.bytes};
    to = append(to, &remote, 1);
  }
  if (map) append(append(to, map, 1), map->loops, map->loop_count);
  return label_of(transfer) | Cell::announcement | (in_bulk ? Cell::bulk : 0);
}

/// Reads the message that `cell` announces, by a single copy. Returns false if this rank must decline it.
bool read_announced(const Transfer& transfer, Regions& regions, Cell& cell) {
  const char* const payload = transfer.link->in.ring().payload(cell, cell.message & Cell::bulk);
  Announcement head;
  std::memcpy(&head, payload, sizeof head);
  const auto* const pieces = reinterpret_cast<const RemotePiece*>(payload + sizeof head);
  RemoteData data{{pieces, head.count > 0 ? head.count : 1}};
  TypeMapView map;
  if (head.count == 0) {
    const auto* const theirs = reinterpret_cast<const TypeMapView*>(pieces + 1);
    map = *theirs;
    map.loops = reinterpret_cast<const TypeLoop*>(theirs + 1);
    data.map = &map;
  }
  if (head.place.file.random != 0 && regions.copy(head.place, data, transfer.pieces)) return true;
  const bool bytes = !data.map && std::ranges::none_of(transfer.pieces, &Piece::map);  // elements go through cells
  return transfer.link->process != 0 && bytes && read_from(transfer.link->process, data.pieces, transfer.pieces);
}

/// Continues a send. Returns whether anything has moved.
bool advance_send(Transfer& transfer, Regions& regions) {
  NodeLink& link = *transfer.link;
  Outlet& out = link.out;
  bool moved = false;
  if (transfer.failed) [[unlikely]] {
    Cell* const cell = out.next();
    if (!cell) return false;
    out.hand_over(*cell, label_of(transfer) | Cell::failed, link.in.count());
    link.left = NodeLink::all_left;
    transfer.state = Transfer::State::done;
    return true;
  }
  if (transfer.state == Transfer::State::announced) {
    if (!out.all_emptied()) return false;
    moved = true;
    const bool refused = out.refused();
    if (refused && link.announced_region != 0) link.refused_region = link.announced_region;
    if (link.announced_region == 0 && (refused || link.refused_bytes == transfer.bytes))
      link.refused_bytes = refused ? transfer.bytes : SIZE_MAX;
    transfer.state = refused ? Transfer::State::data : Transfer::State::done;
    transfer.copy_by_kernel = transfer.copy_of_region = false;
  } else if ((transfer.copy_by_kernel || transfer.copy_of_region) && transfer.moved == 0) {
    Cell* const cell = out.next();
    if (!cell) return false;
    if (const std::uint64_t message = announce(transfer, regions, *cell, out.ring())) {
      charge(0, ChargeTo::sender);
      out.hand_over(*cell, message, link.in.count());
      transfer.state = Transfer::State::announced;
      return true;
    }
    transfer.copy_by_kernel = transfer.copy_of_region = false;
  }
  if (transfer.state == Transfer::State::data) {
    while (Cell* const cell = out.next()) {
      const std::size_t part = std::min(out.ring().most_payload(), transfer.bytes - transfer.moved);
      const bool in_bulk = part > sizeof cell->payload;
      char* to = out.ring().payload(*cell, in_bulk);
      walk(transfer, part, [&](const Piece& from, std::size_t first, std::size_t bytes) {
        from.read(first, bytes, to);
        to += bytes;
      });
      charge(part, ChargeTo::sender);
      out.hand_over(*cell, label_of(transfer) | (in_bulk ? Cell::bulk : 0), link.in.count());
      moved = true;
      link.left = transfer.moved;
      if (transfer.moved < transfer.bytes) continue;
      link.left = NodeLink::all_left;
      transfer.state = Transfer::State::done;
      break;
    }
  }
  return moved;
}

/// Whether the data of `cell` may be written to their destination. In place, the outgoing data there must have left.
bool has_place(const Transfer& transfer, const Cell& cell, const Ring& ring) {
  if (!transfer.in_place) return true;
  const std::size_t message = cell.message_bytes();
  const std::size_t arrived = cell.announces() ? message : std::min(ring.most_payload(), message - transfer.moved);
  return transfer.link->left >= transfer.moved + arrived;
}

/// Continues a receive. `moved` counts the bytes of the message that have arrived, even if there is no room for them.
/// `out_of_step` is set if the message belongs to another call.
bool advance_receive(Transfer& transfer, Regions& regions, bool& out_of_step) {
  NodeLink& link = *transfer.link;
  Inlet& in = link.in;
  bool moved = false;
  if (Cell* const cell = in.next(); cell && cell->message == label_of(transfer) &&
                                    transfer.bytes <= sizeof cell->payload && transfer.pieces.size() == 1 &&
                                    !transfer.discards && !transfer.in_place) [[likely]] {  // fast path for a small
                                                                                            // message
    transfer.pieces[0].write(0, transfer.bytes, cell->payload);
    charge(transfer.bytes, ChargeTo::receiver);
    link.out.learn(cell->acknowledged);
    in.emptied();
    transfer.moved = transfer.bytes;
    transfer.state = Transfer::State::done;
    return true;
  }
  if (transfer.wants_memory()) return false;
  while (Cell* const cell = in.next()) {
    if (cell->call() != transfer.call) [[unlikely]]
      return out_of_step = true, moved;
    if (!has_place(transfer, *cell, in.ring())) {
      link.out.learn(cell->acknowledged);
      break;
    }
    moved = true;
    if (cell->message & Cell::failed) [[unlikely]] {
      link.out.learn(cell->acknowledged);
      in.emptied();
      transfer.failed = true;
      transfer.state = Transfer::State::done;
      break;
    }
    if (transfer.bytes == Transfer::any_size) {
      transfer.bytes = cell->message_bytes();
      break;
    }
    link.out.learn(cell->acknowledged);
    const std::size_t message = cell->message_bytes();
    if (message > transfer.bytes) transfer.cut = true;
    if (cell->announces()) {
      if (!transfer.discards && !read_announced(transfer, regions, *cell)) {
        in.refused();
        continue;
      }
      charge(message, ChargeTo::receiver);
      transfer.moved = message;
    } else {
      const std::size_t arrived = std::min(in.ring().most_payload(), message - transfer.moved);
      const std::size_t held = transfer.discards ? 0 : transfer.bytes;
      const std::size_t room = held - std::min(transfer.moved, held);
      const char* from = in.ring().payload(*cell, cell->message & Cell::bulk);
      walk(transfer, std::min(arrived, room), [&](const Piece& to, std::size_t first, std::size_t bytes) {
        to.write(first, bytes, from);
        from += bytes;
      });
      charge(arrived, ChargeTo::receiver);
      transfer.moved += arrived - std::min(arrived, room);
    }
    in.emptied();
    if (transfer.moved < message) continue;
    transfer.state = Transfer::State::done;
    break;
  }
  return moved;
}

/// Whether a process has ended. A process counts as ended even if its exit status has not been collected yet (MPICH's
/// launcher collects when all have ended). Before Linux 5.3, it counts as ended only after that.
bool has_ended(pid_t process) {
  const auto file = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
  if (file < 0) return errno == ESRCH || (kill(process, 0) != 0 && errno == ESRCH);
  pollfd ended{file, POLLIN, 0};
  const bool has = poll(&ended, 1, 0) == 1;
  close(file);
  return has;
}

}  // namespace

void connect(NodeLink& link, const NodeLayout& layout, char* memory, std::uint32_t me, std::uint32_t other) {
  const auto acknowledgement = [&](std::uint32_t writer, std::uint32_t of) {
    return reinterpret_cast<Acknowledgement*>(memory + layout.acknowledgements(writer)) + of;
  };
  const auto ring = [&](std::uint32_t from, std::uint32_t to) {
    const std::size_t first = std::size_t{to} * layout.channel.cells;
    return Ring(reinterpret_cast<Cell*>(memory + layout.cells(from)) + first,
                memory + layout.bulk(from) + first * layout.channel.bulk_bytes, layout.channel);
  };
  link.out = Outlet(ring(me, other), acknowledgement(other, me));
  link.in = Inlet(ring(other, me), acknowledgement(me, other));
  link.waiter_slot = reinterpret_cast<const WaiterSlot*>(memory + layout.waiter_slot(other));
}

NodeRows rows_in(const NodeLayout& layout, char* memory, std::uint32_t me) {
  if (layout.row_block_bytes == 0) return {};
  std::vector<RowPlace> places;
  for (std::uint32_t member = 0; member < layout.members; ++member)
    places.push_back({memory + layout.row_heads(member), memory + layout.row_bulks(member)});
  return {layout.rows(), me, std::move(places)};
}

Node::Node(NodeMemory memory, const NodeLayout& layout, std::uint32_t me, std::span<const pid_t> processes,
           Regions& regions)
    : memory_(std::move(memory)), bytes_(memory_.address() ? layout.bytes() : 0), links_(layout.members),
      regions_(&regions) {
  char* const address = memory_.address();
  for (std::uint32_t other = 0; other < layout.members; ++other) {
    connect(links_[other], layout, address, me, other);
    links_[other].process = processes[other];
    links_[other].member = other;
  }
  if (address) rows_ = rows_in(layout, address, me);
  if (address) waiter_ = Waiter({reinterpret_cast<WaiterSlot*>(address + layout.waiter_slot(0)), layout.members}, me);
}

Transfer Transfer::send(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, const SingleCopy& single_copy,
                        std::uint16_t call) {
  Transfer transfer{
      &link, pieces, bytes, true, false, bytes >= single_copy.by_kernel_bytes, bytes >= single_copy.of_region_bytes};
  transfer.call = call;
  transfer.turn = link.sends.made++;
  return transfer;
}

Transfer Transfer::receive(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, std::uint16_t call) {
  Transfer transfer{&link, pieces, bytes};
  transfer.call = call;
  transfer.turn = link.receives.made++;
  return transfer;
}

Transfer Transfer::by_rows(NodeLink& link, std::span<const Piece> pieces, std::size_t bytes, bool outgoing,
                           std::uint16_t call) {
  Transfer transfer{&link, pieces, bytes, outgoing, true};
  transfer.call = call;
  return transfer;
}

void Node::forget() {
  rows_.forget();
  for (NodeLink& link : links_) {
    link.sends.made = link.sends.done;
    link.receives.made = link.receives.done;
  }
}

void Node::abandon(Broken why) {
  if (broken_ != Broken::no) return;
  broken_ = why;
  std::int32_t nobody = 0;
  if (memory_.address())
    memory_.header().abandoned.compare_exchange_strong(nobody, static_cast<std::int32_t>(why),
                                                       std::memory_order_relaxed);
}

void Node::look_whether_broken() {
  if (memory_.address() && broken_ == Broken::no)
    broken_ = static_cast<Broken>(memory_.header().abandoned.load(std::memory_order_relaxed));
  if (watched_.empty() || ++looks_ % looks_between_members != 0) return;
  next_watched_ = (next_watched_ + 1) % watched_.size();
  const pid_t process = watched_[next_watched_];
  if (process != 0 && has_ended(process)) abandon(Broken::rank_died);
}

bool Node::advance_by_row(Transfer& transfer) {
  NodeLink& link = *transfer.link;
  if (transfer.outgoing) {
    if (!rows_.ready()) return waiter_.waits_for(*links_[rows_.still_reading()].waiter_slot), false;
    rows_.write(link.member, transfer.pieces.front());
    rows_.undefer();
    link.left = NodeLink::all_left;
    transfer.state = Transfer::State::done;
    return waiter_.moved(), true;
  }
  using State = NodeRows::Block::State;
  // A message that is too large for a row need not wait for the flag. (But the next cell may belong to the next exchange
  // of the sender.)
  const Cell* const cell = transfer.bytes > rows_.block_bytes() ? link.in.next() : nullptr;
  const NodeRows::Block block = cell && cell->call() == transfer.call ? NodeRows::Block{State::elsewhere}
                                                                      : rows_.look(link.member, transfer.call);
  switch (block.state) {
    case State::not_raised: return waiter_.waits_for(*link.waiter_slot), false;
    case State::out_of_step: return abandon(Broken::out_of_step), false;
    case State::elsewhere:
      transfer.by_row = false;
      transfer.turn = link.receives.made++;
      return advance(transfer);
    case State::failed: transfer.failed = true; break;
    case State::here: {
      if (transfer.in_place && link.left < transfer.bytes) return waiter_.waits_for(*link.waiter_slot), false;
      transfer.cut = block.bytes > transfer.bytes;
      if (!transfer.discards) transfer.pieces.front().write(0, std::min(block.bytes, transfer.bytes), block.address);
      charge(block.bytes, ChargeTo::receiver);
      transfer.moved = block.bytes;
    }
  }
  rows_.count_seen();
  transfer.state = Transfer::State::done;
  return waiter_.moved(), true;
}

bool Node::advance_further(Transfer& transfer) {
  NodeLink::Turns& turns = transfer.outgoing ? transfer.link->sends : transfer.link->receives;
  if (transfer.turn != turns.done) return false;
  bool out_of_step = false;
  const bool moved =
      transfer.outgoing ? advance_send(transfer, *regions_) : advance_receive(transfer, *regions_, out_of_step);
  if (out_of_step) [[unlikely]]
    abandon(Broken::out_of_step);
  if (transfer.done()) ++turns.done;
  if (moved) waiter_.moved();
  return moved;
}

}  // namespace swapmeet
