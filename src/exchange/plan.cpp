#include "exchange/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <variant>

namespace swapmeet {

namespace {

/// The largest number of pieces of memory in any message.
std::size_t most_pieces(const Schedule& schedule) {
  std::size_t most = 1;
  for (const auto* const messages : {&schedule.sends, &schedule.receives})
    for (const Message& message : *messages) {
      std::size_t pieces = 0;
      for (const Run& run : schedule.runs_of(message))
        pieces += run.stride == 1 ? 1 : static_cast<std::size_t>(run.count);
      most = std::max(most, pieces);
    }
  return most;
}

}  // namespace

Plan::Plan(const Spec& spec, std::shared_ptr<const Schedule> schedule, NodePeers* node_peers, const Tags& tags)
    : Exchange(spec, tags), shared_schedule_(std::move(schedule)),
      node_{node_peers, single_copy(spec.intra),
            node_peers && spec.intra == Transport::rows && node_peers->node().rows().block_bytes() > 0},
      messages_(node_) {
  std::uint32_t widest = 0;
  bool granted = false;
  for (const Step& step : schedule_.steps) {
    widest = std::max(widest, step.in_flight());
    granted |= step.posting == Posting::granted;
  }
  messages_.make_room(widest, false, granted, node_peers ? most_pieces(schedule_) : 1);
  shared_scratch_blocks_ = schedule_.scratch_blocks;
  if (segmented() || forwards()) needs_ = Needs::bytes;
  else if (node_peers) needs_ = all_local() ? Needs::maps : Needs::bytes;
  if (makes_types()) types_.make_room(schedule_);
  if (!segmented()) operations_ = operations_of(schedule_, node_peers == nullptr);
  if (node_.by_rows) list_rows();
  allows_in_place_ = needs_ == Needs::maps && in_one_step() && !schedule_.neighbours;
  states_ = std::make_unique<ExchangeStates>(*this);
}

/// Whether all peers of this rank are on its node, so that no message goes by MPI.
bool Plan::all_local() const {
  return std::ranges::all_of(std::array{&schedule_.sends, &schedule_.receives}, [this](const auto* messages) {
    return std::ranges::all_of(*messages, [this](const Message& one) { return node_.peers->link(one.peer); });
  });
}

/// Whether all messages of this rank are in flight together.
bool Plan::in_one_step() const {
  const auto exchanges = [](const Step& step) { return step.send_count + step.receive_count > 0; };
  const auto at_once = [](const Step& step) {
    return std::max(step.send_count, step.receive_count) <= step.in_flight();
  };
  return std::ranges::count_if(schedule_.steps, exchanges) <= 1 && std::ranges::all_of(schedule_.steps, at_once);
}

/// Makes the step with messages an operation by rows. Does nothing unless all peers of this rank are on its node.
void Plan::list_rows() {
  if (!all_local()) return;
  const auto list = [this](const std::vector<Message>& messages, std::vector<NodeLink*>& links,
                           std::vector<std::int32_t>& blocks) {
    for (const Message& message : messages) {
      links.push_back(node_.peers->link(message.peer));
      blocks.push_back(schedule_.runs[message.first].first);
    }
  };
  list(schedule_.sends, row_peers_.sends, row_sends_);
  list(schedule_.receives, row_peers_.receives, row_receives_);
  row_peers_.late.resize(row_receives_.size());
  for (Operation& operation : operations_)
    if (operation.kind == Operation::Kind::step) operation.kind = Operation::Kind::rows, row_step_ = operation.step;
  rows_alone_ = operations_.size() == 1 && operations_[0].kind == Operation::Kind::rows;
}

Plan::~Plan() = default;

/// The engine with everything that it refers to. The object is kept from call to call, and only its blocks are
/// exchanged.
template <class Payload, class Watching>
struct Plan::ExchangeState {
  template <class... Arguments>
  explicit ExchangeState(Plan& plan, Arguments&&... arguments)
      : payload(plan.schedule_, std::forward<Arguments>(arguments)..., failure, fabric),
        fabric(plan.messages_, nullptr, nullptr, plan.tags_, failure, plan.lost_, plan.forwards()),
        engine(fabric, payload), allows_in_place(plan.allows_in_place_) {}
  static constexpr bool watched = std::is_same_v<Watching, Watch>;
  ExchangeState(const ExchangeState&) = delete;
  ExchangeState& operator=(const ExchangeState&) = delete;

  /// Prepares an exchange. `what`: the arguments of Payload::bind(). `call` must stay in place until the exchange is
  /// complete.
  template <class... What>
  void begin(const Invocation& call, What&&... what) {
    failure = {};
    payload.bind(std::forward<What>(what)...);
    fabric.bind(call, Watching(call.observer), payload.equal_bytes(), allows_in_place && payload.in_place());
    if (call.failure) [[unlikely]]
      failure.fail(call.failure);
  }

  int advance() {
    engine.restart();
    return engine.advance();
  }

  Failure failure;
  Payload payload;
  Fabric<Watching> fabric;
  Engine<Fabric<Watching>, Payload> engine;
  const bool allows_in_place;
};

struct Plan::ExchangeStates {
  explicit ExchangeStates(Plan& plan)
      : rows(plan, plan.types_), watched_rows(plan, plan.types_), blocks(plan, plan.needs_ == Needs::bytes),
        watched_blocks(plan, plan.needs_ == Needs::bytes) {}

  template <class Watching>
  using OfRows = ExchangeState<RowsPayload<Watching>, Watching>;
  template <class Watching>
  using OfBlocks = ExchangeState<BlocksPayload<Watching>, Watching>;

  OfRows<Unwatched> rows;
  OfRows<Watch> watched_rows;
  OfBlocks<Unwatched> blocks;
  OfBlocks<Watch> watched_blocks;

  /// Continues the exchange that start() began; nullptr: it is complete, with `result`.
  int (*go_on)(Plan&) = nullptr;
  int result = MPI_SUCCESS;
  RowProgress by_rows{};
  Invocation started_call{};
  std::optional<Rows> started_rows{};
  std::optional<Blocks> started_send{}, started_receive{};
};

std::optional<Rows> Plan::rows_of(const Blocks& send, const Blocks& receive) const {
  if (segmented() || send.bytes(0) != receive.bytes(0)) return std::nullopt;
  if (!forwards() && (!send.side_by_side() || !receive.side_by_side())) return std::nullopt;
  const Rows::Unit bytes{receive.bytes(0), MPI_BYTE};
  Rows rows{send.address(0), receive.address(0), bytes.count, bytes, bytes};
  if (needs_ != Needs::nothing) return rows;
  rows.sent = {send.count(0), send.type(0).handle};  // the other end may know only a derived type
  rows.received = {receive.count(0), receive.type(0).handle};
  return rows;
}

int Plan::run(const Rows& rows, const Invocation& call, bool& sent) {
  return call.observer ? run_rows(states_->watched_rows, rows, call, sent) : run_rows(states_->rows, rows, call, sent);
}

template <class AnyState>
[[gnu::always_inline]] inline int Plan::run_rows(AnyState& state, const Rows& rows, const Invocation& call,
                                                 bool& sent) {
  if (broken_) [[unlikely]]
    return MPI_ERR_OTHER;
  if (rows.block_bytes == 0) return call.failure;
  const bool room = scratch_.reserve(schedule_.scratch_blocks * rows.block_bytes);
  if (!room || call.failure) [[unlikely]]
    return run_without_data(state, rows, call, sent);
  state.begin(call, rows, scratch_.memory());
  const bool by_engine = state.fabric.watch().follows();  // it reports the end of each message at once
  return ended(state, by_engine ? state.advance() : run_operations(state), sent);
}

/// Variant of run_rows() for a rank that has failed or has no memory.
template <class AnyState>
[[gnu::noinline, gnu::cold]] int Plan::run_without_data(AnyState& state, const Rows& rows, Invocation call,
                                                        bool& sent) {
  if (!call.failure) call.failure = MPI_ERR_NO_MEM;
  state.begin(call, rows, nullptr);
  return ended(state, state.advance(), sent);
}

namespace {

/// The memory of a block.
Piece place_of(std::int32_t block, bool is_sent, const Rows& rows) {
  return {(is_sent ? rows.send : rows.receive) + block * rows.block_bytes, static_cast<std::size_t>(rows.block_bytes)};
}
Piece place_of(std::int32_t block, bool is_sent, const Blocks& send, const Blocks& receive) {
  const Blocks& blocks = is_sent ? send : receive;
  return {blocks.address(block), static_cast<std::size_t>(blocks.bytes(block)), blocks.type(block).map};
}

}  // namespace

/// Executes the step that is exchanged by rows. Requires that fit_rows() holds for its blocks, whose memory `what`
/// describes. A call that must not wait continues from `progress`, and may return `unfinished`.
template <class AnyState, class... What>
[[gnu::always_inline]] inline int Plan::exchange_rows(AnyState& state, RowProgress& progress, const What&... what) {
  const auto out = [&](std::size_t i) { return place_of(row_sends_[i], true, what...); };
  const auto in = [&](std::size_t i) { return place_of(row_receives_[i], false, what...); };
  const auto copy = [&] { state.payload.copy(row_step_); };
  const int error = state.fabric.exchange_rows(progress, row_peers_, out, in, copy);
  return error && error != unfinished ? state.engine.give_up(error) : error;
}

/// Whether all blocks that this rank exchanges with other ranks fit into rows.
bool Plan::fit_rows(std::size_t most_bytes, const Rows& rows) const {
  return static_cast<std::size_t>(rows.block_bytes) <= most_bytes;
}

bool Plan::fit_rows(std::size_t most_bytes, const Blocks& send, const Blocks& receive) const {
  const auto fit = [&](const Blocks& blocks, const std::vector<std::int32_t>& exchanged) {
    return std::ranges::all_of(
        exchanged, [&](std::int32_t block) { return static_cast<std::size_t>(blocks.bytes(block)) <= most_bytes; });
  };
  return fit(send, row_sends_) && fit(receive, row_receives_);
}

/// Executes the list of operations, which is equivalent to the schedule.
template <class AnyState>
[[gnu::always_inline]] inline int Plan::run_operations(AnyState& state) {
  const auto& watch = state.fabric.watch();
  for (const Operation& operation : operations_) {
    int error = MPI_SUCCESS;
    switch (operation.kind) {
      case Operation::Kind::copy: {
        watch.step(operation.step);
        const auto phase = watch.during(phase_of(schedule_.steps[operation.step].purpose));
        state.payload.copy_row(operation.from, operation.to);
        break;
      }
      case Operation::Kind::swap:
        watch.step(operation.step);
        error = state.fabric.swap(state.payload.template row<true>(operation.from), operation.destination,
                                  state.payload.template row<false>(operation.to), operation.source);
        if (error) [[unlikely]]
          return state.engine.give_up(error);
        break;
      case Operation::Kind::rows: {
        const Rows& rows = state.payload.rows();
        RowProgress progress;
        error = !AnyState::watched && fit_rows(state.fabric.row_block_bytes(), rows)
                    ? exchange_rows(state, progress, rows)
                    : state.engine.round(operation.step);
        break;
      }
      case Operation::Kind::step: error = state.engine.round(operation.step); break;
    }
    if (error) [[unlikely]]
      return error;
  }
  if (const int error = state.fabric.raise_row_flag()) [[unlikely]]
    return state.engine.give_up(error);
  return state.payload.over();
}

/// Cleans up after an exchange that ended with `error`. Returns `error`.
template <class AnyState>
[[gnu::always_inline]] inline int Plan::ended(AnyState& state, int error, bool& sent) {
  if (error) [[unlikely]] {
    sent = state.fabric.sent() || !state.engine.gave_up();
    broken_ = state.engine.gave_up() && sent;
    if (broken_) scratch_.lose();
    state.engine.restart();
  }
  scratch_.release();
  return error;
}

int Plan::run(const Blocks& send, const Blocks& receive, const Invocation& call, bool& sent) {
  if (const std::optional<Rows> rows = rows_of(send, receive)) return run(*rows, call, sent);
  if (broken_) return MPI_ERR_OTHER;
  if (forwards()) return sent = false, MPI_ERR_ARG;  // the sizes of sent and received blocks differ: the host MPI
                                                     // reports that
  const auto run_blocks = [&](auto& state) {
    state.begin(call, send, receive);
    if (state.watched || row_sends_.empty() || call.failure || !fit_rows(state.fabric.row_block_bytes(), send, receive))
      return ended(state, state.advance(), sent);
    RowProgress progress;
    const int error = exchange_rows(state, progress, send, receive);
    return ended(state, error ? error : state.payload.over(), sent);
  };
  return call.observer ? run_blocks(states_->watched_blocks) : run_blocks(states_->blocks);
}

void Plan::start(const Blocks& send, const Blocks& receive, const Invocation& call) {
  ExchangeStates& all = *states_;
  all.go_on = nullptr;
  all.started_call = call;
  all.started_rows = rows_of(send, receive);
  all.result = call.failure;
  if (all.started_rows) {
    if (all.started_rows->block_bytes == 0) return;
    if (!scratch_.reserve(schedule_.scratch_blocks * all.started_rows->block_bytes) && !call.failure)
      all.started_call.failure = MPI_ERR_NO_MEM;
    if (call.observer) return begin<&ExchangeStates::watched_rows>(*all.started_rows, scratch_.memory());
    begin<&ExchangeStates::rows>(*all.started_rows, scratch_.memory());
    return go_by_rows<&ExchangeStates::rows, &ExchangeStates::started_rows>();
  }
  if (forwards()) {
    all.result = MPI_ERR_ARG;  // as in run()
    return;
  }
  all.started_send.emplace(send);
  all.started_receive.emplace(receive);
  if (call.observer) return begin<&ExchangeStates::watched_blocks>(*all.started_send, *all.started_receive);
  begin<&ExchangeStates::blocks>(*all.started_send, *all.started_receive);
  go_by_rows<&ExchangeStates::blocks, &ExchangeStates::started_send, &ExchangeStates::started_receive>();
}

template <auto state, class... What>
void Plan::begin(const What&... what) {
  auto& mine = states_.get()->*state;
  mine.begin(states_->started_call, what...);
  mine.engine.restart();
  states_->go_on = [](Plan& plan) {
    auto& its = plan.states_.get()->*state;
    return plan.advanced(its, its.engine.advance());
  };
}

/// Makes advance() exchange by rows, without the engine, if that is the whole exchange. `what`: members of
/// ExchangeStates with the blocks.
template <auto state, auto... what>
void Plan::go_by_rows() {
  auto& mine = states_.get()->*state;
  if (!rows_alone_ || states_->started_call.failure ||
      !fit_rows(mine.fabric.row_block_bytes(), *(states_.get()->*what)...))
    return;
  states_->by_rows = {};
  states_->go_on = [](Plan& plan) {
    auto& its = plan.states_.get()->*state;
    RowProgress& progress = plan.states_->by_rows;
    const bool written_before = progress.written;
    const int error = plan.exchange_rows(its, progress, *(plan.states_.get()->*what)...);
    if (progress.written != written_before) plan.node_.peers->node().waiter().moved();
    return plan.advanced(its, error ? error : its.payload.over());
  };
}

/// Cleans up unless `error` is `unfinished`. Returns `error`.
template <class AnyState>
int Plan::advanced(AnyState& state, int error) {
  if (error == unfinished) return error;
  states_->go_on = nullptr;
  bool sent = false;
  return ended(state, error, sent);
}

int Plan::advance() {
  if (!states_->go_on) return states_->result;
  return broken_ ? MPI_ERR_OTHER : states_->go_on(*this);
}

SentTraffic Plan::traffic(std::int64_t block_bytes) const {
  const std::int64_t segments = segmented() ? (block_bytes + schedule_.segment_bytes - 1) / schedule_.segment_bytes : 1;
  SentTraffic sent;
  for (const Message& message : schedule_.sends) {
    sent.messages += segments;
    for (const Run& run : schedule_.runs_of(message)) sent.bytes += run.count * block_bytes;
  }
  return block_bytes == 0 ? SentTraffic{} : sent;
}

std::optional<SentTraffic> Plan::traffic(const Blocks& sent) const {
  if (forwards()) return traffic(sent.bytes(0));
  SentTraffic all;
  for (const Message& message : schedule_.sends) {
    const std::int64_t bytes = sent.bytes(schedule_.runs[message.first].first);
    all.messages += segmented() ? (bytes + schedule_.segment_bytes - 1) / schedule_.segment_bytes : bytes > 0;
    all.bytes += bytes;
  }
  return all;
}

}  // namespace swapmeet
