#include "session/earlier_runs.hpp"

#include <string>
#include <utility>

#include "mpi/report.hpp"
#include "schedule/text_hash.hpp"
#include "session/context.hpp"
#include "team/agreement.hpp"

namespace swapmeet {

void EarlierRuns::recall(Rank ranks) { recalled_ = context().memory.recall(ranks); }

void EarlierRuns::use(const Peers& peers, Knowledge& knowledge) {
  const std::shared_ptr<const Recalled> own = std::exchange(recalled_, nullptr);
  std::string recalled = own ? own->text : "";
  recalled.resize(std::exchange(bytes_, 0));
  const bool had = broadcast(recalled.data(), static_cast<int>(recalled.size()), 0, peers) == MPI_SUCCESS;
  TextHash hash;
  hash.add(recalled);
  if (!same_everywhere(had ? hash.value() : 0, peers)) return;
  for (Evidence& one : usable(parse_recalled(recalled))) knowledge.evidence.push_back(std::move(one));
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
