#include "engine/varying.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "mpi/native.hpp"
#include "engine/relaying.hpp"
#include "model/threshold.hpp"

namespace swapmeet {

namespace {

/// A whole block, as bytes.
Part bytes_of(const Blocks& blocks, Rank i) { return {blocks.address(i), blocks.bytes(i), MPI_BYTE}; }

}  // namespace

Varying::Varying(const Spec& spec, Relay relay, const Forwarding& forwarding, Neighbours* neighbours)
    : spec_(spec), sizes_(spec.sizes == Sizes::automatic ? Sizes::combined : spec.sizes), ranks_(relay.ranks),
      rank_(relay.rank), relay_(std::move(relay)), forwarding_(forwarding), working_blocks_(relay_.peak_blocks()),
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
    : spec_(spec), sizes_(Sizes::padded), ranks_(ranks), rank_(rank), padded_(padded), forwarding_(forwarding),
      courier_(nullptr, {}, pool_) {
  working_blocks_ = padded ? padded->working_blocks() : 2 * std::int64_t{ranks};
  make_room_for_straight();
}

void Varying::make_room_for_straight() {
  if (spec_.direct_bytes != Direct::never) courier_.make_room(Courier::straight, static_cast<std::size_t>(ranks_));
}

int Varying::prepare_agreement(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes) {
  bound_bytes_ = limit_bytes / std::max<std::int64_t>(1, working_blocks_);
  agreement_error_ = MPI_SUCCESS;
  mine_ = {};
  if (spec_.direct_bytes == Direct::automatic) {
    SizeClasses received{};
    for (Rank i = 0; i < ranks_; ++i) {
      if (i == rank_) continue;
      ++mine_[size_class(send.bytes(i))];
      ++received[size_class(receive.bytes(i))];
    }
    std::ranges::transform(mine_, received, mine_.begin(),
                           [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
    return size_classes;
  }
  agreed_ = agreed_without(spec_, bound_bytes_);
  if (agreement_bytes() == 0) return 0;
  for (Rank i = 0; i < ranks_; ++i)
    if (i != rank_ && send.bytes(i) <= agreed_.direct_bytes) mine_[0] = std::max(mine_[0], send.bytes(i));
  return 1;
}

bool Varying::concluded() {
  if (spec_.direct_bytes == Direct::automatic) agreed_ = agreed_by(most_, forwarding_, bound_bytes_);
  else if (agreement_bytes() > 0) agreed_.largest = most_[0];
  return within(agreed_, spec_, bound_bytes_);
}

void Varying::send_all_straight() {
  agreed_ = {};
  courier_.make_room(Courier::straight, static_cast<std::size_t>(ranks_));
}

bool Varying::agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, MPI_Comm comm,
                    PhaseClock* clock) {
  if (const int numbers = prepare_agreement(send, receive, limit_bytes)) {
    const auto phase = Watch(clock).during(CallPhase::metadata);
    agreement_error_ = PMPI_Allreduce(mine_.data(), most_.data(), numbers, MPI_INT64_T, MPI_MAX, comm);
  }
  return concluded();
}

int Varying::start_agreement(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, MPI_Comm comm,
                             MPI_Request* agreement) {
  *agreement = MPI_REQUEST_NULL;
  const int numbers = prepare_agreement(send, receive, limit_bytes);
  return numbers == 0 ? MPI_SUCCESS
                      : PMPI_Iallreduce(mine_.data(), most_.data(), numbers, MPI_INT64_T, MPI_MAX, comm, agreement);
}

struct Varying::UnderWay {
  virtual ~UnderWay() = default;
  virtual int advance() = 0;
};

/// One exchange from its beginning to its end: the own block, blocks that go straight, and all others meanwhile.
template <class Waiting, class Watching>
class Varying::Exchange final : public UnderWay {
 public:
  Exchange(Varying& all, const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock,
           Watching watch)
      : all_(all), send_(send), receive_(receive), comm_(comm), touched_(touched), clock_(clock), watch_(watch),
        relaying_(all, send, receive, all.agreed_.direct_bytes, comm, outcome_, touched, watch) {}

  int advance() override {
    Courier& courier = all_.courier_;
    int error = MPI_SUCCESS;
    if (stage_ == Stage::begin) error = begin();
    if (!error && stage_ == Stage::others) {
      error = all_.sizes_ == Sizes::padded ? pad() : relaying_.run();
      if (error == unfinished) return error;
      if (error == MPI_ERR_NO_MEM) touched_ = true;  // the other ranks are under way
      if (error) error = outcome_.noted(error);
      stage_ = Stage::straight;
    }
    if (!error) {
      const auto phase = watch_.during(CallPhase::wait);
      error = courier.template finish<Waiting>(Courier::straight);
      if (error == unfinished) return error;
    }
    if (error) courier.abandon(touched_);
    return error ? error : outcome_.received_wrong();
  }

 private:
  int begin() {
    const auto phase = watch_.during(CallPhase::copy);
    all_.courier_.begin(comm_, outcome_, Watch(clock_));
    const int error = outcome_.noted(all_.copy_own(send_, receive_, comm_));
    phase.then(CallPhase::transfer);
    stage_ = all_.agreed_.direct_bytes > 0 ? Stage::others : Stage::straight;
    return error ? error : all_.send_straight(send_, receive_, touched_);
  }

  /// Every block as large as the largest.
  int pad() {
    const std::int64_t room = all_.agreed_.largest;
    if (room == 0) return MPI_SUCCESS;
    if (!padded_) {
      padded_ = true;
      if (!all_.out_.reserve(all_.ranks_ * room) || !all_.in_.reserve(all_.ranks_ * room)) return MPI_ERR_NO_MEM;
      all_.padded_peak_ = std::max(all_.padded_peak_, 2 * all_.ranks_ * room);
      const auto phase = watch_.during(CallPhase::pack);
      for (Rank i = 0; i < all_.ranks_; ++i) copy(send_, i, true);
      phase.then(CallPhase::other);
      if (const int error = begin_padded(room)) return error;
    }
    const int error = finish_padded();
    if (error == unfinished) return error;
    const auto phase = watch_.during(CallPhase::unpack);
    for (Rank i = 0; i < all_.ranks_ && !error; ++i) copy(receive_, i, false);
    all_.out_.release();
    all_.in_.release();
    return error;
  }

  /// A block in or out of the padded ones. Our own and those that go straight are none of these.
  void copy(const Blocks& blocks, Rank i, bool in) {
    const std::int64_t room = all_.agreed_.largest;
    const std::int64_t bytes = i == all_.rank_ || blocks.bytes(i) > room ? 0 : blocks.bytes(i);
    char *const ours = (in ? all_.out_ : all_.in_).memory() + i * room, *const theirs = blocks.address(i);
    if (bytes > 0) std::memcpy(in ? ours : theirs, in ? theirs : ours, static_cast<std::size_t>(bytes));
    copied(bytes);
  }

  int begin_padded(std::int64_t room) {
    char *const out = all_.out_.memory(), *const in = all_.in_.memory();
    if (all_.padded_) {
      padded_send_.emplace(out, room, byte_type());
      padded_receive_.emplace(in, room, byte_type());
      if constexpr (Waiting::waits) return MPI_SUCCESS;
      return all_.padded_->start(*padded_send_, *padded_receive_, comm_);
    }
    touched_ = true;
    const int count = static_cast<int>(room);
    const auto phase = watch_.during(CallPhase::native);
    if constexpr (Waiting::waits) return native().alltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, comm_);
    return native().ialltoall(out, count, MPI_BYTE, in, count, MPI_BYTE, comm_, &native_request_);
  }

  int finish_padded() {
    if constexpr (Waiting::waits)
      return all_.padded_ ? all_.padded_->run(*padded_send_, *padded_receive_, comm_, touched_, clock_) : MPI_SUCCESS;
    if (all_.padded_) return all_.padded_->advance();
    int done = 0;
    const int error = PMPI_Test(&native_request_, &done, MPI_STATUS_IGNORE);
    return error || done ? error : unfinished;
  }

  enum class Stage { begin, others, straight };

  Varying& all_;
  const Blocks &send_, &receive_;
  MPI_Comm comm_;
  bool& touched_;
  PhaseClock* clock_;
  [[no_unique_address]] Watching watch_;
  Outcome outcome_;
  Stage stage_ = Stage::begin;  ///< blocks that do not go straight are under way in the second
  Relaying<Waiting, Watching> relaying_;
  bool padded_ = false;  ///< blocks have been
  std::optional<Blocks> padded_send_, padded_receive_;
  MPI_Request native_request_ = MPI_REQUEST_NULL;
};

Varying::~Varying() = default;

int Varying::run(const Blocks& send, const Blocks& receive, MPI_Comm comm, bool& touched, PhaseClock* clock) {
  if (agreement_error_ != MPI_SUCCESS) return touched = true, agreement_error_;
  if (!courier_.ready()) return touched = true, MPI_ERR_OTHER;
  touched = false;
  if (clock) [[unlikely]]
    return Exchange<Blocking, Watch>(*this, send, receive, comm, touched, clock, Watch(clock)).advance();
  return Exchange<Blocking, Unwatched>(*this, send, receive, comm, touched, clock, Unwatched()).advance();
}

void Varying::start(const Blocks& send, const Blocks& receive, MPI_Comm comm) {
  under_way_ =
      std::make_unique<Exchange<Nonblocking, Unwatched>>(*this, send, receive, comm, touched_, nullptr, Unwatched());
}

int Varying::advance() {
  const int error = under_way_->advance();
  if (error != unfinished) under_way_.reset();
  return error;
}

/// Begins to exchange the blocks that are too large to be passed on.
int Varying::send_straight(const Blocks& send, const Blocks& receive, bool& touched) {
  if (agreed_.direct_bytes == Direct::never) return MPI_SUCCESS;
  for (Rank i = 1; i < ranks_; ++i) {
    const Rank source = (rank_ - i + ranks_) % ranks_;
    if (receive.bytes(source) <= agreed_.direct_bytes) continue;
    if (const int error = courier_.receive(Courier::straight, bytes_of(receive, source), source, tag_direct))
      return error;
  }
  for (Rank i = 1; i < ranks_; ++i) {
    const Rank destination = (rank_ + i) % ranks_;
    if (send.bytes(destination) <= agreed_.direct_bytes) continue;
    if (const int error = courier_.send(Courier::straight, bytes_of(send, destination), destination, tag_direct))
      return error;
    touched = true;
    traffic_.add(send.bytes(destination));
  }
  return MPI_SUCCESS;
}

int Varying::copy_own(const Blocks& send, const Blocks& receive, MPI_Comm comm) const {
  const Part from = send.whole(rank_), to = receive.whole(rank_);
  if (send.bytes(rank_) != receive.bytes(rank_)) return sendrecv(from, rank_, to, rank_, tag_direct, comm);
  if (const std::int64_t bytes = send.bytes(rank_); bytes > 0) {
    std::memcpy(to.address, from.address, static_cast<std::size_t>(bytes));
    copied(bytes);
  }
  return MPI_SUCCESS;
}

}  // namespace swapmeet
