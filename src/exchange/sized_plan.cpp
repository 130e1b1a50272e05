#include "exchange/sized_plan.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "team/messages.hpp"

namespace swapmeet {

namespace {

Flow nothing(Rank ranks, Rank rank) {
  Flow flow;
  flow.ranks = ranks;
  flow.rank = rank;
  return flow;
}

}  // namespace

SizedPlan::SizedPlan(const Spec& spec, Flow flow, const Forwarding& forwarding, std::int64_t working_blocks,
                     NodePeers* node_peers, const Neighbourhood* among)
    : Exchange(spec),
      memory_(std::make_unique<SizedState>(
          std::move(flow), spec.sizes == Sizes::automatic ? Sizes::combined : spec.sizes,
          NodeTransport{node_peers, single_copy(spec.intra)}, spec.direct_bytes != Direct::never, among)),
      forwarding_(forwarding), working_blocks_(working_blocks), under_way_(std::make_unique<UnderWay>()) {}

SizedPlan::SizedPlan(const Spec& spec, Rank ranks, Rank rank, const Forwarding& forwarding,
                     std::unique_ptr<Plan> padded)
    : Exchange(spec), memory_(std::make_unique<SizedState>(nothing(ranks, rank), Sizes::padded, NodeTransport{},
                                                           spec.direct_bytes != Direct::never)),
      plan_(std::move(padded)), padded_(std::in_place, ranks, rank, plan_.get()), forwarding_(forwarding),
      working_blocks_(plan_ ? plan_->working_blocks() : 2 * std::int64_t{ranks}),
      under_way_(std::make_unique<UnderWay>()) {}

SizedPlan::~SizedPlan() {
  if (broken_) static_cast<void>(memory_.release());
}

std::span<std::int64_t> SizedPlan::prepare_agreement(const Blocks& send, const Blocks& receive, AgreedNumbers& mine) {
  const Rank ranks = state_.flow.ranks, rank = state_.flow.rank;
  const bool automatic = spec_.direct_bytes == Direct::automatic;
  agreed_ = automatic ? Agreed{0, Direct::never} : agreed_without(spec_, bound_bytes_);
  if (agreement_bytes() == 0) return {};
  std::int64_t least = INT64_MAX, largest = 0;
  for (Rank i = 0; i < ranks; ++i) {
    if (i == rank) continue;
    const std::int64_t bytes = send.bytes(i);
    if (bytes <= agreed_.direct_bytes) largest = std::max(largest, bytes);
    least = std::min(least, bytes <= agreed_.direct_bytes ? bytes : 0);
  }
  mine[0] = largest, mine[1] = -least;
  if (!automatic) return std::span(mine).first(2);
  SizeClasses sent{}, received{};
  for (Rank i = 0; i < ranks; ++i) {
    if (i == rank) continue;
    ++sent[size_class(send.bytes(i))];
    ++received[size_class(receive.bytes(i))];
  }
  std::ranges::transform(sent, received, mine.begin() + 2,
                         [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
  return mine;
}

bool SizedPlan::agree(const Blocks& send, const Blocks& receive, std::int64_t limit_bytes, const Invocation& call) {
  AgreedNumbers agreed_numbers;
  bound_bytes_ = limit_bytes / std::max<std::int64_t>(1, working_blocks_);
  agreement_error_ = MPI_SUCCESS;
  if (const std::span<std::int64_t> numbers = prepare_agreement(send, receive, agreed_numbers); !numbers.empty()) {
    const auto phase = Watch(call.observer).during(CallPhase::metadata);
    agreement_error_ = settle(numbers, call);
    if (agreement_error_) return broken_ = true;
    const std::int64_t largest = agreed_numbers[0], least = -agreed_numbers[1];
    if (spec_.direct_bytes == Direct::automatic) {
      SizeClasses most;
      std::copy(agreed_numbers.begin() + 2, agreed_numbers.end(), most.begin());
      agreed_ = agreed_by(most, forwarding_, bound_bytes_);
    } else {
      agreed_.largest = largest;
    }
    agreed_.each = size_of_each(least, largest, agreed_.direct_bytes);
  }
  if (!within(agreed_, spec_, bound_bytes_)) return false;
  return !padded_ || padded_->reserve(agreed_.largest, call.team);
}

int SizedPlan::settle(std::span<std::int64_t> numbers, const Invocation& call) {
  const std::span all = std::span(state_.agreement).first(2 + numbers.size());
  all[0] = call.number, all[1] = -std::int64_t{call.number};
  std::ranges::copy(numbers, all.begin() + 2);
  if (const int error = largest_of_all(*call.team, all, state_.agreement_room)) return error;
  std::ranges::copy(all.subspan(2), numbers.begin());
  return all[0] == -all[1] ? MPI_SUCCESS : MPI_ERR_OTHER;
}

void SizedPlan::send_all_directly() {
  agreed_ = {};
  if (padded_) padded_->reserve(0, nullptr);
  state_.make_room_for_background();
}

/// The execution of one exchange, from its beginning to its end.
template <class Watching>
struct SizedPlan::Executor {
  Executor(SizedPlan& plan, const Blocks& send, const Blocks& receive, const Invocation& call)
      : failure{call.failure, call.failure != MPI_SUCCESS},
        // A message with its sizes can be wrong only for blocks that end here, or its sizes report the failure
        // themselves.
        fabric(plan.state_.messages, &plan.state_.background, &plan.state_.buffers, failure, plan.lost_,
               plan.agreed_.each > 0),
        payload(plan.state_, send, receive, plan.agreed_, plan.padded_ ? &*plan.padded_ : nullptr, fabric, failure),
        engine(fabric, payload) {
    fabric.bind(call, call.failure, Watching(call.observer));
  }
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  Failure failure;
  Fabric<Watching> fabric;
  SizedPayload<Watching> payload;
  Engine<Fabric<Watching>, SizedPayload<Watching>> engine;
};

/// The exchange that is under way.
struct SizedPlan::UnderWay {
  std::variant<std::monostate, Executor<Unwatched>, Executor<Watch>> executor;
};

int SizedPlan::start(const Blocks& send, const Blocks& receive, const Invocation& call) {
  if (broken_) return agreement_error_ ? agreement_error_ : MPI_ERR_OTHER;
  if (call.observer) under_way_->executor.emplace<Executor<Watch>>(*this, send, receive, call);
  else under_way_->executor.emplace<Executor<Unwatched>>(*this, send, receive, call);
  return unfinished;
}

int SizedPlan::advance() {
  const auto advance = [this](auto& executor) {
    const int error = executor.engine.advance();
    if (!error || error == unfinished) return error;
    const bool sent = executor.fabric.sent() || (plan_ && plan_->broken());
    nothing_sent_ = executor.engine.gave_up() && !sent;
    broken_ = executor.engine.gave_up() && sent;
    // Messages that were begun may not have ended.
    std::ranges::fill(state_.gathered, SizedState::Gathered{});
    std::ranges::fill(state_.awaited, 0);
    return error;
  };
  auto* const watched = std::get_if<Executor<Watch>>(&under_way_->executor);
  const int error = watched ? advance(*watched) : advance(std::get<Executor<Unwatched>>(under_way_->executor));
  if (error != unfinished) last_traffic_ = std::exchange(state_.traffic, {});
  return error;
}

std::int64_t SizedPlan::peak_bytes() const {
  return padded_ ? std::max(padded_->peak(), state_.buffers.peak()) : state_.buffers.peak();
}

}  // namespace swapmeet
