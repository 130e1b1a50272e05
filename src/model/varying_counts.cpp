#include "model/varying_counts.hpp"

#include <algorithm>
#include <climits>
#include <tuple>

#include "algorithms/suitable.hpp"
#include "algorithms/generate.hpp"
#include "model/counts.hpp"
#include "schedule/size_format.hpp"

namespace swapmeet {

namespace {

/// The room that a block may need for its size, beside its bytes: as if it were alone in its message.
std::int64_t size_room(Sizes sizes, std::int64_t largest) {
  switch (sizes) {
    case Sizes::ahead: return most_sizes_bytes(1);
    case Sizes::combined: return sizes_bytes(1, largest);
    case Sizes::total: return sizes_bytes(1, largest) + number_bytes;
    default: return 0;
  }
}

}  // namespace

/// The sizes of one call.
struct VaryingCounter::Matrix {
  std::int64_t ranks;
  std::span<const std::int64_t> bytes;

  std::int64_t at(std::int64_t source, std::int64_t destination) const {
    return bytes[static_cast<std::size_t>(source * ranks + destination)];
  }

  /// The largest block for another rank, of those of at most so many bytes.
  std::int64_t largest(std::int64_t most) const {
    std::int64_t largest = 0;
    for (std::int64_t s = 0; s < ranks; ++s)
      for (std::int64_t d = 0; d < ranks; ++d)
        if (s != d && at(s, d) <= most) largest = std::max(largest, at(s, d));
    return largest;
  }

  double mean() const {
    double sum = 0;
    for (std::int64_t s = 0; s < ranks; ++s)
      for (std::int64_t d = 0; d < ranks; ++d)
        if (s != d) sum += static_cast<double>(at(s, d));
    return ranks == 1 ? 0 : sum / (static_cast<double>(ranks) * static_cast<double>(ranks - 1));
  }

  /// In each class the most blocks that a rank sends or receives.
  SizeClasses classes() const {
    SizeClasses most{};
    for (std::int64_t r = 0; r < ranks; ++r) {
      SizeClasses sent{}, received{};
      for (std::int64_t i = 0; i < ranks; ++i) {
        if (i == r) continue;
        ++sent[size_class(at(r, i))];
        ++received[size_class(at(i, r))];
      }
      for (std::size_t c = 0; c < size_classes; ++c) most[c] = std::max({most[c], sent[c], received[c]});
    }
    return most;
  }
};

namespace {

/// A message among all that a rank receives: sorted, those of one sender and kind (with sizes or without) lie side by
/// side, in the order in which they are sent and received.
std::uint64_t label(Rank sender, bool last, std::size_t number) {
  return static_cast<std::uint64_t>(sender) << 33 | std::uint64_t{last} << 32 | number;
}

/// For each message that a rank receives, which one of its sender it is.
std::vector<std::vector<std::uint32_t>> match_messages(const std::vector<Relay>& relays) {
  std::vector<std::vector<std::uint64_t>> sent(relays.size());
  for (const Relay& relay : relays)
    for (std::size_t i = 0; i < relay.sends.size(); ++i)
      sent[static_cast<std::size_t>(relay.sends[i].peer)].push_back(label(relay.rank, relay.sends[i].last, i));
  std::vector<std::vector<std::uint32_t>> numbers(relays.size());
  for (std::size_t r = 0; r < relays.size(); ++r) {
    std::vector<std::uint64_t> received;
    for (std::size_t i = 0; i < relays[r].receives.size(); ++i)
      received.push_back(label(relays[r].receives[i].peer, relays[r].receives[i].last, i));
    std::ranges::sort(sent[r]);
    std::ranges::sort(received);
    numbers[r].resize(received.size());
    for (std::size_t i = 0; i < received.size(); ++i)
      numbers[r][received[i] & UINT32_MAX] = static_cast<std::uint32_t>(sent[r][i] & UINT32_MAX);
  }
  return numbers;
}

/// Messages of which a block is sent.
std::int64_t pieces(std::int64_t bytes, std::int64_t segment_bytes) {
  return segment_bytes == 0 ? 1 : (bytes + segment_bytes - 1) / segment_bytes;
}

}  // namespace

/// One rank in one call, without the blocks that go straight: in the order of Relaying (engine/varying.cpp).
class VaryingWalk {
 public:
  VaryingWalk(const VaryingCounter& all, const VaryingCounter::Matrix& matrix, std::int64_t direct_bytes, Rank rank,
              RankCounts& counts)
      : all_(all), relay_(all.relays_[static_cast<std::size_t>(rank)]),
        origins_(all.origins_[static_cast<std::size_t>(rank)]), matrix_(matrix), direct_bytes_(direct_bytes),
        counts_(counts), message_of_(origins_.size()), landings_(relay_.receives.size()) {}

  void run() {
    for (const Relay::Round& round : relay_.rounds) exchange(round);
  }

 private:
  using Bundle = Relay::Bundle;

  /// What a message with blocks to be passed on keeps in memory, and how many of these have not left.
  struct Landing {
    std::int64_t bytes = 0;
    std::uint32_t waiting = 0;
  };

  /// The blocks of a message.
  struct Load {
    std::int64_t bytes = 0, largest = 0;
    void add(std::int64_t block_bytes) { bytes += block_bytes, largest = std::max(largest, block_bytes); }
  };

  std::int64_t small(std::int64_t bytes) const { return bytes > direct_bytes_ ? 0 : bytes; }

  std::size_t passed_on(std::int32_t block) const { return static_cast<std::size_t>(block - relay_.ranks); }

  std::int64_t bytes_of(std::int32_t block) const {
    return small(block < 0              ? matrix_.at(-1 - block, relay_.rank)
                 : block < relay_.ranks ? matrix_.at(relay_.rank, block)
                                        : matrix_.bytes[origins_[passed_on(block)]]);
  }

  Load load(const Bundle& bundle, const std::vector<std::int32_t>& list) const {
    Load load;
    for (const std::int32_t block : relay_.blocks_of(bundle, list)) load.add(bytes_of(block));
    return load;
  }

  /// Within a node, but for MPI, nothing goes ahead.
  Sizes treatment(const Bundle& bundle) const {
    const bool near = all_.spec_.intra != Transport::mpi && all_.shape_.share_node(relay_.rank, bundle.peer);
    return near ? Sizes::combined : all_.sizes_;
  }

  bool combines(const Bundle& bundle) const { return !bundle.last && treatment(bundle) != Sizes::ahead; }

  /// The memory for what goes ahead of a message.
  std::int64_t head_room(const Bundle& bundle) const {
    if (bundle.last || treatment(bundle) == Sizes::combined) return 0;
    return treatment(bundle) == Sizes::total ? number_bytes : most_sizes_bytes(bundle.count);
  }

  void sent(std::int64_t bytes) { ++counts_.messages, counts_.message_bytes += bytes; }

  void exchange(const Relay::Round& round) {
    std::int64_t in_flight = 0;
    for (const Bundle& bundle : relay_.sends_of(round)) in_flight += send(bundle);
    for (std::uint32_t i = round.first_receive; i < round.first_receive + round.receive_count; ++i)
      in_flight += receive(i);
    counts_.working_bytes = std::max(counts_.working_bytes, kept_ + in_flight);
    for (std::uint32_t i = round.first_receive; i < round.first_receive + round.receive_count; ++i)
      if (landings_[i].waiting > 0) kept_ += landings_[i].bytes;
    for (const Bundle& bundle : relay_.sends_of(round))
      for (const std::int32_t block : relay_.blocks_of(bundle, relay_.departing))
        if (block >= relay_.ranks) forget(landings_[message_of_[passed_on(block)]]);
  }

  void forget(Landing& landing) {
    if (--landing.waiting == 0) kept_ -= landing.bytes;
  }

  /// Returns the memory that it takes until the round is over.
  std::int64_t send(const Bundle& bundle) {
    const Load blocks = load(bundle, relay_.departing);
    const std::int64_t size_bytes = sizes_bytes(bundle.count, blocks.largest);
    const std::int64_t body = blocks.bytes + (combines(bundle) ? size_bytes : 0);
    const Sizes sizes = treatment(bundle);
    if (!bundle.last) counts_.size_bytes += size_bytes + (sizes == Sizes::total ? number_bytes : 0);
    if (!bundle.last && sizes == Sizes::ahead) sent(size_bytes);
    if (!bundle.last && sizes == Sizes::total) sent(number_bytes);
    if (body > 0) sent(body);
    const bool gathered = combines(bundle) || bundle.count > 1;
    return head_room(bundle) + (gathered ? body : 0);
  }

  /// The same of the i-th message that the rank receives.
  std::int64_t receive(std::uint32_t i) {
    const Bundle& bundle = relay_.receives[i];
    const Load blocks = load(bundle, relay_.arriving);
    Landing& landing = landings_[i];
    landing.bytes = blocks.bytes + (combines(bundle) ? sizes_bytes(bundle.count, blocks.largest) : 0);
    if (bundle.last && bundle.count == 1) landing.bytes = 0;  // received where it stays
    for (const std::int32_t block : relay_.blocks_of(bundle, relay_.arriving))
      if (block >= relay_.ranks) message_of_[passed_on(block)] = i, ++landing.waiting;
    return head_room(bundle) + landing.bytes;
  }

  const VaryingCounter& all_;
  const Relay& relay_;
  const std::vector<std::uint32_t>& origins_;
  const VaryingCounter::Matrix& matrix_;
  std::int64_t direct_bytes_;
  RankCounts& counts_;
  std::int64_t kept_ = 0;
  std::vector<std::uint32_t> message_of_;  ///< that a block to be passed on came with
  std::vector<Landing> landings_;          ///< by the message received
};

std::string VaryingCounter::problem(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::native && spec.sizes != Sizes::padded)
    return "what the host MPI sends is not known; choose an algorithm, or native(sizes=padded)";
  if (shape.ranks > UINT16_MAX)
    return "the sizes of the blocks of more than 65535 ranks are too many to look at: choose fewer";
  std::string problem = unsuitable(spec, shape);
  return problem.empty() ? unsuitable_for_sizes(spec) : problem;
}

std::int64_t VaryingCounter::memory_bytes(const Spec& spec, const Shape& shape) {
  const std::int64_t p = shape.ranks, sizes = number_bytes * p * p;
  if (spec.sizes == Sizes::padded || !needs_sizes(spec)) return sizes;
  // of blocks: departing, arriving, origin; of messages: sent, received
  const Counts counts = swapmeet::count(spec, shape);
  constexpr std::int64_t of_block = 3 * sizeof(std::uint32_t);
  constexpr std::int64_t of_message = 2 * sizeof(Relay::Bundle) + sizeof(Relay::Round) + 4 * number_bytes;
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
      PlanCounts plan{static_cast<std::int64_t>(schedule.sends.size()), 0, schedule.scratch_blocks};
      for (const Message& message : schedule.sends) plan.blocks += schedule.block_count(message);
      working_blocks_ = std::max(working_blocks_, 2 * std::int64_t{ranks_} + plan.scratch_blocks);
      plans_.push_back(plan);
    }
  } else if (needs_sizes(spec)) {
    if (sizes_ == Sizes::automatic) sizes_ = Sizes::combined;
    for (Rank r = 0; r < ranks_; ++r) {
      relays_.push_back(relay_of(generate(spec, shape, r)));
      relays_.back().departing.shrink_to_fit();
      relays_.back().arriving.shrink_to_fit();
      working_blocks_ = std::max(working_blocks_, relays_.back().peak_blocks());
    }
    find_origins();
  }
}

/// Follows blocks from rank to rank: rounds of all ranks in the order of their steps and batches, for a message is
/// received in the batch in which it is sent (verify/relay.cpp).
void VaryingCounter::find_origins() {
  const std::vector<std::vector<std::uint32_t>> sent_as = match_messages(relays_);
  std::vector<std::tuple<std::uint32_t, std::uint32_t, std::size_t, std::uint32_t>> order;  // step, batch, rank, round
  for (std::size_t r = 0; r < relays_.size(); ++r) {
    origins_.emplace_back(static_cast<std::size_t>(relays_[r].passed_on));
    const std::vector<Relay::Round>& rounds = relays_[r].rounds;
    for (std::uint32_t i = 0; i < rounds.size(); ++i) order.emplace_back(rounds[i].step, rounds[i].batch, r, i);
  }
  std::ranges::sort(order);
  for (const auto& [step, batch, rank, number] : order) {
    const Relay::Round& round = relays_[rank].rounds[number];
    for (std::uint32_t i = round.first_receive; i < round.first_receive + round.receive_count; ++i)
      take_origins(rank, relays_[rank].receives[i], sent_as[rank][i]);
  }
}

/// Of the blocks of a message that `rank` receives; it is the `sent`-th of its sender, who knows them.
void VaryingCounter::take_origins(std::size_t rank, const Relay::Bundle& bundle, std::uint32_t sent) {
  const auto sender = static_cast<std::size_t>(bundle.peer);
  const Relay &here = relays_[rank], &there = relays_[sender];
  const auto from = there.blocks_of(there.sends[sent], there.departing);
  const auto to = here.blocks_of(bundle, here.arriving);
  for (std::size_t k = 0; k < to.size(); ++k) {
    if (to[k] < ranks_) continue;  // it stays
    const auto block = static_cast<std::size_t>(from[k]), own = static_cast<std::size_t>(ranks_);
    origins_[rank][static_cast<std::size_t>(to[k] - ranks_)] =
        block < own ? static_cast<std::uint32_t>(sender * own + block) : origins_[sender][block - own];
  }
}

/// The blocks of a rank of more than so many bytes.
void VaryingCounter::count_straight(Rank rank, const Matrix& matrix, std::int64_t direct_bytes,
                                    std::int64_t segment_bytes, VaryingCounts& counts) const {
  RankCounts& mine = counts.ranks[static_cast<std::size_t>(rank)];
  for (Rank d = 0; d < ranks_; ++d) {
    const std::int64_t bytes = matrix.at(rank, d);
    if (d == rank || bytes <= direct_bytes) continue;
    mine.messages += pieces(bytes, segment_bytes);
    mine.message_bytes += bytes;
  }
}

/// As Varying::agree() does.
void VaryingCounter::agree(const Matrix& matrix, std::int64_t limit_bytes, VaryingCounts& counts) const {
  const std::int64_t bound = limit_bytes / std::max<std::int64_t>(1, working_blocks_);
  const bool automatic = spec_.direct_bytes == Direct::automatic;
  Agreed agreed = automatic ? agreed_by(matrix.classes(), forwarding_, bound) : agreed_without(spec_, bound);
  counts.agreement_bytes = agreement_bytes(spec_);
  if (!automatic && counts.agreement_bytes > 0) agreed.largest = matrix.largest(agreed.direct_bytes);
  counts.direct_bytes = agreed.direct_bytes;
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
    for (Rank r = 0; r < ranks_; ++r) count_straight(r, matrix, 0, spec_.segment_bytes, counts);
    return counts;
  }
  agree(matrix, limit_bytes, counts);
  if (counts.declined) return counts;
  for (Rank r = 0; r < ranks_ && counts.direct_bytes != Direct::never; ++r)
    count_straight(r, matrix, counts.direct_bytes, 0, counts);
  if (sizes_ == Sizes::padded) {
    count_padded(counts);
  } else if (counts.direct_bytes > 0) {
    const std::int64_t largest = matrix.largest(counts.direct_bytes);
    counts.bound_bytes = working_blocks_ * (largest + size_room(sizes_, largest));
    for (Rank r = 0; r < ranks_; ++r)
      VaryingWalk(*this, matrix, counts.direct_bytes, r, counts.ranks[static_cast<std::size_t>(r)]).run();
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
