/// The symbolic execution of the schedules of all ranks with rendezvous messages.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "proofs/checks.hpp"
#include "proofs/ends.hpp"
#include "proofs/joint_execution.hpp"

namespace swapmeet {

/// The blocks in the buffers of all ranks.
template <class Ends>
class SymbolicBuffers {
 public:
  SymbolicBuffers(std::span<const Schedule> schedules, const Ends& ends)
      : schedules_(schedules), ends_(ends), contents_(schedules.size()) {
    for (std::size_t r = 0; r < contents_.size(); ++r) {
      for (Block d = 0; d < schedules[r].blocks_in(Buffer::send); ++d)
        contents_[r][0].push_back(static_cast<Block>(r) * ends.stride + d);
      for (const Buffer buffer : {Buffer::receive, Buffer::scratch})
        contents_[r][static_cast<std::size_t>(buffer)].assign(static_cast<std::size_t>(schedules[r].blocks_in(buffer)),
                                                              nothing);
    }
  }

  void enter(std::size_t r, std::size_t step) {
    for (const Copy& copy : schedules_[r].copies_of(schedules_[r].steps[step]))
      for (std::int32_t i = 0; i < copy.from.count; ++i)
        at(r, copy.to.buffer, copy.to.block(i)) = at(r, copy.from.buffer, copy.from.block(i));
  }

  void deliver(std::size_t a, std::size_t send, std::size_t b, std::size_t receive) {
    const Message& message = schedules_[b].receives[receive];
    auto run = schedules_[b].runs_of(message).begin();
    std::int32_t filled = 0;
    for (const Run& blocks : schedules_[a].runs_of(schedules_[a].sends[send]))
      for (std::int32_t i = 0; i < blocks.count; ++i) {
        if (filled == run->count) ++run, filled = 0;
        const Block block = at(a, blocks.buffer, blocks.block(i));
        at(b, run->buffer, run->block(filled++)) = block;
        if (message.last && (block == nothing || ends_.destination(block) != static_cast<Rank>(b))) claim(a, b);
      }
  }

  void check_end(std::size_t r, Verdict& verdict) const {
    const std::vector<Block>& received = contents_[r][1];
    for (std::size_t s = 0; s < received.size(); ++s) {
      const Block found = received[s];
      if (found == ends_.at_end(r, s)) continue;
      std::optional<BlockName> name;
      if (found != nothing)
        name = BlockName{static_cast<Rank>(found / ends_.stride), static_cast<Rank>(found % ends_.stride)};
      misdelivered(static_cast<Rank>(r), static_cast<Rank>(s), name, verdict);
    }
  }

  const std::vector<std::string>& false_claims() const { return false_claims_; }

 private:
  Block& at(std::size_t r, Buffer buffer, std::int32_t block) {
    return contents_[r][static_cast<std::size_t>(buffer)][static_cast<std::size_t>(block)];
  }

  void claim(std::size_t a, std::size_t b) {
    if (false_claims_.size() < Verdict::most_findings)
      false_claims_.push_back("rank " + std::to_string(a) + " sends rank " + std::to_string(b) +
                              " a message that is not the last of all its blocks, but marked so");
  }

  std::span<const Schedule> schedules_;
  const Ends& ends_;
  std::vector<std::array<std::vector<Block>, 3>> contents_;  // of send, receive, scratch
  std::vector<std::string> false_claims_;
};

/// Executes the schedules of all ranks. Requires that check_head() has found nothing.
template <class Ends>
void execute_schedules(std::span<const Schedule> schedules, const Ends& ends, const Progress& progress,
                       Verdict& verdict) {
  for (const Schedule& schedule : schedules) check_bounds(schedule, verdict);
  if (!verdict.proved()) return;
  for (const Schedule& schedule : schedules) {
    check_independence(schedule, verdict);
    verdict.messages += static_cast<std::int64_t>(schedule.sends.size());
    for (const Message& send : schedule.sends) verdict.blocks += schedule.block_count(send);
  }
  const Numbering numbers = match(schedules, std::bind_front(&Verdict::add, &verdict));
  if (!verdict.proved()) return;
  SymbolicBuffers buffers(schedules, ends);
  JointExecution execution(schedules, numbers, buffers);
  if (!execution.run(progress)) return verdict.add("interrupted: nothing is proved");
  for (const std::string& claim : buffers.false_claims()) verdict.add(claim);
  for (std::size_t r = 0; r < schedules.size(); ++r)
    if (execution.finished(r)) buffers.check_end(r, verdict);
    else verdict.add("deadlock: " + execution.stuck(r));
}

}  // namespace swapmeet
