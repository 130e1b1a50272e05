#include "exchange/plan.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

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

Plan::Plan(const Spec& spec, Schedule schedule, NodePeers* node_peers)
    : Exchange(spec), schedule_(std::move(schedule)),
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
  executors_ = std::make_unique<Executors>(*this);
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

/// Lists the messages for exchanges by rows. Does nothing unless all peers of this rank are on its node.
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
}

Plan::~Plan() = default;

/// The execution of one exchange at a time, whatever describes its blocks.
struct Plan::Executor {
  /// As Exchange::advance().
  virtual int advance() = 0;

 protected:
  ~Executor() = default;
};

/// The engine with everything that it refers to. The object is kept from call to call, and only its blocks are
/// exchanged.
template <class Payload, class Watching>
struct Plan::ExecutorOf final : Executor {
  template <class... Arguments>
  explicit ExecutorOf(Plan& of, Arguments&&... arguments)
      : plan(of), payload(of.schedule_, std::forward<Arguments>(arguments)..., failure, fabric),
        fabric(of.messages_, nullptr, nullptr, failure, of.lost_, of.forwards()), engine(fabric, payload) {}
  ExecutorOf(const ExecutorOf&) = delete;
  ExecutorOf& operator=(const ExecutorOf&) = delete;

  /// Begins an exchange. `what`: the arguments of Payload::bind().
  template <class... What>
  [[gnu::always_inline]] void begin(const Invocation& call, const What&... what) {
    int error = call.failure;
    if (!payload.bind(what...) && !error) [[unlikely]]
      error = MPI_ERR_NO_MEM;
    failure = {error, error != MPI_SUCCESS};
    fabric.bind(call, error, Watching(call.observer), payload.equal_bytes(),
                plan.allows_in_place_ && payload.in_place());
    // If it is watched, the engine reports the end of each message at once.
    if (error || fabric.watch().follows()) [[unlikely]]
      way = Way::engine;
    else if (!std::is_same_v<Watching, Watch> && !plan.row_sends_.empty() &&
             payload.fit(fabric.row_block_bytes(), plan.row_sends_, plan.row_receives_))
      way = Way::rows;
    else way = Payload::of_rows && call.waits ? Way::list : Way::engine;
    if (way == Way::engine) engine.restart();
  }

  [[gnu::always_inline]] int advance_inline() {
    const int error = go_on();
    if (error == unfinished) return error;
    if (error) [[unlikely]]
      clean_up();
    plan.scratch_.release();
    return error;
  }
  int advance() override { return advance_inline(); }

  /// Begins an exchange of equal blocks, and waits for its end.
  [[gnu::noinline]] int run(const Rows& rows, const Invocation& call) {
    if (plan.broken_) [[unlikely]]
      return MPI_ERR_OTHER;
    if (rows.block_bytes == 0) return call.failure;
    begin(call, rows);
    return advance_inline();
  }

  [[gnu::always_inline]] int go_on() {
    if constexpr (Payload::of_rows)
      if (way == Way::list) return run_list();
    return way == Way::rows ? exchange_rows() : engine.advance();
  }

  /// Executes the list of operations, which is equivalent to the schedule.
  [[gnu::always_inline]] int run_list() {
    const auto& watch = fabric.watch();
    for (const Operation& operation : plan.operations_) {
      int error = MPI_SUCCESS;
      switch (operation.kind) {
        case Operation::Kind::copy: {
          watch.step(operation.step);
          const auto phase = watch.during(phase_of(plan.schedule_.steps[operation.step].purpose));
          payload.copy_row(operation.from, operation.to);
          break;
        }
        case Operation::Kind::swap:
          watch.step(operation.step);
          error = fabric.swap(payload.template row<true>(operation.from), operation.destination,
                              payload.template row<false>(operation.to), operation.source);
          if (error) [[unlikely]]
            return engine.give_up(error);
          break;
        case Operation::Kind::step: error = engine.round(operation.step); break;
      }
      if (error) [[unlikely]]
        return error;
    }
    if (const int error = fabric.raise_row_flag()) [[unlikely]]
      return engine.give_up(error);
    return payload.over();
  }

  /// Exchanges all blocks by rows, without the engine.
  [[gnu::always_inline]] int exchange_rows() {
    const auto out = [this, place = payload.template place<true>()](std::size_t i) {
      return place(plan.row_sends_[i]);
    };
    const auto in = [this, place = payload.template place<false>()](std::size_t i) {
      return place(plan.row_receives_[i]);
    };
    RowProgress now = progress;  // a copy, so that it can be kept in registers
    const int error =
        fabric.exchange_rows(now, plan.row_peers_, out, in, [this] { payload.copy(plan.operations_.front().step); });
    if (!fabric.call().waits) progress = error == unfinished ? now : RowProgress{};
    if (error == unfinished) return error;
    return error ? engine.give_up(error) : payload.over();
  }

  /// Cleans up after an exchange that ended with an error.
  [[gnu::noinline, gnu::cold]] void clean_up() {
    plan.nothing_sent_ = engine.gave_up() && !fabric.sent();
    plan.broken_ = engine.gave_up() && fabric.sent();
    if (plan.broken_) plan.scratch_.lose();
    engine.restart();
  }

  Plan& plan;
  Failure failure;
  Payload payload;
  Fabric<Watching> fabric;
  Engine<Fabric<Watching>, Payload> engine;
  enum class Way : std::uint8_t { engine, list, rows } way = Way::engine;
  RowProgress progress{};  ///< of an exchange by rows that does not wait
};

struct Plan::Executors {
  explicit Executors(Plan& plan)
      : rows(plan, plan.types_, plan.scratch_), watched_rows(plan, plan.types_, plan.scratch_),
        blocks(plan, plan.needs_ == Needs::bytes), watched_blocks(plan, plan.needs_ == Needs::bytes) {}

  ExecutorOf<RowsPayload<Unwatched>, Unwatched> rows;
  ExecutorOf<RowsPayload<Watch>, Watch> watched_rows;
  ExecutorOf<BlocksPayload<Unwatched>, Unwatched> blocks;
  ExecutorOf<BlocksPayload<Watch>, Watch> watched_blocks;

  Executor* started = nullptr;  ///< has the exchange that start() began
  std::optional<Rows> started_rows{};
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

int Plan::run(const Rows& rows, const Invocation& call) {
  return call.observer ? executors_->watched_rows.run(rows, call) : executors_->rows.run(rows, call);
}

int Plan::start(const Blocks& send, const Blocks& receive, const Invocation& call) {
  if (broken_) return MPI_ERR_OTHER;
  Executors& all = *executors_;
  const auto start_by = [&](auto& executor, const auto&... what) {
    executor.begin(call, what...);
    all.started = &executor;
    return unfinished;
  };
  all.started_rows = rows_of(send, receive);
  if (all.started_rows && all.started_rows->block_bytes == 0) return call.failure;
  if (all.started_rows)
    return call.observer ? start_by(all.watched_rows, *all.started_rows) : start_by(all.rows, *all.started_rows);
  if (forwards()) return nothing_sent_ = true, MPI_ERR_ARG;  // the sizes of sent and received blocks differ: the host
                                                             // MPI reports that
  return call.observer ? start_by(all.watched_blocks, send, receive) : start_by(all.blocks, send, receive);
}

int Plan::advance() { return executors_->started->advance(); }

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
