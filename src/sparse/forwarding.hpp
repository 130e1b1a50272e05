/// A sparse exchange whose messages are forwarded digit by digit. In each digit, a rank sends one hop to each of its
/// peers in that digit. The hop contains all messages that go in this direction, and may be empty. For a message above
/// a threshold, the hops contain only its header; its bytes are sent directly from source to destination.
///
/// Source:  bruck1997, tra (the route); hoefler2010sparse (the problem)
/// Cost:    on a circle in radix r = P^(1/w): w(r-1) hops, whatever is exchanged; each byte moves at most w times
/// Memory:  for the messages being forwarded, and for the peers of a digit   [checked by tests/core/sparse_test.py]
///
/// Errors: a rank without memory for a list of its own messages sends none. A rank without memory for an outgoing hop
/// sends the headers only, and the bytes are lost. A rank without memory for these headers, for an arriving hop or for a
/// list of the messages in it sends `failed` (sparse/hop.hpp) from then on. A rank that receives either returns an
/// error. If headers are lost, the destination does not expect messages that are sent directly. It drops those that it
/// finds at the end, because their sources wait for it.
#pragma once

#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "sparse/arrivals.hpp"
#include "sparse/fabric.hpp"
#include "sparse/hop.hpp"
#include "sparse/route.hpp"

namespace swapmeet {

template <SparseFabric Fabric>
class SparseForwarding {
 public:
  /// Losses, if any: on this rank for lack of memory, or elsewhere on the route.
  enum class Lost : std::uint8_t { nothing, memory, elsewhere };

  SparseForwarding(const SparseRoute& route, std::span<const SparseSend> sends, Rank me, Arrivals& arrivals)
      : route_(route), sends_(sends), me_(me), arrivals_(arrivals) {}

  /// Continues as far as possible without waiting. Returns 0 when the exchange is complete, `unfinished`, or an error
  /// of the fabric.
  int advance(Fabric& fabric) {
    if (!begun_)
      if (const int error = begin(fabric)) return error;
    for (; round_ < route_.rounds().size(); ++round_, started_ = false) {
      if (!std::exchange(started_, true))
        if (const int error = start_round(fabric)) return error;
      if (const int error = wait_for_hops(fabric)) return error;
      unpack();
    }
    if (!std::exchange(ending_, true))
      if (const int error = keep_all(fabric)) return error;
    return wait_for_the_rest(fabric);
  }

  Lost lost() const { return lost_; }

  /// The largest number of bytes of working memory in use at a time, without the messages that end here and the route.
  std::int64_t peak_bytes() const { return peak_; }
  /// Number of hops sent, and bytes of the headers in them.
  std::int64_t hops() const { return hops_; }
  std::int64_t header_bytes() const { return header_bytes_; }

 private:
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Item : HopItem {
    std::uint32_t held = 0;       ///< number of the place of this rank that it is at
    std::uint32_t own = none;     ///< number of this rank's own message; none: from another rank
    std::uint32_t buffer = none;  ///< received hop that contains its bytes
    std::uint32_t slot = none;    ///< hop in which it leaves
    char* room = nullptr;         ///< at the end: memory for its bytes, if they are sent directly
  };
  struct Buffer {
    std::unique_ptr<char[]> memory;
    std::int64_t bytes = 0;
    std::uint32_t items = 0;  ///< number of messages that have not left
  };
  /// A hop that arrives at one of this rank's places in this round.
  struct Awaited {
    std::int32_t value = 0, place = 0;
    Rank source = 0;
    std::uint32_t buffer = none;
    bool failed = false;
  };
  /// A hop that leaves in this round, with its destination place.
  struct Leaving {
    std::int32_t value = 0, place = 0;
    std::int64_t items = 0, headers = 0, bodies = 0;
    char *begin = nullptr, *end = nullptr;
    bool stays = false, whole = true;
  };

  int begin(Fabric& fabric) {
    begun_ = true;
    try {
      items_.reserve(sends_.size());
    } catch (const std::bad_alloc&) {
      lose(Lost::memory);
      return 0;
    }
    for (std::size_t i = 0; i < sends_.size(); ++i) {
      Item item;
      item.destination = sends_[i].destination, item.source = me_, item.bytes = sends_[i].bytes;
      item.own = static_cast<std::uint32_t>(i);
      if (item.bytes > route_.most_bytes() && item.destination != me_) {
        item.body = HopItem::Body::apart;
        if (const int error = fabric.send_own(i, false)) return error;
      }
      items_.push_back(item);
    }
    return 0;
  }

  // --- one round -----------------------------------------------------------------------------------------------------

  int start_round(Fabric& fabric) {
    const SparseRoute::Round& round = route_.rounds()[round_];
    const auto values = static_cast<std::size_t>(round.last - round.first + 1);
    leaving_.assign(route_.places().size() * values, {});
    awaited_.clear();
    for (std::size_t slot = 0; slot < leaving_.size(); ++slot) {
      const std::int32_t z = round.first + static_cast<std::int32_t>(slot % values);
      leaving_[slot].value = z;
      leaving_[slot].place = route_.peer_place(round, slot / values, z, 1);
      const Rank source = route_.rank_at(route_.peer_place(round, slot / values, z, -1));
      if (source != me_) awaited_.push_back({z, route_.places()[slot / values], source});
    }
    for (Item& item : items_) {
      const std::int32_t z = route_.value(round, item.source, item.destination);
      item.slot = none;
      if (z < round.first || z > round.last) continue;
      item.slot = static_cast<std::uint32_t>(item.held * values + static_cast<std::size_t>(z - round.first));
      leaving_[item.slot].headers += item.header_bytes();
      leaving_[item.slot].bodies += item.body_bytes();
      ++leaving_[item.slot].items;
    }
    next_awaited_ = 0;
    if (const int error = gather(fabric)) return error;
    drop_items_that_left();
    return send(fabric);
  }

  /// Gathers the outgoing hops in memory that is kept until they have been sent. Messages between two places of this
  /// rank are not sent.
  int gather(Fabric& fabric) {
    for (Leaving& hop : leaving_) {
      hop.stays = route_.rank_at(hop.place) == me_;
      if (hop.stays || hop.items == 0) continue;
      hop.begin = take(sent_, hop.headers + hop.bodies);
      hop.whole = hop.begin != nullptr;
      if (!hop.whole) lose(Lost::memory), hop.begin = take(sent_, hop.headers);
      if (!hop.begin) marks_ = true;
      hop.end = hop.begin;
    }
    count();
    for (Item& item : items_) {
      if (item.slot == none) continue;
      Leaving& hop = leaving_[item.slot];
      if (hop.stays) item.held = static_cast<std::uint32_t>(route_.held(hop.place)), item.slot = none;
      else if (hop.begin)
        if (const int error = write(fabric, item, hop)) return error;
    }
    return 0;
  }

  int write(Fabric& fabric, Item& item, Leaving& hop) {
    if (!hop.whole && item.body == HopItem::Body::here) item.body = HopItem::Body::lost;
    char* const body = item.write_header(hop.end);
    const std::int64_t bytes = item.body_bytes();
    hop.end = body + bytes;
    header_bytes_ += item.header_bytes();
    if (bytes == 0) return 0;
    if (item.own != none) return fabric.copy_own(item.own, body);
    std::memcpy(body, item.data, static_cast<std::size_t>(bytes));
    return 0;
  }

  /// Sends the hops. If two ranks exchange several hops in a round, both order them in the same way: by value, then by
  /// destination place.
  int send(Fabric& fabric) {
    std::ranges::sort(leaving_, {}, [](const Leaving& hop) { return std::pair(hop.value, hop.place); });
    std::ranges::sort(awaited_, {}, [](const Awaited& one) { return std::pair(one.value, one.place); });
    for (const Leaving& hop : leaving_) {
      if (hop.stays) continue;
      ++hops_;
      const Rank to = route_.rank_at(hop.place);
      if (const int error = marks_ ? fabric.send_hop(to, failed_hop, sizeof failed_hop)
                                   : fabric.send_hop(to, hop.begin, hop.end - hop.begin))
        return error;
    }
    return 0;
  }

  void drop_items_that_left() {
    for (const Item& item : items_)
      if (item.slot != none && item.buffer != none && --buffers_[item.buffer].items == 0) give(buffers_[item.buffer]);
    std::erase_if(items_, [](const Item& item) { return item.slot != none; });
  }

  int wait_for_hops(Fabric& fabric) {
    for (FoundMessage found; next_awaited_ < awaited_.size(); ++next_awaited_) {
      if (const int error = fabric.look(Channel::hop, awaited_[next_awaited_].source, found)) return error;
      if (!found.there) break;
      if (const int error = receive(fabric, awaited_[next_awaited_], found.bytes)) return error;
    }
    return all_over(fabric, Channel::hop, next_awaited_ == awaited_.size());
  }

  int all_over(Fabric& fabric, Channel channel, bool found) {
    std::size_t receiving = 0, sending = 0;
    if (const int error = fabric.receives_left(receiving)) return error;
    if (const int error = fabric.sends_left(channel, sending)) return error;
    return found && receiving == 0 && sending == 0 ? 0 : unfinished;
  }

  int receive(Fabric& fabric, Awaited& one, std::int64_t bytes) {
    one.failed = hop_failed(bytes);
    if (one.failed || bytes == 0) return fabric.receive(nullptr, bytes);
    char* const memory = take(buffers_, bytes);
    if (memory) one.buffer = static_cast<std::uint32_t>(buffers_.size() - 1);
    else lose(Lost::memory), marks_ = true;
    count();
    return fabric.receive(memory, bytes);
  }

  void unpack() {
    for (Buffer& buffer : sent_) give(buffer);
    sent_.clear();
    for (const Awaited& one : awaited_) {
      if (one.failed) lose(Lost::elsewhere), marks_ = true;
      if (one.buffer == none) continue;
      Buffer& buffer = buffers_[one.buffer];
      const char* from = buffer.memory.get();
      for (const char* const end = from + buffer.bytes; from < end; ++buffer.items) {
        Item item;
        static_cast<HopItem&>(item) = HopItem::read(from);
        item.held = static_cast<std::uint32_t>(route_.held(one.place));
        item.buffer = one.buffer;
        if (!keep(item)) break;
      }
    }
    count();
    forget_empty_buffers();
  }

  bool keep(const Item& item) {
    try {
      items_.push_back(item);
      return true;
    } catch (const std::bad_alloc&) {
      lose(Lost::memory), marks_ = true;
      return false;
    }
  }

  /// Removes empty buffers at the end of the list. Others stay, because buffers are identified by their index.
  void forget_empty_buffers() {
    while (!buffers_.empty() && !buffers_.back().memory) buffers_.pop_back();
  }

  // --- the end -------------------------------------------------------------------------------------------------------

  /// Keeps all messages that are here now: they have reached their destination. Only those that are sent directly remain
  /// in the list.
  int keep_all(Fabric& fabric) {
    for (Item& item : items_) {
      if (item.body == HopItem::Body::lost) {
        lose(Lost::elsewhere);
        continue;
      }
      item.room = arrivals_.add(item.source, item.bytes);
      if (!item.room || item.body == HopItem::Body::apart) continue;
      if (item.own == none) std::memcpy(item.room, item.data, static_cast<std::size_t>(item.bytes));
      else if (const int error = fabric.copy_own(item.own, item.room)) return error;
    }
    count();
    std::erase_if(items_, [](const Item& item) { return item.body != HopItem::Body::apart; });
    buffers_.clear();
    held_bytes_ = 0;
    return 0;
  }

  /// Receives the messages that are sent directly. Those of one source arrive in the order of their headers. Where an
  /// earlier call with the same tag has lost headers, messages of that call may come before. One of another size than
  /// expected is dropped.
  int wait_for_the_rest(Fabric& fabric) {
    for (FoundMessage found; next_expected_ < items_.size();) {
      const Item& one = items_[next_expected_];
      if (const int error = fabric.look(Channel::direct, one.source, found)) return error;
      if (!found.there) break;
      const bool expected = found.bytes == one.bytes;
      if (const int error = fabric.receive(expected ? one.room : nullptr, found.bytes)) return error;
      if (expected) ++next_expected_;
    }
    if (next_expected_ == items_.size() && marks_)
      if (const int error = drop_unexpected(fabric)) return error;
    return all_over(fabric, Channel::direct, next_expected_ == items_.size());
  }

  /// Receives messages whose headers may be lost, and drops them. All of them have been sent, because every rank has
  /// begun the exchange, so this rank finds them soon.
  int drop_unexpected(Fabric& fabric) {
    for (FoundMessage found; !fabric.found_all(looks_); looks_ = 0) {
      if (const int error = fabric.look(Channel::direct, any_source, found)) return error;
      if (!found.there) return ++looks_, unfinished;
      if (const int error = fabric.receive(nullptr, found.bytes)) return error;
    }
    return 0;
  }

  // --- memory --------------------------------------------------------------------------------------------------------

  char* take(std::vector<Buffer>& buffers, std::int64_t bytes) {
    try {
      buffers.push_back({std::unique_ptr<char[]>(new char[static_cast<std::size_t>(bytes)]), bytes});
    } catch (const std::bad_alloc&) { return nullptr; }
    held_bytes_ += bytes;
    return buffers.back().memory.get();
  }

  void give(Buffer& buffer) {
    held_bytes_ -= buffer.bytes;
    buffer = {};
  }

  void lose(Lost what) {
    if (lost_ == Lost::nothing) lost_ = what;
  }

  void count() {
    const auto of = [](const auto& list) { return static_cast<std::int64_t>(list.capacity() * sizeof list[0]); };
    peak_ = std::max(peak_, held_bytes_ + of(items_) + of(buffers_) + of(sent_) + of(awaited_) + of(leaving_));
  }

  const SparseRoute& route_;
  std::span<const SparseSend> sends_;
  Rank me_;
  Arrivals& arrivals_;
  bool begun_ = false, started_ = false, ending_ = false, marks_ = false;
  std::size_t round_ = 0, next_awaited_ = 0, next_expected_ = 0;
  int looks_ = 0;  ///< of drop_unexpected(), since it found a message
  std::vector<Item> items_;
  std::vector<Buffer> buffers_, sent_;
  std::vector<Awaited> awaited_;
  std::vector<Leaving> leaving_;
  Lost lost_ = Lost::nothing;
  std::int64_t held_bytes_ = 0, peak_ = 0, hops_ = 0, header_bytes_ = 0;
};

}  // namespace swapmeet
