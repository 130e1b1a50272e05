#include "exchange/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <variant>

namespace swapmeet {

namespace {

/// The most pieces of memory that a message has.
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

Plan::Plan(const Spec& spec, Schedule schedule, Neighbours* neighbours, const Tags& tags)
    : Exchange(spec, tags), schedule_(std::move(schedule)), local_{neighbours, single_copy(spec.intra)} {
  std::uint32_t widest = 0;
  for (const Step& step : schedule_.steps) widest = std::max(widest, step.in_flight());
  slots_.make_room(widest, neighbours != nullptr, false, neighbours ? most_pieces(schedule_) : 1);
  shared_scratch_blocks_ = schedule_.scratch_blocks;
  needs_bytes_ = segmented() || forwards() || neighbours;
  if (makes_types()) types_.make_room(schedule_);
  if (!segmented()) operations_ = operations_of(schedule_, neighbours == nullptr);
  under_way_ = std::make_unique<UnderWay>();
}

Plan::~Plan() = default;

/// One exchange, but for the engine.
template <class Payload>
struct Plan::Pass {
  template <class Watching, class... Arguments>
  Pass(Plan& plan, const Invocation& call, bool& sent, Watching watch, Arguments&&... arguments)
      : failure{call.failure, call.failure != MPI_SUCCESS},
        payload(plan.schedule_, std::forward<Arguments>(arguments)..., call, failure, plan.oversize_),
        links(plan.slots_, nullptr, nullptr, plan.local_, plan.tags_, call, failure, plan.forwards(), sent, watch) {}
  Pass(const Pass&) = delete;
  Pass& operator=(const Pass&) = delete;

  using Runs = Engine<typename Payload::Fabric, Payload>;

  Failure failure;
  Payload payload;
  typename Payload::Fabric links;
};

/// The exchange that start() began.
struct Plan::UnderWay {
  template <class Payload>
  struct Running {
    template <class... Arguments>
    explicit Running(Arguments&&... arguments)
        : pass(std::forward<Arguments>(arguments)...), engine(pass.links, pass.payload) {}
    Pass<Payload> pass;
    typename Pass<Payload>::Runs engine;
  };

  Invocation call;
  std::optional<Rows> rows;
  std::optional<Blocks> send, receive;
  std::optional<Running<RowsPayload<Watch>>> by_rows;
  std::optional<Running<BlocksPayload<Watch>>> by_blocks;
  bool sent = false;
};

std::optional<Rows> Plan::rows_of(const Blocks& send, const Blocks& receive) const {
  if (segmented() || send.bytes(0) != receive.bytes(0)) return std::nullopt;
  if (!forwards() && (!send.side_by_side() || !receive.side_by_side())) return std::nullopt;
  const Rows::Unit bytes{receive.bytes(0), MPI_BYTE};
  Rows rows{send.address(0), receive.address(0), bytes.count, bytes, bytes};
  if (needs_bytes()) return rows;
  rows.sent = {send.count(0), send.type(0).handle};  // the other end may know only a derived type
  rows.received = {receive.count(0), receive.type(0).handle};
  return rows;
}

int Plan::run(const Rows& rows, const Invocation& call, bool& sent) {
  if (call.clock) [[unlikely]]
    return run_rows(rows, call, sent, Watch(call.clock));
  return run_rows(rows, call, sent, Unwatched());
}

template <class Watching>
int Plan::run_rows(const Rows& rows, const Invocation& call, bool& sent, Watching watch) {
  if (broken_) return sent = true, MPI_ERR_OTHER;
  sent = false;
  if (rows.block_bytes == 0) return call.failure;
  if (!scratch_.reserve(schedule_.scratch_blocks * rows.block_bytes) || call.failure) [[unlikely]]
    return run_without_data(rows, call, sent, watch);
  Pass<RowsPayload<Watching>> pass(*this, call, sent, watch, rows, scratch_.memory(), types_);
  bool gave_up = false;
  const int error = run_operations(pass, gave_up);
  return ended(error, gave_up && sent);
}

/// Where this rank has failed, or has no memory.
template <class Watching>
[[gnu::noinline]] int Plan::run_without_data(const Rows& rows, Invocation call, bool& sent, Watching watch) {
  if (!call.failure) call.failure = MPI_ERR_NO_MEM;
  Pass<RowsPayload<Watching>> pass(*this, call, sent, watch, rows, nullptr, types_);
  typename Pass<RowsPayload<Watching>>::Runs engine(pass.links, pass.payload);
  const int error = engine.advance();
  return ended(error, engine.gave_up() && sent);
}

/// By the list of operations, which is as the schedule.
template <class AnyPass>
[[gnu::always_inline]] inline int Plan::run_operations(AnyPass& pass, bool& gave_up) {
  const auto& watch = pass.links.watch();
  pass.links.begin();
  pass.payload.begin(pass.links);
  for (const Operation& operation : operations_) {
    int error = MPI_SUCCESS;
    switch (operation.kind) {
      case Operation::Kind::copy: {
        watch.step(operation.step);
        const auto phase = watch.during(phase_of(schedule_.steps[operation.step].purpose));
        pass.payload.copy_row(operation.from, operation.to);
        break;
      }
      case Operation::Kind::swap:
        watch.step(operation.step);
        error = pass.links.swap(pass.payload.template row<true>(operation.from), operation.destination,
                                pass.payload.template row<false>(operation.to), operation.source, oversize_);
        if (error) [[unlikely]]
          pass.links.abandon();
        break;
      case Operation::Kind::step: {
        typename AnyPass::Runs engine(pass.links, pass.payload);
        error = engine.round(operation.step);
        break;
      }
    }
    if (error) [[unlikely]]
      return gave_up = true, error;
  }
  return pass.payload.over();
}

int Plan::ended(int error, bool broken) {
  broken_ = broken;
  broken ? scratch_.lose() : scratch_.release();
  return error;
}

int Plan::run(const Blocks& send, const Blocks& receive, const Invocation& call, bool& sent) {
  if (const std::optional<Rows> rows = rows_of(send, receive)) return run(*rows, call, sent);
  if (broken_) return sent = true, MPI_ERR_OTHER;
  sent = false;
  if (forwards()) return MPI_ERR_ARG;  // what is sent is not what is received: the host MPI is to say so
  return call.clock ? run_blocks(send, receive, call, sent, Watch(call.clock))
                    : run_blocks(send, receive, call, sent, Unwatched());
}

template <class Watching>
int Plan::run_blocks(const Blocks& send, const Blocks& receive, const Invocation& call, bool& sent, Watching watch) {
  Pass<BlocksPayload<Watching>> pass(*this, call, sent, watch, send, receive, needs_bytes_);
  typename Pass<BlocksPayload<Watching>>::Runs engine(pass.links, pass.payload);
  const int error = engine.advance();
  return ended(error, engine.gave_up() && sent);
}

void Plan::start(const Blocks& send, const Blocks& receive, const Invocation& call) {
  UnderWay& now = *under_way_;
  now.rows.reset();
  now.by_rows.reset();
  now.by_blocks.reset();
  now.sent = false;
  now.call = call;
  if (forwards() || rows_of(send, receive)) {
    now.rows = rows_of(send, receive);
    if (now.rows->block_bytes == 0) return;
    if (!scratch_.reserve(schedule_.scratch_blocks * now.rows->block_bytes) && !call.failure)
      now.call.failure = MPI_ERR_NO_MEM;
    now.by_rows.emplace(*this, now.call, now.sent, Watch(call.clock), *now.rows, scratch_.memory(), types_);
    return;
  }
  now.send.emplace(send);
  now.receive.emplace(receive);
  now.by_blocks.emplace(*this, now.call, now.sent, Watch(call.clock), *now.send, *now.receive, needs_bytes_);
}

int Plan::advance() {
  UnderWay& now = *under_way_;
  if (!now.by_rows && !now.by_blocks) return MPI_SUCCESS;
  if (broken_) return MPI_ERR_OTHER;
  const int error = now.by_rows ? now.by_rows->engine.advance() : now.by_blocks->engine.advance();
  if (error == unfinished) return error;
  ended(error, (now.by_rows ? now.by_rows->engine.gave_up() : now.by_blocks->engine.gave_up()) && now.sent);
  now.by_rows.reset();
  now.by_blocks.reset();
  return error;
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
