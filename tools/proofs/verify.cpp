#include "proofs/verify.hpp"

#include "algorithms/generate.hpp"
#include "proofs/checks.hpp"
#include "proofs/flow_execution.hpp"
#include "proofs/schedule_execution.hpp"

namespace swapmeet {

void Verdict::add(std::string finding) {
  if (findings.size() < most_findings) findings.push_back(std::move(finding));
}

Verdict verify(std::span<const Schedule> schedules, const Progress& progress) {
  Verdict verdict;
  for (std::size_t r = 0; r < schedules.size(); ++r) {
    check_head(schedules[r], static_cast<Rank>(schedules.size()), static_cast<Rank>(r), schedules[0], verdict);
    if (schedules[r].neighbours) verdict.add("schedule " + std::to_string(r) + " is of an exchange with neighbours");
  }
  if (verdict.proved()) execute_schedules(schedules, AllToAll{static_cast<Block>(schedules.size())}, progress, verdict);
  return verdict;
}

Verdict verify_flows(std::span<const Flow> flows, const Progress& progress) {
  Verdict verdict;
  for (const Flow& flow : flows)
    if (flow.neighbours) verdict.add("flow " + std::to_string(flow.rank) + " is of an exchange with neighbours");
  if (!verdict.proved()) return verdict;
  execute_flows(flows, AllToAll{static_cast<Block>(flows.size())}, progress, verdict);
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

}  // namespace swapmeet
