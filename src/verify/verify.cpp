/// Symbolic execution of all ranks with rendezvous messages.
#include "verify/verify.hpp"

#include <algorithm>
#include <array>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "verify/checks.hpp"
#include "verify/rendezvous.hpp"
#include "verify/symmetry.hpp"

namespace swapmeet {

void Verdict::add(std::string finding) {
  if (findings.size() < most_findings) findings.push_back(std::move(finding));
}

namespace {

using Block = std::int64_t;  // source · P + destination
constexpr Block nothing = -1;

/// The blocks in the buffers of all ranks.
class Buffers {
 public:
  explicit Buffers(std::span<const Schedule> schedules) : schedules_(schedules), contents_(schedules.size()) {
    const auto p = static_cast<Block>(schedules.size());
    for (std::size_t r = 0; r < contents_.size(); ++r) {
      for (Block d = 0; d < p; ++d) contents_[r][0].push_back(static_cast<Block>(r) * p + d);
      contents_[r][1].assign(static_cast<std::size_t>(p), nothing);
      contents_[r][2].assign(static_cast<std::size_t>(schedules[r].scratch_blocks), nothing);
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
        if (message.last && block % static_cast<Block>(schedules_.size()) != static_cast<Block>(b)) claim(a, b);
      }
  }

  void check_end(std::size_t r, Verdict& verdict) const {
    const auto p = static_cast<Block>(schedules_.size());
    for (Block s = 0; s < p; ++s) {
      const Block found = contents_[r][1][static_cast<std::size_t>(s)];
      if (found == s * p + static_cast<Block>(r)) continue;
      std::optional<BlockName> name;
      if (found != nothing) name = BlockName{static_cast<Rank>(found / p), static_cast<Rank>(found % p)};
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
                              " a message that is not the last of all its blocks, but says so");
  }

  std::span<const Schedule> schedules_;
  std::vector<std::array<std::vector<Block>, 3>> contents_;  // of send, receive, scratch
  std::vector<std::string> false_claims_;
};

}  // namespace

Verdict verify(std::span<const Schedule> schedules, const Progress& progress) {
  Verdict verdict;
  for (std::size_t r = 0; r < schedules.size(); ++r)
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
  if (!verdict.proved()) return verdict;
  for (const Schedule& schedule : schedules) check_bounds(schedule, verdict);
  if (!verdict.proved()) return verdict;
  for (const Schedule& schedule : schedules) {
    check_independence(schedule, verdict);
    verdict.messages += static_cast<std::int64_t>(schedule.sends.size());
    for (const Message& send : schedule.sends) verdict.blocks += schedule.block_count(send);
  }
  const Numbering numbers = match(schedules, std::bind_front(&Verdict::add, &verdict));
  if (!verdict.proved()) return verdict;
  Buffers buffers(schedules);
  Rendezvous execution(schedules, numbers, buffers);
  if (!execution.run(progress)) return verdict.add("interrupted: nothing is proved"), verdict;
  for (const std::string& claim : buffers.false_claims()) verdict.add(claim);
  for (std::size_t r = 0; r < schedules.size(); ++r)
    if (execution.finished(r)) buffers.check_end(r, verdict);
    else verdict.add("deadlock: " + execution.stuck(r));
  return verdict;
}

Verdict verify(const Spec& spec, const Shape& shape, const Progress& progress) {
  const auto half = [&](double before) {
    return progress ? Progress([&progress, before](double done) { return progress(before + done / 2); }) : Progress{};
  };
  Verdict verdict;
  {
    std::vector<Schedule> schedules;
    for (Rank rank = 0; rank < shape.ranks; ++rank) schedules.push_back(generate(spec, shape, rank));
    verdict = verify(schedules, half(0));
  }
  if (!verdict.proved()) return verdict;
  std::vector<Flow> flows;
  for (Rank rank = 0; rank < shape.ranks; ++rank) flows.push_back(flow(spec, shape, rank));
  verdict.findings = verify_flows(flows, half(0.5)).findings;
  return verdict;
}

std::int64_t verify_memory_bytes(const Shape& shape) {
  const std::int64_t pairs = std::int64_t{shape.ranks} * shape.ranks;
  const std::int64_t per_pair =
      2 * sizeof(Message) + 2 * sizeof(Run) + 3 * sizeof(std::uint32_t) + 2 * sizeof(Block) + 16;
  return pairs * per_pair;
}

bool proved(const Spec& spec, const Shape& shape) {
  if (spec.family == Family::native) return true;
  if (!unsuitable(spec, shape).empty()) return false;
  if (algorithm_of(spec.family).proved) return true;
  if (shape.ranks <= 64) return verify(spec, shape).proved();
  return verify_symmetric(spec, shape).proved();  // in milliseconds, for thousands of ranks, too
}

}  // namespace swapmeet
