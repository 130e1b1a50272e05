/// The symbolic execution of all ranks with rendezvous messages.
#include "verify/verify.hpp"

#include <algorithm>
#include <array>

#include "algorithms/families.hpp"
#include "algorithms/generate.hpp"
#include "verify/checks.hpp"
#include "verify/ends.hpp"
#include "verify/rendezvous.hpp"
#include "verify/symmetry.hpp"

namespace swapmeet {

void Verdict::add(std::string finding) {
  if (findings.size() < most_findings) findings.push_back(std::move(finding));
}

namespace {

/// The blocks in the buffers of all ranks.
template <class Ends>
class Buffers {
 public:
  Buffers(std::span<const Schedule> schedules, const Ends& ends)
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
void execute(std::span<const Schedule> schedules, const Ends& ends, const Progress& progress, Verdict& verdict) {
  for (const Schedule& schedule : schedules) check_bounds(schedule, verdict);
  if (!verdict.proved()) return;
  for (const Schedule& schedule : schedules) {
    check_independence(schedule, verdict);
    verdict.messages += static_cast<std::int64_t>(schedule.sends.size());
    for (const Message& send : schedule.sends) verdict.blocks += schedule.block_count(send);
  }
  const Numbering numbers = match(schedules, std::bind_front(&Verdict::add, &verdict));
  if (!verdict.proved()) return;
  Buffers buffers(schedules, ends);
  Rendezvous execution(schedules, numbers, buffers);
  if (!execution.run(progress)) return verdict.add("interrupted: nothing is proved");
  for (const std::string& claim : buffers.false_claims()) verdict.add(claim);
  for (std::size_t r = 0; r < schedules.size(); ++r)
    if (execution.finished(r)) buffers.check_end(r, verdict);
    else verdict.add("deadlock: " + execution.stuck(r));
}

void check_neighbourhood(const Neighbourhood& one, Rank ranks, Rank rank, Verdict& verdict) {
  const auto exists = [&](Rank peer) { return peer == nobody || (peer >= 0 && peer < ranks); };
  if (one.ranks != ranks || one.rank != rank || !std::ranges::all_of(one.to, exists) ||
      !std::ranges::all_of(one.from, exists))
    verdict.add("neighbourhood " + std::to_string(rank) + " is of another rank, or has neighbours that do not exist");
}

}  // namespace

Verdict verify(std::span<const Schedule> schedules, const Progress& progress) {
  Verdict verdict;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
    if (schedules[r].neighbours) verdict.add("schedule " + std::to_string(r) + " is of an exchange with neighbours");
  }
  if (verdict.proved()) execute(schedules, AllToAll{static_cast<Block>(schedules.size())}, progress, verdict);
  return verdict;
}

namespace {

void check_neighbourhoods(std::span<const Neighbourhood> neighbourhoods, std::size_t programs, Verdict& verdict) {
  const auto ranks = static_cast<Rank>(neighbourhoods.size());
  if (programs != neighbourhoods.size()) return verdict.add("not as many schedules as ranks");
  for (Rank r = 0; r < ranks; ++r) check_neighbourhood(neighbourhoods[static_cast<std::size_t>(r)], ranks, r, verdict);
}

void check_degrees(const std::optional<Degrees>& found, const Neighbourhood& neighbourhood, Verdict& verdict) {
  if (found != neighbourhood.degrees())
    verdict.add("schedule " + std::to_string(neighbourhood.rank) +
                " is not for as many blocks as its rank has neighbours");
}

}  // namespace

Verdict verify_neighbours(std::span<const Schedule> schedules, std::span<const Neighbourhood> neighbourhoods) {
  Verdict verdict;
  check_neighbourhoods(neighbourhoods, schedules.size(), verdict);
  for (std::size_t r = 0; r < schedules.size() && verdict.proved(); ++r) {
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
    check_degrees(schedules[r].neighbours, neighbourhoods[r], verdict);
  }
  if (!verdict.proved()) return verdict;
  const AmongNeighbours ends(neighbourhoods, verdict);
  if (verdict.proved()) execute(schedules, ends, {}, verdict);
  return verdict;
}

Verdict verify_neighbours(std::span<const Flow> flows, std::span<const Neighbourhood> neighbourhoods) {
  Verdict verdict;
  check_neighbourhoods(neighbourhoods, flows.size(), verdict);
  for (std::size_t r = 0; r < flows.size() && verdict.proved(); ++r)
    check_degrees(flows[r].neighbours, neighbourhoods[r], verdict);
  if (!verdict.proved()) return verdict;
  const AmongNeighbours ends(neighbourhoods, verdict);
  if (verdict.proved()) execute_flows(flows, ends, {}, verdict);
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
  if (verify_symmetric(spec, shape).proved()) return true;  // takes milliseconds, even for thousands of ranks
  constexpr Rank most_verified = 64;
  return shape.ranks <= most_verified && verify(spec, shape).proved();
}

}  // namespace swapmeet
