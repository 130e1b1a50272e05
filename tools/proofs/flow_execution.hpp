/// The symbolic execution of flows. Every size is a symbol, so the result holds for all sizes, zero included.
#pragma once

#include <algorithm>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "topology/neighbourhood.hpp"
#include "proofs/checks.hpp"
#include "proofs/ends.hpp"
#include "proofs/joint_execution.hpp"

namespace swapmeet {

inline std::string unequal_blocks_of(std::size_t rank) {
  return "rank " + std::to_string(rank) + ", blocks of unequal size: ";
}

/// The blocks that each rank has during the execution.
template <class Ends>
class SymbolicHolders {
 public:
  SymbolicHolders(std::span<const Flow> flows, const Ends& ends, Verdict& verdict)
      : flows_(flows), ends_(ends), verdict_(verdict), holders_(flows.size()) {
    for (std::size_t r = 0; r < flows.size(); ++r) {
      Holder& holder = holders_[r];
      const auto own = static_cast<std::size_t>(flows[r].own_blocks());
      holder.blocks.resize(own + static_cast<std::size_t>(flows[r].passed_on));
      holder.here.assign(holder.blocks.size(), false);
      holder.in_flight.resize(flows[r].sends.size());
      for (std::size_t d = 0; d < own; ++d) {
        holder.blocks[d] = static_cast<Block>(r) * ends.stride + static_cast<Block>(d);
        const Rank destination = ends.destination(holder.blocks[d]);
        holder.here[d] = destination != nobody && destination != static_cast<Rank>(r);
      }
      for (std::size_t s = 0; s < static_cast<std::size_t>(flows[r].ending_blocks()); ++s) {
        const Block block = ends.at_end(r, s);  // a rank copies its own blocks
        holder.received.push_back(block == nothing || block / ends.stride == static_cast<Block>(r));
      }
    }
  }

  /// Begins a round. The blocks that it sends must have arrived by then, so that no order of completion can send one
  /// that has not.
  void enter(std::size_t r, std::size_t step) {
    const Round& round = flows_[r].rounds[step];
    Holder& holder = holders_[r];
    for (std::uint32_t m = round.first_send; m < round.first_send + round.send_count; ++m)
      for (const std::int32_t block : flows_[r].departing_in(flows_[r].sends[m])) {
        const auto i = static_cast<std::size_t>(block);
        if (!holder.here[i]) add(r, "a block is sent that is not there");
        holder.here[i] = false;
        holder.in_flight[m].push_back(holder.blocks[i]);
      }
  }

  void deliver(std::size_t a, std::size_t send, std::size_t b, std::size_t receive) {
    const Message& message = flows_[b].receives[receive];
    const std::vector<Block> blocks = std::move(holders_[a].in_flight[send]);
    const auto numbers = flows_[b].arriving_in(message);
    for (std::size_t i = 0; i < blocks.size(); ++i) arrive(b, blocks[i], numbers[i], message.last);
  }

  void check_end(std::size_t r) {
    const Holder& holder = holders_[r];
    for (std::size_t s = 0; s < holder.received.size(); ++s)
      if (const int times = holder.received[s]; times != 1)
        add(r, "the block of " + (flows_[r].neighbours ? "neighbour " : std::string("rank ")) + std::to_string(s) +
                   " came " + std::to_string(times) + " times");
    if (std::ranges::count(holder.here, true) != 0) add(r, "a block is kept in working memory for ever");
  }

 private:
  struct Holder {
    std::vector<Block> blocks;                  ///< by their numbers in the flow
    std::vector<bool> here;                     ///< whether the rank has the block
    std::vector<int> received;                  ///< times that each block of the rank's result was received
    std::vector<std::vector<Block>> in_flight;  ///< blocks of messages that were sent and not delivered
  };

  void add(std::size_t rank, const std::string& problem) { verdict_.add(unequal_blocks_of(rank) + problem); }

  void arrive(std::size_t r, Block block, std::int32_t number, bool last) {
    Holder& holder = holders_[r];
    if (last && number >= 0) return add(r, "a message marked as the last passes a block on");
    if (number < 0) {
      const auto end = static_cast<std::size_t>(-1 - number);
      if (ends_.at_end(r, end) != block)
        return misdelivered(static_cast<Rank>(r), static_cast<Rank>(end),
                            BlockName{static_cast<Rank>(block / ends_.stride), static_cast<Rank>(block % ends_.stride)},
                            verdict_);
      ++holder.received[end];
      return;
    }
    const auto i = static_cast<std::size_t>(number);
    if (holder.here[i]) return add(r, "two blocks have one number");
    holder.blocks[i] = block;
    holder.here[i] = true;
  }

  std::span<const Flow> flows_;
  const Ends& ends_;
  Verdict& verdict_;
  std::vector<Holder> holders_;
};

/// Checks that every peer and every block number exists.
inline void check_flow(const Flow& flow, std::size_t ranks, std::size_t rank, Verdict& verdict) {
  const auto p = static_cast<Rank>(ranks);
  if (flow.ranks != p || flow.rank != static_cast<Rank>(rank) || flow.passed_on < 0)
    return verdict.add("flow " + std::to_string(rank) + " is of rank " + std::to_string(flow.rank) + " of " +
                       std::to_string(flow.ranks));
  for (const auto* const messages : {&flow.sends, &flow.receives})
    for (const Message& message : *messages) {
      const std::string peer = "rank " + std::to_string(message.peer);
      if (message.peer < 0 || message.peer >= p) verdict.add(unequal_blocks_of(rank) + peer + " does not exist");
      if (message.peer == flow.rank) verdict.add(unequal_blocks_of(rank) + "a message to itself");
    }
  const std::int32_t own = flow.own_blocks();
  const auto check = [&](const std::vector<std::int32_t>& blocks, std::int32_t least, const auto& exists) {
    if (std::ranges::any_of(blocks, [&](std::int32_t block) {
          return block < least || block >= own + flow.passed_on || !exists(block);
        }))
      verdict.add(unequal_blocks_of(rank) + "a block has a number that does not exist");
  };
  check(flow.departing, 0, [](std::int32_t) { return true; });
  check(flow.arriving, -flow.ending_blocks(), [&](std::int32_t block) { return block < 0 || block >= own; });
}

/// Executes flows symbolically and adds findings to `verdict`. Requires one flow for each rank, with as many blocks as
/// `ends` has.
template <class Ends>
void execute_flows(std::span<const Flow> flows, const Ends& ends, const Progress& progress, Verdict& verdict) {
  for (std::size_t r = 0; r < flows.size(); ++r) check_flow(flows[r], flows.size(), r, verdict);
  if (!verdict.proved()) return;
  for (const Flow& flow : flows) {
    verdict.messages += static_cast<std::int64_t>(flow.sends.size());
    verdict.blocks += static_cast<std::int64_t>(flow.departing.size());
  }
  const Numbering numbers = match(flows, std::bind_front(&Verdict::add, &verdict));
  if (!verdict.proved()) return;
  SymbolicHolders holders(flows, ends, verdict);
  JointExecution execution(flows, numbers, holders);
  if (!execution.run(progress)) return verdict.add("interrupted: nothing is proved");
  for (std::size_t r = 0; r < flows.size(); ++r)
    if (execution.finished(r)) holders.check_end(r);
    else verdict.add("deadlock: " + unequal_blocks_of(r) + execution.stuck(r));
}

}  // namespace swapmeet
