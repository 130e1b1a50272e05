#include "session/explain.hpp"

#include "mpi/report.hpp"

namespace swapmeet {

namespace {

std::string sizes_text(const Decision& decision) {
  if (decision.most_bytes < 0) return "";
  const std::string least = std::to_string(decision.least_bytes);
  return decision.most_bytes == INT64_MAX
             ? ", blocks from " + least + " B"
             : ", blocks of " + least + " to " + std::to_string(decision.most_bytes) + " B";
}

/// Describes how blocks of unequal size are exchanged in this call. `time`: duration of the agreement on sizes.
std::string treatment(const SizedPlan& plan, std::chrono::nanoseconds time) {
  const Agreed& agreed = plan.agreed();
  std::string text = "; sizes " + std::string(sizes_names[static_cast<std::size_t>(plan.sizes())]);
  if (agreed.direct_bytes != Direct::never)
    text += agreed.direct_bytes == 0 ? ", all blocks directly"
                                     : ", blocks above " + std::to_string(agreed.direct_bytes) + " B directly";
  if (plan.agreement_bytes() == 0) return text + ", no agreement";
  if (agreed.each > 0) text += ", all of " + std::to_string(agreed.each) + " B";
  return text + ", agreed on by an allreduce of " + std::to_string(plan.agreement_bytes()) + " B in " +
         std::to_string(time.count() / 1000) + " us";
}

}  // namespace

std::string on_ranks(const Members& members) {
  return " on " + std::to_string(members.ranks()) + (members.ranks() == 1 ? " rank" : " ranks");
}

void explain(std::string_view name, Collective collective, const Members& members, const Decision& decision,
             std::chrono::nanoseconds agreement, std::string_view how) {
  if (members.rank() != 0 || !members.options().explain) return;
  say_once(std::string(name) + on_ranks(members) + (collective == Collective::alltoall ? sizes_text(decision) : "") +
           ": " + to_text(decision.spec()) + " (" + decision.reason +
           (decision.sized ? treatment(*decision.sized, agreement) : "") + std::string(how) + ")");
}

std::string name_of_plan(Collective collective) { return std::string(name_of(collective)) + "_init"; }

}  // namespace swapmeet
