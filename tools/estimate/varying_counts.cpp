#include "estimate/varying_counts.hpp"

#include <algorithm>
#include <climits>

#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "proofs/matching.hpp"
#include "schedule/size_format.hpp"
#include "schedule/working_memory.hpp"

namespace swapmeet {

namespace {

/// Returns the memory that a block may need for its size, in addition to its bytes: as if it were alone in its message.
std::int64_t size_room(Sizes sizes, std::int64_t largest) {
  SizeTally alone;
  alone.add(largest);
  switch (sizes) {
    case Sizes::ahead: return most_sizes_bytes(1);
    case Sizes::combined: return alone.bytes();
    case Sizes::total: return alone.bytes() + number_bytes;
    default: return 0;
  }
}

}  // namespace

/// The sizes of the blocks of one call.
struct VaryingCounter::Matrix {
  std::int64_t ranks;
  std::span<const std::int64_t> bytes;

  std::int64_t at(std::int64_t source, std::int64_t destination) const {
    return bytes[static_cast<std::size_t>(source * ranks + destination)];
  }

  /// Calls use(source, destination, bytes) for the blocks for other ranks.
  void each(auto use) const {
    for (std::int64_t s = 0; s < ranks; ++s)
      for (std::int64_t d = 0; d < ranks; ++d)
        if (s != d) use(static_cast<std::size_t>(s), static_cast<std::size_t>(d), at(s, d));
  }

  /// Returns the largest block for another rank, among blocks of at most `most` bytes.
  std::int64_t largest(std::int64_t most) const {
    std::int64_t largest = 0;
    each([&](std::size_t, std::size_t, std::int64_t one) { largest = one <= most ? std::max(largest, one) : largest; });
    return largest;
  }

  std::int64_t least() const {
    std::int64_t least = INT64_MAX;
    each([&](std::size_t, std::size_t, std::int64_t one) { least = std::min(least, one); });
    return least;
  }

  double mean() const {
    double sum = 0;
    each([&](std::size_t, std::size_t, std::int64_t one) { sum += static_cast<double>(one); });
    return ranks == 1 ? 0 : sum / (static_cast<double>(ranks) * static_cast<double>(ranks - 1));
  }

  /// Returns, for each class, the most blocks that a rank sends or receives.
  SizeClasses classes() const {
    std::vector<SizeClasses> sent(static_cast<std::size_t>(ranks)), received = sent;
    each([&](std::size_t source, std::size_t destination, std::int64_t one) {
      ++sent[source][size_class(one)];
      ++received[destination][size_class(one)];
    });
    SizeClasses most{};
    for (const auto* side : {&sent, &received})
      for (const SizeClasses& of_rank : *side)
        std::ranges::transform(most, of_rank, most.begin(), [](auto a, auto b) { return std::max(a, b); });
    return most;
  }
};

namespace {

/// Returns the number of messages for one block.
std::int64_t pieces(std::int64_t bytes, std::int64_t segment_bytes) {
  return segment_bytes == 0 ? 1 : (bytes + segment_bytes - 1) / segment_bytes;
}

}  // namespace

/// The walk of one rank's flow for one call, without the blocks that are sent directly.
class VaryingWalk {
 public:
  /// `known`: every rank knows all sizes.
  VaryingWalk(const VaryingCounter& all, const VaryingCounter::Matrix& matrix, std::int64_t direct_bytes, bool known,
              Rank rank)
      : all_(all), flow_(all.flows_[static_cast<std::size_t>(rank)]),
        origins_(all.origins_[static_cast<std::size_t>(rank)]), matrix_(matrix), direct_bytes_(direct_bytes),
        known_(known) {}

  void run(RankCounts& counts) const {
    for (const Message& message : flow_.sends) send(message, counts);
    counts.working_bytes =
        std::max(counts.working_bytes, peak_memory(
                                           flow_, [this](const Message& message) { return room_of_sent(message); },
                                           [this](const Message& message) { return room_of_received(message); }));
  }

 private:
  /// The bytes of the blocks of a message, and of their sizes if these are sent with them.
  struct Load {
    std::int64_t bytes = 0, size_bytes = 0;
  };

  std::int64_t bytes_of(std::int32_t block) const {
    const std::int64_t bytes = block < 0 ? matrix_.at(-1 - block, flow_.rank)
                               : block < flow_.ranks
                                   ? matrix_.at(flow_.rank, block)
                                   : matrix_.bytes[origins_[static_cast<std::size_t>(block - flow_.ranks)]];
    return bytes > direct_bytes_ ? 0 : bytes;
  }

  Load load(std::span<const std::int32_t> blocks) const {
    SizeTally tally;
    for (const std::int32_t block : blocks) tally.add(bytes_of(block));
    return {tally.sum(), tally.bytes()};
  }

  /// Returns how the receiver learns the sizes; automatic: it knows them. Within a node, unless messages go through
  /// MPI, nothing is sent ahead.
  Sizes treatment(const Message& message) const {
    if (message.last || known_) return Sizes::automatic;
    const bool near = all_.spec_.intra != Transport::mpi && all_.shape_.share_node(flow_.rank, message.peer);
    return near ? Sizes::combined : all_.sizes_;
  }

  bool combines(const Message& message) const {
    return treatment(message) == Sizes::combined || treatment(message) == Sizes::total;
  }

  /// Returns the memory for what precedes a message.
  std::int64_t head_room(const Message& message) const {
    switch (treatment(message)) {
      case Sizes::ahead: return most_sizes_bytes(message.count);
      case Sizes::total: return number_bytes;
      default: return 0;
    }
  }

  std::int64_t body(const Message& message, const Load& load) const {
    return load.bytes + (combines(message) ? load.size_bytes : 0);
  }

  void send(const Message& message, RankCounts& counts) const {
    const auto sent = [&](std::int64_t bytes) { ++counts.messages, counts.message_bytes += bytes; };
    const Load blocks = load(flow_.departing_in(message));
    const Sizes sizes = treatment(message);
    if (sizes != Sizes::automatic) counts.size_bytes += blocks.size_bytes + (sizes == Sizes::total ? number_bytes : 0);
    if (sizes == Sizes::ahead) sent(blocks.size_bytes);
    if (sizes == Sizes::total) sent(number_bytes);
    if (const std::int64_t bytes = body(message, blocks); bytes > 0) sent(bytes);
  }

  std::int64_t room_of_sent(const Message& message) const {
    const bool gathered = combines(message) || message.count > 1;
    return head_room(message) + (gathered ? body(message, load(flow_.departing_in(message))) : 0);
  }

  Room room_of_received(const Message& message) const {
    if (message.last && message.count == 1) return {0, 0};  // received in its final place
    return {body(message, load(flow_.arriving_in(message))), head_room(message)};
  }

  const VaryingCounter& all_;
  const Flow& flow_;
  const std::vector<std::uint32_t>& origins_;
  const VaryingCounter::Matrix& matrix_;
  std::int64_t direct_bytes_;
  bool known_;
};

std::string VaryingCounter::problem(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::native && spec.sizes != Sizes::padded)
    return "what the host MPI sends is not known; choose an algorithm, or native(sizes=padded)";
  if (shape.ranks > UINT16_MAX)
    return "the sizes of the blocks of more than 65535 ranks are too many to look at: choose fewer";
  return unsuitable(spec, shape);
}

std::int64_t VaryingCounter::memory_bytes(const Spec& spec, const Shape& shape) {
  const std::int64_t p = shape.ranks, sizes = number_bytes * p * p;
  if (spec.sizes == Sizes::padded || !needs_sizes(spec)) return sizes;
  // Per block: departing, arriving, arrival, origin. Per message: sent, received.
  const Counts counts = swapmeet::count(spec, shape);
  constexpr std::int64_t of_block = 4 * sizeof(std::uint32_t);
  constexpr std::int64_t of_message = 2 * sizeof(Message) + sizeof(Round) + 4 * number_bytes;
  // on average
  const std::int64_t blocks = spec.family == Family::leaders ? std::min(3 * p, counts.blocks) : counts.blocks;
  return sizes + p * (of_block * blocks + of_message * counts.messages);
}

VaryingCounter::VaryingCounter(const Spec& spec, const Shape& shape)
    : spec_(spec), shape_(shape), ranks_(shape.ranks), sizes_(spec.sizes) {
  if (needs_sizes(spec)) forwarding_ = forwarding(spec, shape);
  if (sizes_ == Sizes::padded) {
    working_blocks_ = 2 * std::int64_t{ranks_};
    for (Rank r = 0; r < ranks_ && spec.family != Family::native; ++r) {
      const Schedule schedule = generate(spec, shape, r);
      plans_.push_back({swapmeet::count(schedule), schedule.scratch_blocks});
      working_blocks_ = std::max(working_blocks_, 2 * std::int64_t{ranks_} + plans_.back().scratch_blocks);
    }
  } else if (needs_sizes(spec)) {
    if (sizes_ == Sizes::automatic) sizes_ = Sizes::combined;
    for (Rank r = 0; r < ranks_; ++r) {
      flows_.push_back(flow(spec, shape, r));
      flows_.back().departing.shrink_to_fit();
      flows_.back().arriving.shrink_to_fit();
      working_blocks_ = std::max(working_blocks_, peak_blocks(flows_.back()));
    }
    find_origins();
  }
}

/// Follows each forwarded block back from rank to rank: it arrived in a message whose sender owned or forwarded it.
void VaryingCounter::find_origins() {
  constexpr std::uint32_t unknown = UINT32_MAX;
  const Numbering numbers = match(std::span<const Flow>(flows_), [](const std::string&) {});
  const auto own = static_cast<std::size_t>(ranks_);
  std::vector<std::vector<std::uint32_t>> arrivals;  // index in flow.arriving of each forwarded block
  for (const Flow& flow : flows_) {
    origins_.emplace_back(static_cast<std::size_t>(flow.passed_on), unknown);
    arrivals.emplace_back(static_cast<std::size_t>(flow.passed_on));
    for (std::uint32_t i = 0; i < flow.arriving.size(); ++i)
      if (flow.arriving[i] >= ranks_) arrivals.back()[static_cast<std::size_t>(flow.arriving[i] - ranks_)] = i;
  }
  const auto origin = [&](const auto& self, std::size_t rank, std::size_t block) -> std::uint32_t {
    if (block < own) return static_cast<std::uint32_t>(rank * own + block);
    std::uint32_t& known = origins_[rank][block - own];
    if (known != unknown) return known;
    const std::uint32_t place = arrivals[rank][block - own];
    const std::vector<Message>& receives = flows_[rank].receives;
    const auto message = std::ranges::upper_bound(receives, place, {}, &Message::first) - receives.begin() - 1;
    const auto sender = static_cast<std::size_t>(receives[static_cast<std::size_t>(message)].peer);
    const std::uint32_t send = numbers.send_of[numbers.receives[rank] + static_cast<std::size_t>(message)];
    const Message& sent = flows_[sender].sends[send - numbers.sends[sender]];
    const std::uint32_t position = place - receives[static_cast<std::size_t>(message)].first;
    return known = self(self, sender, static_cast<std::size_t>(flows_[sender].departing_in(sent)[position]));
  };
  for (std::size_t rank = 0; rank < flows_.size(); ++rank)
    for (std::size_t block = 0; block < origins_[rank].size(); ++block) origin(origin, rank, own + block);
}

/// Counts the blocks of a rank with more than `direct_bytes` bytes.
void VaryingCounter::count_direct(Rank rank, const Matrix& matrix, std::int64_t direct_bytes,
                                  std::int64_t segment_bytes, VaryingCounts& counts) const {
  RankCounts& mine = counts.ranks[static_cast<std::size_t>(rank)];
  for (Rank d = 0; d < ranks_; ++d) {
    const std::int64_t bytes = matrix.at(rank, d);
    if (d == rank || bytes <= direct_bytes) continue;
    mine.messages += pieces(bytes, segment_bytes);
    mine.message_bytes += bytes;
  }
}

/// Computes what SizedPlan::agree() agrees on.
void VaryingCounter::agree(const Matrix& matrix, std::int64_t limit_bytes, VaryingCounts& counts) const {
  const std::int64_t bound = limit_bytes / std::max<std::int64_t>(1, working_blocks_);
  const bool automatic = spec_.direct_bytes == Direct::automatic;
  Agreed agreed = automatic ? agreed_by(matrix.classes(), forwarding_, bound) : agreed_without(spec_, bound);
  counts.agreement_bytes = agreement_bytes(spec_);
  if (!automatic && counts.agreement_bytes > 0) agreed.largest = matrix.largest(agreed.direct_bytes);
  counts.direct_bytes = agreed.direct_bytes;
  if (counts.agreement_bytes > 0)
    counts.each_bytes = size_of_each(matrix.least(), matrix.largest(Direct::never), agreed.direct_bytes);
  counts.declined = !within(agreed, spec_, bound);
  if (sizes_ == Sizes::padded) counts.padded_bytes = agreed.largest;
}

VaryingCounts VaryingCounter::count(std::span<const std::int64_t> sizes, std::int64_t limit_bytes) const {
  const Matrix matrix{ranks_, sizes};
  VaryingCounts counts;
  counts.sizes = sizes_;
  counts.ranks.resize(static_cast<std::size_t>(ranks_));
  counts.largest_bytes = matrix.largest(Direct::never);
  counts.mean_bytes = matrix.mean();
  if (!needs_sizes(spec_)) {
    for (Rank r = 0; r < ranks_; ++r) count_direct(r, matrix, 0, spec_.segment_bytes, counts);
    return counts;
  }
  agree(matrix, limit_bytes, counts);
  if (counts.declined) return counts;
  for (Rank r = 0; r < ranks_ && counts.direct_bytes != Direct::never; ++r)
    count_direct(r, matrix, counts.direct_bytes, 0, counts);
  if (sizes_ == Sizes::padded) {
    count_padded(counts);
  } else if (counts.direct_bytes > 0) {
    const std::int64_t largest = matrix.largest(counts.direct_bytes);
    counts.bound_bytes = working_blocks_ * (largest + size_room(sizes_, largest));
    for (Rank r = 0; r < ranks_; ++r)
      VaryingWalk(*this, matrix, counts.direct_bytes, counts.each_bytes > 0, r)
          .run(counts.ranks[static_cast<std::size_t>(r)]);
  }
  return counts;
}

void VaryingCounter::count_padded(VaryingCounts& counts) const {
  const std::int64_t bytes = counts.padded_bytes;
  counts.plan_known = spec_.family != Family::native;
  counts.bound_bytes = 2 * ranks_ * bytes;
  if (bytes == 0) return;
  for (RankCounts& rank : counts.ranks) rank.working_bytes = counts.bound_bytes;
  for (std::size_t r = 0; r < plans_.size(); ++r) {
    counts.ranks[r].plan_messages = plans_[r].messages * pieces(bytes, spec_.segment_bytes);
    counts.ranks[r].plan_bytes = plans_[r].blocks * bytes;
    counts.ranks[r].plan_scratch_bytes = plans_[r].scratch_blocks * bytes;
  }
}

}  // namespace swapmeet
