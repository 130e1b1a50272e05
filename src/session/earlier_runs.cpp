#include "session/earlier_runs.hpp"

#include <iterator>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "mpi/report.hpp"
#include "schedule/text_hash.hpp"
#include "session/context.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

void EarlierRuns::recall(Rank ranks) { recalled_ = context().memory.recall(ranks); }

void EarlierRuns::use(Team& team, Knowledge& knowledge) {
  const std::shared_ptr<const Recalled> own = std::exchange(recalled_, nullptr);
  std::string recalled = own ? own->text : "";
  recalled.resize(std::exchange(bytes_, 0));
  // Everything that takes memory comes before the vote, in which a rank without the measurements votes otherwise.
  std::uint64_t vote = 0;
  std::vector<Evidence> measured;
  try {
    if (broadcast(recalled.data(), static_cast<int>(recalled.size()), 0, team) == MPI_SUCCESS) {
      measured = usable(parse_recalled(recalled));
      knowledge.evidence.reserve(knowledge.evidence.size() + measured.size());
      vote = hash_of(recalled);
    }
  } catch (const std::bad_alloc&) {}
  if (!same_everywhere(vote, team)) return;
  std::ranges::move(measured, std::back_inserter(knowledge.evidence));
}

EarlierCalls in_earlier_runs(const CallKind& kind, const Knowledge& knowledge) {
  EarlierCalls earlier;
  for (const Evidence& one : knowledge.evidence) {
    if (one.date == 0 || one.kind() != kind) continue;
    earlier.measured = earlier.measured || one.spec.family != Family::native;
    earlier.made = std::max(earlier.made, one.made.calls);
  }
  return earlier;
}

void remember_for_later(Knowledge& knowledge) {
  for (Evidence one : std::exchange(knowledge.evidence, {})) {
    // Evidence of earlier runs is not recorded again; evidence of a single node is of no use later (see usable()).
    if (one.date != 0 || one.nodes.most == 1) continue;
    // Times of exchanges with neighbours hold for this graph of neighbours only.
    if (of_neighbours(one.collective)) continue;
    // Decisions for unequal blocks do not know the sizes.
    if (of_unequal_blocks(one.collective)) one.bytes = {};
    context().memory.remember(one);
  }
}

}  // namespace swapmeet
