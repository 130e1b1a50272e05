/// The payload (engine/engine.hpp) of an exchange of blocks of unequal size. Only the source and the destination of a
/// block know its size. It executes a flow. Each message begins with the sizes of its blocks or is preceded by them
/// (exchange/sized_plan.hpp says how), unless all its blocks end at the receiver or all blocks of the call have one size.
/// Blocks above a threshold are sent to their destinations in the background meanwhile; in the flow they count as empty.
#pragma once

#include <algorithm>
#include <cstring>

#include "buffers/blocks.hpp"
#include "exchange/fabric.hpp"
#include "exchange/padded.hpp"
#include "exchange/size_codec.hpp"
#include "exchange/sized_state.hpp"
#include "model/threshold.hpp"

namespace swapmeet {

template <class Watching>
class SizedPayload {
 public:
  static constexpr bool hears = true, has_parts = true;

  /// `send` and `receive` must stay in place. `agreed`: the result of the agreement for this call. `padded`: exchanges
  /// the blocks that are not sent directly, and the flow has no rounds; nullptr: the flow exchanges them.
  SizedPayload(SizedState& state, const Blocks& send, const Blocks& receive, const Agreed& agreed, Padded* padded,
               Fabric<Watching>& fabric, Failure& failure)
      : all_(state), flow_(state.flow), send_(send), receive_(receive), direct_above_(agreed.direct_bytes),
        common_bytes_(agreed.each), padded_(padded), failure_(failure), fabric_(fabric) {}

  std::span<std::uint32_t> messages() { return all_.buffers.messages(); }
  std::size_t rounds() const { return direct_above_ > 0 ? flow_.rounds.size() : 0; }
  const Round& round(std::size_t index) const { return flow_.rounds[index]; }
  bool next_pass() const { return false; }
  void copy(std::size_t) const {}
  int over() const { return failure_.error; }

  int begin(Fabric<Watching>&) {
    if (!std::exchange(begun_, true)) {
      for (std::int32_t d = 0; d < flow_.own_blocks(); ++d)
        item(d) = {buffers_are_usable() ? send_.address(d) : nullptr, bytes_in_flow(send_.bytes(d)), 0};
      copy_own();
      if (const int error = start_direct()) return error;
    }
    return padded_ ? padded_->advance(send_, receive_, fabric_.call(), failure_) : MPI_SUCCESS;
  }

  template <bool is_send>
  int start(std::uint32_t message, std::uint32_t slot, Fabric<Watching>&, Started& started) {
    return is_send ? start_send(message, slot, started) : start_receive(message, slot, started);
  }

  /// Handles the arrival of a header message: starts to receive the message itself, unless it is empty.
  int go_on(std::uint32_t number, std::uint32_t slot, Fabric<Watching>&, Started& started) {
    if (!std::exchange(all_.awaited[slot], 0)) return MPI_SUCCESS;
    const Message& message = flow_.receives[number];
    const char* const head = all_.buffers.sizes_of(slot);
    fabric_.header_arrived();
    std::int64_t bytes = 0;
    if (all_.sizes == Sizes::total) bytes = read_number<std::int64_t>(head);
    else bytes = blocks_behind(head, message.count).second;
    return receive_body(message, number, slot, bytes, MessageKind::passed_on, started);
  }

  template <bool is_send>
  void finished(std::uint32_t number, std::uint32_t slot) {
    is_send ? left(flow_.sends[number], slot) : arrived(flow_.receives[number], number, slot);
  }

 private:
  using Item = SizedState::Item;

  bool buffers_are_usable() const { return fabric_.call().failure == MPI_SUCCESS; }

  /// The size of a block in the flow, in bytes: 0 if it is sent directly.
  std::int64_t bytes_in_flow(std::int64_t bytes) const { return goes_directly(bytes) ? 0 : bytes; }
  bool goes_directly(std::int64_t bytes) const { return bytes > direct_above_; }

  Item& item(std::int32_t block) { return all_.items[static_cast<std::size_t>(block)]; }

  /// Whether the receiver knows the sizes of the blocks in advance.
  bool sizes_known(const Message& message) const { return message.last || common_bytes_ > 0; }

  /// The way in which the receiver learns the sizes. Within the node no header message is needed, because the receiver
  /// learns the length of a message from its transfer.
  Sizes treatment(const Message& message) const {
    return sizes_known(message) ? Sizes::automatic : fabric_.in_node(message.peer) ? Sizes::combined : all_.sizes;
  }

  /// The memory of a message, for the fabric.
  static ContiguousMemory memory(const char* address, std::int64_t bytes, bool lost = false) {
    return {const_cast<char*>(address), bytes, lost};
  }

  // --- blocks that are not in the flow -------------------------------------------------------------------------------

  void copy_own() {
    if (!buffers_are_usable()) return;
    const auto phase = fabric_.watch().during(CallPhase::copy);
    for (const OwnBlock& own : all_.own)
      receive_block(own.to, receive_.bytes(own.to), send_.address(own.from), send_.bytes(own.from));
  }

  int start_direct() {
    if (direct_above_ == Direct::never) return MPI_SUCCESS;
    const auto phase = fabric_.in_transfer_phase();
    const auto number = [this](const std::vector<SizedState::End>& ends, const Blocks& blocks) {
      return std::ranges::count_if(ends,
                                   [&](const SizedState::End& end) { return goes_directly(blocks.bytes(end.block)); });
    };
    fabric_.begin_background(static_cast<std::uint32_t>(std::max(number(all_.from, receive_), number(all_.to, send_))));
    const int error = start_direct<false>(all_.from, receive_);
    return error ? error : start_direct<true>(all_.to, send_);
  }

  template <bool is_send>
  int start_direct(const std::vector<SizedState::End>& ends, const Blocks& blocks) {
    std::uint32_t started = 0;
    for (const SizedState::End& end : ends) {
      const std::int64_t bytes = blocks.bytes(end.block);
      if (!goes_directly(bytes)) continue;
      if (const int error = fabric_.template start_background<is_send>(
              started++, end.peer, memory(blocks.address(end.block), bytes, !buffers_are_usable())))
        return error;
      if (is_send) all_.traffic.add(bytes);
    }
    return MPI_SUCCESS;
  }

  // --- messages that are sent ----------------------------------------------------------------------------------------

  int start_send(std::uint32_t number, std::uint32_t slot, Started& started) {
    const Message& message = flow_.sends[number];
    SizeTally tally;
    for (const std::int32_t block : flow_.departing_in(message)) tally.add(item(block).bytes);
    const Sizes sizes = treatment(message);
    const std::uint32_t together = all_.send_numbers[number];
    const bool with_sizes = sizes == Sizes::combined || sizes == Sizes::total;
    std::int64_t body = tally.sum() + (with_sizes ? tally.bytes() : 0);
    if (!failure_.marks && body > 0 && (with_sizes || message.count > 1))
      gather(message, slot, body, with_sizes, tally);
    bool lost = failure_.marks;
    char* const head = all_.buffers.sizes_of(slot);
    if (lost && with_sizes) write(head, message, tally, true), body = most_sizes_bytes(message.count);
    if (sizes == Sizes::ahead) {
      const char* const end = write(head, message, tally, lost);
      if (const int error = send_head(message, slot, {head, end}, together, started)) return error;
      if (lost) body = 0;
    } else if (sizes == Sizes::total) {
      char* const length = lost ? head + body : head;  // after a failure `head` holds the sizes
      write_number<std::int64_t>(length, body);
      if (const int error = send_head(message, slot, {length, number_bytes}, together, started)) return error;
    }
    if (body == 0) {  // nothing follows the header, or all blocks are empty and no message is sent
      if (started == Started::nothing) started = Started::finished;
      return MPI_SUCCESS;
    }
    const char* from = item(flow_.departing_in(message)[0]).address;  // a single block is sent from where it lies
    if (const char* const gathered = all_.gathered[slot].memory) from = gathered;
    if (lost && with_sizes) from = head, lost = false;
    const int error =
        fabric_.template start<true>(slot, message.peer, message.last ? MessageKind::last : MessageKind::passed_on,
                                     memory(from, body, lost), started, together);
    if (!error) all_.traffic.add(body);
    return error;
  }

  /// Bytes of memory for the header message of a message; 0 if it has none.
  std::int64_t head_room(const Message& message) const {
    const Sizes sizes = treatment(message);
    return sizes == Sizes::ahead ? most_sizes_bytes(message.count) : sizes == Sizes::total ? number_bytes : 0;
  }

  int send_head(const Message& message, std::uint32_t slot, std::span<const char> bytes, std::uint32_t together,
                Started& started) {
    const auto phase = fabric_.watch().during(CallPhase::metadata);
    if (const int error = fabric_.send_header(slot, message.peer, bytes, together)) return error;
    all_.buffers.pool().count(head_room(message));
    all_.traffic.add(static_cast<std::int64_t>(bytes.size()));
    started = Started::underway;
    return MPI_SUCCESS;
  }

  char* write(char* to, const Message& message, const SizeTally& tally, bool failed) {
    const auto blocks = flow_.departing_in(message);
    return write_sizes(to, message.count, tally, failed, [&](std::uint32_t i) { return item(blocks[i]).bytes; });
  }

  void gather(const Message& message, std::uint32_t slot, std::int64_t bytes, bool with_sizes, const SizeTally& tally) {
    const auto phase = fabric_.watch().during(CallPhase::pack);
    SizedState::Gathered& gathered = all_.gathered[slot];
    gathered = {all_.buffers.pool().take(bytes), bytes};
    if (!gathered.memory) return failure_.fail(MPI_ERR_NO_MEM);
    char* to = with_sizes ? write(gathered.memory, message, tally, false) : gathered.memory;
    for (const std::int32_t block : flow_.departing_in(message)) {
      const Item& it = item(block);
      if (it.bytes > 0) std::memcpy(to, it.address, static_cast<std::size_t>(it.bytes));
      copied(it.bytes);
      to += it.bytes;
    }
  }

  /// Handles the end of a sent message. Frees the memory in which it was gathered, and received messages of which all
  /// blocks have left.
  void left(const Message& message, std::uint32_t slot) {
    SizedState::Gathered& gathered = all_.gathered[slot];
    if (gathered.memory) all_.buffers.pool().give(gathered.memory, gathered.bytes);
    gathered = {};
    all_.buffers.pool().count(-head_room(message));
    for (const std::int32_t block : flow_.departing_in(message))
      if (block >= flow_.own_blocks()) all_.buffers.left(item(block).message);
  }

  // --- messages that are received ------------------------------------------------------------------------------------

  int start_receive(std::uint32_t number, std::uint32_t slot, Started& started) {
    const Message& message = flow_.receives[number];
    if (message.last) return receive_last(message, number, slot, started);
    const Sizes sizes = treatment(message);
    if (sizes == Sizes::automatic) {
      all_.buffers.take(number, slot, 0);
      return receive_body(message, number, slot, common_bytes_ * message.count, MessageKind::passed_on, started);
    }
    const std::uint32_t together = all_.receive_numbers[number];
    if (sizes == Sizes::combined) {
      fabric_.receive_any(slot, message.peer, MessageKind::passed_on, together);
      started = Started::underway;
      return MPI_SUCCESS;
    }
    const auto phase = fabric_.watch().during(CallPhase::metadata);
    const std::int64_t room = head_room(message);
    all_.buffers.pool().count(room);
    all_.buffers.take(number, slot, 0);
    all_.awaited[slot] = 1;
    fabric_.await_header();
    return fabric_.template start<false>(slot, message.peer, MessageKind::head,
                                         memory(all_.buffers.sizes_of(slot), room), started, together);
  }

  int receive_last(const Message& message, std::uint32_t number, std::uint32_t slot, Started& started) {
    std::int64_t bytes = 0;
    for (const std::int32_t block : flow_.arriving_in(message)) bytes += bytes_in_flow(receive_.bytes(-1 - block));
    all_.buffers.take(number, slot, 0);
    if (message.count > 1 || !buffers_are_usable() || bytes == 0)
      return receive_body(message, number, slot, bytes, MessageKind::last, started);
    const Rank source = -1 - flow_.arriving_in(message)[0];  // a single block is received directly at its final address
    return fabric_.template start<false>(slot, message.peer, MessageKind::last, memory(receive_.address(source), bytes),
                                         started, all_.receive_numbers[number]);
  }

  int receive_body(const Message& message, std::uint32_t number, std::uint32_t slot, std::int64_t bytes,
                   MessageKind kind, Started& started) {
    if (bytes == 0) return MPI_SUCCESS;
    const auto size = static_cast<std::size_t>(bytes);
    const bool with_sizes = kind == MessageKind::passed_on && treatment(message) == Sizes::total;
    const Piece room = all_.buffers.take(number, slot, size);
    const bool fits = room.bytes == size && (with_sizes || all_.buffers.memory(number));
    if (!fits) failure_.fail(MPI_ERR_NO_MEM);
    // With `total` and no memory, the sizes are received into the slot's room for sizes, and the blocks are discarded.
    const ContiguousMemory memory{room.address, bytes, !fits, with_sizes ? room : Piece{}};
    return fabric_.template start<false>(slot, message.peer, kind, memory, started, all_.receive_numbers[number]);
  }

  /// Handles the arrival of a message. Blocks that end at this rank are copied to the receive buffer. The others are
  /// kept where they arrived.
  void arrived(const Message& message, std::uint32_t number, std::uint32_t slot) {
    const auto phase = fabric_.watch().during(CallPhase::unpack);
    const char* from = all_.buffers.memory(number);
    if (message.last) {
      for (const std::int32_t block : flow_.arriving_in(message)) {
        if (!from) break;  // the message is empty, or was received at its final address
        const std::int64_t bytes = bytes_in_flow(receive_.bytes(-1 - block));
        copy_to_receive(-1 - block, from, bytes);
        from += bytes;
      }
      return all_.buffers.keep(number, 0);
    }
    all_.buffers.pool().count(-head_room(message));
    if (sizes_known(message)) return place(message, number, from, [this] { return common_bytes_; });
    const bool combines = treatment(message) != Sizes::ahead;
    SizeReader reader(combines && from ? from : all_.buffers.sizes_of(slot));
    if (reader.failed()) failure_.received_wrong(MPI_ERR_TRUNCATE, true), from = nullptr;
    else if (combines && !from) failure_.fail(MPI_ERR_NO_MEM);  // the blocks were discarded
    else if (combines) from = blocks_behind(from, message.count).first;
    place(message, number, from, [&reader] { return reader.next(); });
  }

  /// Distributes blocks that arrived side by side from `from` on (nullptr: their data are lost). next() returns the
  /// bytes of the next one.
  template <class Next>
  void place(const Message& message, std::uint32_t number, const char* from, Next next) {
    std::uint32_t kept = 0;
    for (const std::int32_t block : flow_.arriving_in(message)) {
      const std::int64_t bytes = next();
      if (block >= 0) item(block) = {from, bytes, number}, ++kept;
      else if (from) copy_to_receive(-1 - block, from, bytes);
      if (from) from += bytes;
    }
    all_.buffers.keep(number, kept);
  }

  /// Copies a block of the flow that ends here to the receive buffer.
  void copy_to_receive(Rank source, const char* from, std::int64_t bytes) {
    receive_block(source, bytes_in_flow(receive_.bytes(source)), from, bytes);
  }

  /// Copies a block of `bytes` bytes into block `number` of the receive buffer, which has room for `room` bytes.
  void receive_block(std::int32_t number, std::int64_t room, const char* from, std::int64_t bytes) {
    if (bytes > room) failure_.received_wrong(MPI_ERR_TRUNCATE, false);
    const std::int64_t fits = std::min(bytes, room);
    if (fits == 0 || !buffers_are_usable()) return;
    std::memcpy(receive_.address(number), from, static_cast<std::size_t>(fits));
    copied(fits);
  }

  SizedState& all_;
  const Flow& flow_;
  const Blocks &send_, &receive_;
  std::int64_t direct_above_, common_bytes_;  ///< as in Agreed
  Padded* padded_;
  Failure& failure_;
  Fabric<Watching>& fabric_;
  bool begun_ = false;
};

}  // namespace swapmeet
