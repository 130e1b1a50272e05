/// The executor of a relay: how blocks of unequal size are passed on from round to round (engine/varying.hpp).
#pragma once

#include <algorithm>
#include <cstring>

#include "engine/size_codec.hpp"
#include "engine/varying.hpp"
#include "engine/waiting.hpp"

namespace swapmeet {

/// Tags: messages to one peer keep their order within each kind.
enum Tag : int { tag_last = 1, tag_passed_on, tag_ahead, tag_direct };

/// One exchange, without the blocks that go straight. `Waiting` and `Watching`: as of a Pass.
template <class Waiting, class Watching>
class Relaying {
 public:
  Relaying(Varying& all, const Blocks& send, const Blocks& receive, std::int64_t direct_bytes, MPI_Comm comm,
           Outcome& outcome, bool& touched, const Watching& watch)
      : all_(all), relay_(all.relay_), send_(send), receive_(receive), direct_bytes_(direct_bytes), comm_(comm),
        touched_(touched), outcome_(outcome), watch_(watch) {}

  int run() {
    if (round_ == 0 && stage_ == Stage::announce)
      for (Rank d = 0; d < relay_.ranks; ++d) item(d) = {send_.address(d), small(send_.bytes(d)), 0};
    int error = MPI_SUCCESS;
    for (; round_ < relay_.rounds.size() && !error; ++round_) {
      watch_.step(relay_.rounds[round_].step);
      error = exchange(relay_.rounds[round_]);
      if (error == unfinished) return error;
    }
    for (Landing& landing : all_.landings_) give(landing);  // after an error
    return error;
  }

 private:
  using Bundle = Relay::Bundle;

  /// The bytes that a block has in the schedule.
  std::int64_t small(std::int64_t bytes) const { return bytes > direct_bytes_ ? 0 : bytes; }

  Varying::Item& item(std::int32_t block) { return all_.items_[static_cast<std::size_t>(block)]; }
  std::span<const std::int32_t> arriving(const Bundle& bundle) const {
    return relay_.blocks_of(bundle, relay_.arriving);
  }
  std::span<const std::int32_t> departing(const Bundle& bundle) const {
    return relay_.blocks_of(bundle, relay_.departing);
  }

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
  Sizes treatment(const Bundle& bundle) const {
    return all_.courier_.local(bundle.peer) ? Sizes::combined : all_.sizes_;
  }
  bool combines(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) != Sizes::ahead; }
  bool announces(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) != Sizes::combined; }
  bool probes(const Bundle& bundle) const { return tells(bundle) && treatment(bundle) == Sizes::combined; }

  int exchange(const Relay::Round& round) {
    const auto sends = relay_.sends_of(round), receives = relay_.receives_of(round);
    const std::span<Landing> landings = std::span(all_.landings_).subspan(round.first_receive, receives.size());
    const std::span<Landing> gathered = std::span(all_.gathered_).first(sends.size());
    const std::span<Landing> heads_in = std::span(all_.heads_).first(receives.size());
    const std::span<Landing> heads_out = std::span(all_.heads_).subspan(receives.size(), sends.size());
    const int error = transfer(sends, gathered, receives, landings, heads_in, heads_out);
    if (error == unfinished) return error;
    stage_ = Stage::announce;
    if (error) all_.courier_.abandon(touched_ || error == MPI_ERR_NO_MEM);
    for (const auto& sent : {heads_out, gathered})
      for (Landing& memory : sent) error ? lose(memory) : give(memory);
    if (!error) deliver(round, receives, landings, heads_in);
    for (Landing& memory : heads_in) give(memory);
    if (!error) forget(sends);
    return error;
  }

  /// All messages of a round, stage by stage: it goes on where it was.
  int transfer(std::span<const Bundle> sends, std::span<Landing> gathered, std::span<const Bundle> receives,
               std::span<Landing> landings, std::span<Landing> heads_in, std::span<Landing> heads_out) {
    if (stage_ == Stage::announce) {
      if (const int error = announce(sends, heads_out, receives, heads_in)) return error;
      stage_ = Stage::announced;
    }
    if (stage_ == Stage::announced) {
      if (const int error = hear()) return error;
      if (const int error = begin(sends, gathered, receives, landings, heads_in)) return error;
      probed_ = 0;
      stage_ = Stage::begun;
    }
    const auto phase = watch_.during(CallPhase::transfer);
    for (; probed_ < receives.size(); ++probed_)
      if (probes(receives[probed_]) && !all_.courier_.local(receives[probed_].peer))
        if (const int error = land_probed(receives[probed_], landings[probed_])) return error;
    phase.then(CallPhase::wait);
    return finish();
  }

  /// Begins to send ahead of each message what its receiver must know, and to receive that.
  int announce(std::span<const Bundle> sends, std::span<Landing> out, std::span<const Bundle> receives,
               std::span<Landing> in) {
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
      if (const int error = send({out[i].memory, end - out[i].memory, MPI_BYTE}, sends[i].peer, tag_ahead))
        return error;
    }
    return MPI_SUCCESS;
  }

  /// What was announced.
  int hear() {
    if (all_.sizes_ == Sizes::combined) return MPI_SUCCESS;
    const auto phase = watch_.during(CallPhase::metadata);
    return finish();
  }

  /// Begins the messages themselves. Those whose length only MPI knows are asked for when everything else is under way.
  int begin(std::span<const Bundle> sends, std::span<Landing> gathered, std::span<const Bundle> receives,
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
    return MPI_SUCCESS;
  }

  int land(const Bundle& bundle, Landing& landing, const Landing& head) {
    if (tells(bundle)) {
      const std::int64_t bytes =
          all_.sizes_ == Sizes::total ? read_number<std::int64_t>(head.memory) : sum_sizes(head.memory, bundle.count);
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
    int error = Waiting::probe(bundle.peer, tag_passed_on, comm_, &message, &status);
    phase.then(CallPhase::transfer);
    if (!error) error = PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
    if (error) return error;
    if (!take(landing, bytes)) return MPI_ERR_NO_MEM;
    return imrecv({landing.memory, bytes, MPI_BYTE}, &message,
                  all_.courier_.request(bundle.peer, bytes, tag_passed_on));
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
      copied(it.bytes);
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
    if (const std::int64_t fits = std::min(bytes, room); fits > 0) {
      std::memcpy(receive_.address(source), from, static_cast<std::size_t>(fits));
      copied(fits);
    }
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
      to =
          wide ? write_number<std::int64_t>(to, item(block).bytes) : write_number<std::uint32_t>(to, item(block).bytes);
    return to;
  }

  int receive(const Part& part, Rank from, int tag) { return all_.courier_.receive(Courier::round, part, from, tag); }

  int send(const Part& part, Rank to, int tag) {
    const int error = all_.courier_.send(Courier::round, part, to, tag);
    if (!error) touched_ = true, all_.traffic_.add(part.count);
    return error;
  }

  int finish() { return all_.courier_.finish<Waiting>(Courier::round); }

  static constexpr char no_sizes[sizeof(std::uint32_t)] = {};

  /// Of the round: nothing begun; what is announced is under way; so are the messages.
  enum class Stage { announce, announced, begun };

  Varying& all_;
  const Relay& relay_;
  const Blocks &send_, &receive_;
  std::int64_t direct_bytes_;
  MPI_Comm comm_;
  bool& touched_;
  Outcome& outcome_;
  std::size_t round_ = 0;
  Stage stage_ = Stage::announce;
  std::size_t probed_ = 0;  ///< messages of the round that have been asked for
  [[no_unique_address]] Watching watch_;
};

}  // namespace swapmeet
