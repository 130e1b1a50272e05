#include "execute/varying.hpp"

#include <algorithm>
#include <cstring>

#include "execute/native.hpp"
#include "model/threshold.hpp"
#include "schedule/size_format.hpp"

namespace swapmeet {

namespace {

/// Tags: messages to one peer keep their order within each kind.
enum Tag : int { tag_last = 1, tag_passed_on, tag_ahead, tag_direct };

template <class Number>
char* write_number(char* to, std::int64_t number) {
  const auto value = static_cast<Number>(number);
  std::memcpy(to, &value, sizeof value);
  return to + sizeof value;
}

template <class Number>
std::int64_t read_number(const char* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return static_cast<std::int64_t>(value);
}

/// Reads sizes as they are sent, one by one.
class SizeReader {
 public:
  explicit SizeReader(const char* from) : from_(from), wide_(read_number<std::uint32_t>(from) == wide_mark) {
    if (wide_) from_ += sizeof wide_mark;
  }
  std::int64_t next() {
    const std::int64_t size = wide_ ? read_number<std::int64_t>(from_) : read_number<std::uint32_t>(from_);
    from_ += wide_ ? sizeof(std::int64_t) : sizeof(std::uint32_t);
    return size;
  }
  const char* end() const { return from_; }

 private:
  const char* from_;
  bool wide_;
};

/// The sum of `count` sizes that begin at `from`, and where they end.
std::int64_t sum_sizes(const char* from, std::uint32_t count, const char** end = nullptr) {
  SizeReader reader(from);
  std::int64_t sum = 0;
  for (std::uint32_t i = 0; i < count; ++i) sum += reader.next();
  if (end) *end = reader.end();
  return sum;
}

/// A whole block, as bytes.
Part bytes_of(const Blocks& blocks, Rank i) { return {blocks.address(i), blocks.bytes(i), MPI_BYTE}; }

}  // namespace

/// One call, without the blocks that go straight. `Watching`: Watch or Unwatched.
template <class Watching>
class Relaying {
 public:
  Relaying(Varying& all, const Blocks& send, const Blocks& receive, std::int64_t direct_bytes, MPI_Comm comm, Outcome& outcome,
           bool& touched, const Watching& watch)
      : all_(all), relay_(all.relay_), send_(send), receive_(receive), direct_bytes_(direct_bytes), comm_(comm),
        touched_(touched), outcome_(outcome), watch_(watch) {}

  int run() {
    for (Rank d = 0; d < relay_.ranks; ++d) item(d) = {send_.address(d), small(send_.bytes(d)), 0};
    int error = MPI_SUCCESS;
    for (std::size_t i = 0; i < relay_.rounds.size() && !error; ++i) {
      watch_.step(relay_.rounds[i].step);
      error = exchange(relay_.rounds[i]);
    }
    for (Landing& landing : all_.landings_) give(landing);  // after an error
    return error;
  }

 private:
  using Bundle = Relay::Bundle;

  /// The bytes that a block has in the schedule.
  std::int64_t small(std::int64_t bytes) const { return bytes > direct_bytes_ ? 0 : bytes; }

  Varying::Item& item(std::int32_t block) { return all_.items_[static_cast<std::size_t>(block)]; }
  std::span<const std::int32_t> arriving(const Bundle& bundle) const { return relay_.blocks_of(bundle, relay_.arriving); }
  std::span<const std::int32_t> departing(const Bundle& bundle) const { return relay_.blocks_of(bundle, relay_.departing); }

  bool take(Landing& landing, std::int64_t bytes) {
    landing = {nullptr, bytes, 0};
    return bytes == 0 || (landing.memory = all_.pool_.take(bytes)) != nullptr;
  }

  void give(Landing& landing) {
    if (landing.memory) all_.pool_.give(landing.memory, landing.bytes);
    landing = {};
  }

  /// For ever: MPI may still read it.
  static void lose(Landing& landing) { landing = {}; }

  /// Whether the receiver of `bundle` has to be told the sizes of its blocks: with them, or by what travels ahead.
  static bool tells(const Bundle& bundle) { return !bundle.last; }
  /// Within the node nothing goes ahead: its receiver is told how long a message is.
  Sizes treatment(const Bundle& bundle) const { return all_.courier_.local(bundle.peer) ? Sizes::combined : all_.sizes_; }
  bool combines(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) != Sizes::ahead; }
  bool announces(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) != Sizes::combined; }
  bool probes(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) == Sizes::combined; }

  int exchange(const Relay::Round& round) {
    const auto sends = relay_.sends_of(round), receives = relay_.receives_of(round);
    const std::span<Landing> landings = std::span(all_.landings_).subspan(round.first_receive, receives.size());
    const std::span<Landing> gathered = std::span(all_.gathered_).first(sends.size());
    const std::span<Landing> heads_in = std::span(all_.heads_).first(receives.size());
    const std::span<Landing> heads_out = std::span(all_.heads_).subspan(receives.size(), sends.size());
    int error = announce(sends, heads_out, receives, heads_in);
    if (!error) error = transfer(sends, gathered, receives, landings, heads_in);
    if (error) all_.courier_.abandon(touched_ || error == MPI_ERR_NO_MEM);
    for (const auto& sent : {heads_out, gathered})
      for (Landing& memory : sent) error ? lose(memory) : give(memory);
    if (!error) deliver(round, receives, landings, heads_in);
    for (Landing& memory : heads_in) give(memory);
    if (!error) forget(sends);
    return error;
  }

  /// Sends ahead of each message what its receiver must know, and receives that.
  int announce(std::span<const Bundle> sends, std::span<Landing> out, std::span<const Bundle> receives, std::span<Landing> in) {
    if (all_.sizes_ == Sizes::combined) return MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::metadata);
    const bool sizes = all_.sizes_ == Sizes::ahead;
    const auto room = [&](const Bundle& bundle) { return sizes ? most_sizes_bytes(bundle.count) : number_bytes; };
    for (std::size_t i = 0; i < receives.size(); ++i) {
      if (!announces(receives[i])) continue;
      if (!take(in[i], room(receives[i]))) return MPI_ERR_NO_MEM;
      if (const int error = receive({in[i].memory, in[i].bytes, MPI_BYTE}, receives[i].peer, tag_ahead)) return error;
    }
    for (std::size_t i = 0; i < sends.size(); ++i) {
      if (!announces(sends[i])) continue;
      if (!take(out[i], room(sends[i]))) return MPI_ERR_NO_MEM;
      char* const end = sizes ? write_sizes(out[i].memory, sends[i])
                              : write_number<std::int64_t>(out[i].memory, body_bytes(sends[i]));
      if (const int error = send({out[i].memory, end - out[i].memory, MPI_BYTE}, sends[i].peer, tag_ahead)) return error;
    }
    return wait();
  }

  /// The messages themselves. Those whose length only MPI knows are asked for when everything else is under way.
  int transfer(std::span<const Bundle> sends, std::span<Landing> gathered, std::span<const Bundle> receives,
               std::span<Landing> landings, std::span<const Landing> heads) {
    const auto phase = watch_.during(CallPhase::transfer);
    for (std::size_t i = 0; i < receives.size(); ++i) {
      const bool asks = probes(receives[i]), local = all_.courier_.local(receives[i].peer);
      if (asks && local) all_.courier_.receive_any(receives[i].peer, landings[i], tag_passed_on);
      if (asks) continue;
      if (const int error = land(receives[i], landings[i], heads[i])) return error;
    }
    for (std::size_t i = 0; i < sends.size(); ++i)
      if (const int error = send_blocks(sends[i], gathered[i])) return error;
    for (std::size_t i = 0; i < receives.size(); ++i)
      if (probes(receives[i]) && !all_.courier_.local(receives[i].peer))
        if (const int error = land_probed(receives[i], landings[i])) return error;
    phase.then(CallPhase::wait);
    return wait();
  }

  int land(const Bundle& bundle, Landing& landing, const Landing& head) {
    if (tells(bundle)) {
      const std::int64_t bytes = all_.sizes_ == Sizes::total ? read_number<std::int64_t>(head.memory)
                                                             : sum_sizes(head.memory, bundle.count);
      if (!take(landing, bytes)) return MPI_ERR_NO_MEM;
      return bytes == 0 ? MPI_SUCCESS : receive({landing.memory, bytes, MPI_BYTE}, bundle.peer, tag_passed_on);
    }
    std::int64_t bytes = 0;
    for (const std::int32_t block : arriving(bundle)) bytes += small(receive_.bytes(-1 - block));
    if (bytes == 0) return MPI_SUCCESS;
    char* to = receive_.address(-1 - arriving(bundle)[0]);  // a single block is received where it stays
    if (bundle.count > 1) {
      if (!take(landing, bytes)) return MPI_ERR_NO_MEM;
      to = landing.memory;
    }
    return receive({to, bytes, MPI_BYTE}, bundle.peer, tag_last);
  }

  int land_probed(const Bundle& bundle, Landing& landing) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    MPI_Count bytes = 0;
    const auto phase = watch_.during(CallPhase::wait);
    int error = PMPI_Mprobe(bundle.peer, tag_passed_on, comm_, &message, &status);
    phase.then(CallPhase::transfer);
    if (!error) error = PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    if (error) return error;
    if (!take(landing, bytes)) return MPI_ERR_NO_MEM;
    return imrecv({landing.memory, bytes, MPI_BYTE}, &message, all_.courier_.request(bundle.peer, bytes, tag_passed_on));
  }

  int send_blocks(const Bundle& bundle, Landing& gathered) {
    const int tag = tells(bundle) ? tag_passed_on : tag_last;
    const std::int64_t bytes = body_bytes(bundle);
    if (bytes == 0) return MPI_SUCCESS;
    if (bundle.count == 1 && !combines(bundle))
      return send({const_cast<char*>(item(departing(bundle)[0]).address), bytes, MPI_BYTE}, bundle.peer, tag);
    const auto phase = watch_.during(CallPhase::pack);
    if (!take(gathered, bytes)) return MPI_ERR_NO_MEM;
    char* to = combines(bundle) ? write_sizes(gathered.memory, bundle) : gathered.memory;
    for (const std::int32_t block : departing(bundle)) {
      const Varying::Item& it = item(block);
      if (it.bytes > 0) std::memcpy(to, it.address, static_cast<std::size_t>(it.bytes));
      to += it.bytes;
    }
    phase.then(CallPhase::transfer);
    return send({gathered.memory, bytes, MPI_BYTE}, bundle.peer, tag);
  }

  /// What has arrived: blocks that stay go to their place, the others are kept where they landed.
  void deliver(const Relay::Round& round, std::span<const Bundle> receives, std::span<Landing> landings,
               std::span<const Landing> heads) {
    const auto phase = watch_.during(CallPhase::unpack);
    for (std::size_t i = 0; i < receives.size(); ++i) {
      const Bundle& bundle = receives[i];
      Landing& landing = landings[i];
      const char* from = landing.memory;
      const char* sizes = combines(bundle) ? from : heads[i].memory;
      if (combines(bundle)) sum_sizes(from, bundle.count, &from);
      if (bundle.last && !from) continue;  // empty, or already where it stays
      SizeReader reader(bundle.last ? no_sizes : sizes);
      for (const std::int32_t block : arriving(bundle)) {
        const std::int64_t bytes = bundle.last ? small(receive_.bytes(-1 - block)) : reader.next();
        if (block < 0) {
          stays(-1 - block, from, bytes);
        } else {
          item(block) = {from, bytes, round.first_receive + static_cast<std::uint32_t>(i)};
          ++landing.waiting;
        }
        from += bytes;
      }
      if (landing.waiting == 0) give(landing);
    }
  }

  void stays(Rank source, const char* from, std::int64_t bytes) {
    const std::int64_t room = small(receive_.bytes(source));
    if (bytes > room) outcome_.noted(MPI_ERR_TRUNCATE);
    if (const std::int64_t fits = std::min(bytes, room); fits > 0)
      std::memcpy(receive_.address(source), from, static_cast<std::size_t>(fits));
  }

  /// These have left: so may the memory of messages that wait for no other block.
  void forget(std::span<const Bundle> sends) {
    for (const Bundle& bundle : sends)
      for (const std::int32_t block : departing(bundle)) {
        if (block < relay_.ranks) continue;
        Landing& landing = all_.landings_[item(block).message];
        if (--landing.waiting == 0) give(landing);
      }
  }

  /// The length of a message, with the sizes if they travel with it.
  std::int64_t body_bytes(const Bundle& bundle) {
    std::int64_t bytes = 0;
    for (const std::int32_t block : departing(bundle)) bytes += item(block).bytes;
    return combines(bundle) ? bytes + sizes_bytes(bundle.count, largest(bundle)) : bytes;
  }

  std::int64_t largest(const Bundle& bundle) {
    std::int64_t bytes = 0;
    for (const std::int32_t block : departing(bundle)) bytes = std::max(bytes, item(block).bytes);
    return bytes;
  }

  /// Returns where the sizes end.
  char* write_sizes(char* to, const Bundle& bundle) {
    const bool wide = largest(bundle) >= wide_mark;
    if (wide) to = write_number<std::uint32_t>(to, wide_mark);
    for (const std::int32_t block : departing(bundle))
      to = wide ? write_number<std::int64_t>(to, item(block).bytes) : write_number<std::uint32_t>(to, item(block).bytes);
    return to;
  }

  int receive(const Part& part, Rank from, int tag) { return all_.courier_.receive(Courier::round, part, from, tag); }

  int send(const Part& part, Rank to, int tag) {
    const int error = all_.courier_.send(Courier::round, part, to, tag);
    if (!error) touched_ = true, all_.traffic_.add(part.count);
    return error;
  }

  int wait() { return all_.courier_.wait(Courier::round); }

  static constexpr char no_sizes[sizeof(std::uint32_t)] = {};

  Varying& all_;
  const Relay& relay_;
  const Blocks &send_, &receive_;
  std::int64_t direct_bytes_;
  MPI_Comm comm_;
  bool& touched_;
  Outcome& outcome_;
  [[no_unique_address]] Watching watch_;
};

Varying::Varying(const Spec& spec, Relay relay, const Forwarding& forwarding, Neighbours* neighbours)
    : spec_(spec), sizes_(spec.sizes == Sizes::automatic ? Sizes::combined : spec.sizes),
      ranks_(relay.ranks), rank_(relay.rank),
      relay_(std::move(relay)), forwarding_(forwarding), working_blocks_(relay_.peak_blocks()),
      courier_(neighbours, single_copy(spec.intra), pool_) {
  std::size_t widest = 0;
  for (const Relay::Round& round : relay_.rounds)
    widest = std::max<std::size_t>({widest, round.send_count, round.receive_count});
  items_.resize(static_cast<std::size_t>(ranks_ + relay_.passed_on));
  landings_.resize(relay_.receives.size());
  gathered_.resize(widest);
  heads_.resize(2 * widest);
  courier_.make_room(Courier::round, widest);
  make_room_for_straight();
}

Varying::Varying(const Spec& spec, Rank ranks, Rank rank, const Forwarding& forwarding, Plan* padded)
    : spec_(spec), sizes_(Sizes::padded), ranks_(ranks), rank_(rank), padded_(padded), forwarding_(forwarding), courier_(nullptr, {}, pool_) {
  working_blocks_ = padded ? padded->working_blocks() : 2 * std::int64_t{ranks};
  make_room_for_straight();
}

void Varying::make_room_for_straight() {
  if (spec_.direct_bytes != Direct::never) courier_.make_room(Courier::straight, static_cast<std::size_t>(ranks_));
}

bool Varying::agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, MPI_Comm comm,
                    PhaseClock* clock) {
  const std::int64_t bound = limit_bytes / std::max<std::int64_t>(1, working_blocks_);
  if (spec_.direct_bytes == Direct::automatic) {
    const auto phase = Watch(clock).during(CallPhase::metadata);
    agreed_ = agreed_by(agree_on_classes(send, receive, comm), forwarding_, bound);
  } else {
    agreed_ = agreed_without(spec_, bound);
    if (agreement_bytes() == 0) return within(agreed_, spec_, bound);
    const auto phase = Watch(clock).during(CallPhase::metadata);
    agree_on_largest(send, comm);
  }
  return within(agreed_, spec_, bound);
}

void Varying::agree_on_largest(const Blocks& send, MPI_Comm comm) {
  std::int64_t mine = 0;
  for (Rank i = 0; i < ranks_; ++i)
    if (i != rank_ && send.bytes(i) <= agreed_.direct_bytes) mine = std::max(mine, send.bytes(i));
  agreement_error_ = PMPI_Allreduce(&mine, &agreed_.largest, 1, MPI_INT64_T, MPI_MAX, comm);
}

SizeClasses Varying::agree_on_classes(const Blocks& send, const Blocks& receive, MPI_Comm comm) {
  SizeClasses sent{}, received{}, most{};
  for (Rank i = 0; i < ranks_; ++i) {
    if (i == rank_) continue;
    ++sent[size_class(send.bytes(i))];
    ++received[size_class(receive.bytes(i))];
  }
  std::ranges::transform(sent, received, sent.begin(), [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  agreement_error_ = PMPI_Allreduce(sent.data(), most.data(), size_classes, MPI_INT64_T, MPI_MAX, comm);
  return most;
}

int Varying::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock) {
  if (clock) [[unlikely]]
    return run(send, receive, comm, touched, clock, Watch(clock));
  return run(send, receive, comm, touched, clock, Unwatched());
}

template <class Watching>
int Varying::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock,
                 const Watching& watch) {
  if (agreement_error_ != MPI_SUCCESS) return touched = true, agreement_error_;
  if (!courier_.ready()) return touched = true, MPI_ERR_OTHER;
  touched = false;
  Outcome outcome;
  const auto phase = watch.during(CallPhase::copy);
  courier_.begin(comm, outcome, Watch(clock));
  int error = outcome.noted(copy_own(send, receive, comm));
  phase.then(CallPhase::transfer);
  if (!error) error = send_straight(send, receive, touched);
  if (!error && agreed_.direct_bytes > 0) {
    phase.then(CallPhase::other);
    error = sizes_ == Sizes::padded
                ? run_padded(send, receive, comm, touched, clock)
                : Relaying(*this, send, receive, agreed_.direct_bytes, comm, outcome, touched, watch).run();
    if (error == MPI_ERR_NO_MEM) touched = true;  // the other ranks are under way
    if (error) error = outcome.noted(error);
  }
  phase.then(CallPhase::wait);
  if (!error) error = courier_.wait(Courier::straight);
  if (error) courier_.abandon(touched);
  return error ? error : outcome.received_wrong();
}

/// Begins to exchange the blocks that are too large to be passed on.
int Varying::send_straight(const Blocks& send, const Blocks& receive, bool& touched) {
  if (agreed_.direct_bytes == Direct::never) return MPI_SUCCESS;
  for (Rank i = 1; i < ranks_; ++i) {
    const Rank source = (rank_ - i + ranks_) % ranks_;
    if (receive.bytes(source) <= agreed_.direct_bytes) continue;
    if (const int error = courier_.receive(Courier::straight, bytes_of(receive, source), source, tag_direct)) return error;
  }
  for (Rank i = 1; i < ranks_; ++i) {
    const Rank destination = (rank_ + i) % ranks_;
    if (send.bytes(destination) <= agreed_.direct_bytes) continue;
    if (const int error = courier_.send(Courier::straight, bytes_of(send, destination), destination, tag_direct)) return error;
    touched = true;
    traffic_.add(send.bytes(destination));
  }
  return MPI_SUCCESS;
}

int Varying::copy_own(const Blocks& send, const Blocks& receive, MPI_Comm comm) const {
  const Part from = send.whole(rank_), to = receive.whole(rank_);
  if (send.bytes(rank_) != receive.bytes(rank_)) return sendrecv(from, rank_, to, rank_, tag_direct, comm);
  if (const std::int64_t bytes = send.bytes(rank_); bytes > 0)
    std::memcpy(to.address, from.address, static_cast<std::size_t>(bytes));
  return MPI_SUCCESS;
}

int Varying::run_padded(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock) {
  const std::int64_t room = agreed_.largest;
  if (room == 0) return MPI_SUCCESS;
  if (!out_.reserve(ranks_ * room) || !in_.reserve(ranks_ * room)) return MPI_ERR_NO_MEM;
  padded_peak_ = std::max(padded_peak_, 2 * ranks_ * room);
  const auto copy = [&](const Blocks& blocks, Rank i, bool in) {
    const std::int64_t bytes = i == rank_ || blocks.bytes(i) > room ? 0 : blocks.bytes(i);
    char *const ours = (in ? out_ : in_).memory() + i * room, *const theirs = blocks.address(i);
    if (bytes > 0) std::memcpy(in ? ours : theirs, in ? theirs : ours, static_cast<std::size_t>(bytes));
  };
  const auto phase = Watch(clock).during(CallPhase::pack);
  for (Rank i = 0; i < ranks_; ++i) copy(send, i, true);
  phase.then(CallPhase::other);
  const Datatype& byte = byte_type();
  int error = MPI_SUCCESS;
  if (padded_) {
    error = padded_->run({out_.memory(), room, byte}, {in_.memory(), room, byte}, comm, touched, clock);
  } else {
    touched = true;
    const int count = static_cast<int>(room);
    phase.then(CallPhase::native);
    error = native().alltoall(out_.memory(), count, MPI_BYTE, in_.memory(), count, MPI_BYTE, comm);
  }
  phase.then(CallPhase::unpack);
  for (Rank i = 0; i < ranks_ && !error; ++i) copy(receive, i, false);
  out_.release();
  in_.release();
  return error;
}

}  // namespace swapmeet
