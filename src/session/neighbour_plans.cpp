#include "session/neighbour_plans.hpp"

#include <algorithm>
#include <array>
#include <span>

#include "team/agreement.hpp"
#include "mpi/neighbourhood.hpp"
#include "node/node_group.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

const std::shared_ptr<const Neighbourhood>& NeighbourPlans::shared_neighbourhood() {
  if (!std::exchange(looked_for_neighbours_, true) && !members_.inter)
    if (std::optional<Neighbourhood> found = neighbourhood_of(members_.user(), members_.shape.ranks, members_.rank()))
      known_.own = std::make_shared<const Neighbourhood>(*std::move(found));
  return known_.own;
}

namespace {

/// A checksum of the ends of edges on this rank. Its sum over all ranks is 0 if each edge has both ends; otherwise it
/// is 0 with negligible probability.
std::uint64_t balance(const Neighbourhood& mine) {
  const auto number = [](Rank from, Rank to, std::int32_t edge) {
    const std::uint64_t ends = static_cast<std::uint64_t>(from) << 32 | static_cast<std::uint32_t>(to);
    return mixed(mixed(ends + golden_gamma) + static_cast<std::uint64_t>(edge));
  };
  std::uint64_t sum = 0;
  for (const Edge& edge : edges_out(mine)) sum += number(mine.rank, edge.peer, edge.number);
  for (const Edge& edge : edges_in(mine)) sum -= number(edge.peer, mine.rank, edge.number);
  return sum;
}

/// Packs the lists of neighbours for sending: the number of outgoing and of incoming edges, the neighbours, then
/// padding to the largest size of any rank.
std::vector<Rank> packed(const Neighbourhood& mine, std::size_t length) {
  std::vector<Rank> all{mine.degrees().out, mine.degrees().in};
  for (const auto* const list : {&mine.to, &mine.from}) all.insert(all.end(), list->begin(), list->end());
  all.resize(length, nobody);
  return all;
}

Neighbourhood unpacked(const Neighbourhood& mine, Rank rank, const Rank* from) {
  const Rank *const to = from + 2, *const behind = to + from[0];
  return {mine.ranks, rank, {to, behind}, {behind, behind + from[1]}, mine.grid};
}

}  // namespace

std::string NeighbourPlans::gather_node_neighbourhoods() {
  if (gathered_) return *gathered_;
  const Neighbourhood& mine = *known_.own;
  const auto come_to = [this](std::string problem) { return *(gathered_ = std::move(problem)); };
  const std::int64_t most = most_of_any_rank(std::int64_t{mine.degrees().out} + mine.degrees().in, *members_.team);
  if (most > members_.options().request_limit)
    return come_to(too_many_requests);  // an algorithm may send all blocks directly
  const auto length = static_cast<std::size_t>(2 + most);
  std::vector<Rank> record, all;
  std::optional<NodeGroup> group;
  std::uint64_t sums[] = {0, 0};  // checksum of edges, and number of ranks without memory
  try {
    sums[0] = balance(mine);
    record = packed(mine, length);
    group.emplace(*members_.team, members_.gathers(), members_.shape.hierarchy.front());
    all.resize(length * static_cast<std::size_t>(group->count()));
  } catch (const std::bad_alloc&) { sums[1] = 1; }
  if (allreduce(sums, MPI_UINT64_T, MPI_SUM, *members_.team) != MPI_SUCCESS || sums[1] != 0) return come_to(no_plan);
  if (sums[0] != 0) return come_to("ranks disagree on their neighbours");
  if (group->allgather_bytes(record.data(), length * sizeof(Rank), all.data()) == MPI_SUCCESS) try {
      NodeNeighbourhoods found{members_.shape, {}};
      const Rank* next = all.data();
      for (Rank rank = 0; rank < members_.shape.ranks; ++rank)
        if (group->members()[static_cast<std::size_t>(rank)] >= 0) {
          found.node.push_back(unpacked(mine, rank, next));
          next += length;
        }
      known_.node = std::make_unique<const NodeNeighbourhoods>(std::move(found));
    } catch (const std::bad_alloc&) {}
  return come_to("");  // a rank without its neighbourhoods makes no plan, and so none does
}

Choice NeighbourPlans::choose() {
  const std::string unknown = wants_nodes(members_.shape, members_.options()) ? members_.find_nodes() : "";
  if (!unknown.empty()) return {Spec{}, unknown};
  Choice choice = choose_for_neighbours(members_.shape, members_.options(), {true, true}, host_is_mpich);
  if (choice.spec.intra != Transport::mpi) {
    plans_.join();
    choice = choose_for_neighbours(members_.shape, members_.options(), node_.means(), host_is_mpich);
  }
  if (!forwards(choice.spec)) return choice;
  const std::string problem = gather_node_neighbourhoods();
  return problem.empty() ? choice : Choice{Spec{}, problem};
}

bool NeighbourPlans::few_requests(const Exchange& plan) const {
  if (plan.spec().intra != Transport::mpi && members_.nodes() == 1) return true;
  const std::int64_t window = plan.spec().window, most = plan.working_blocks();
  return (window > 0 ? std::min(2 * window, most) : most) <= members_.options().request_limit;
}

void NeighbourPlans::count_work() {
  constexpr std::size_t most_specs = 3, most_phases = 3, numbers = most_phases * NeighbourPart::count;
  if (work_) return;
  plans_.join();
  NeighbourWork& work = work_.emplace();
  if (!gather_node_neighbourhoods().empty()) return;
  std::vector<Spec> specs = leaders_to_try(node_.means());
  // This spec stands for the host MPI, whose algorithm is assumed to be direct.
  specs.insert(specs.begin(), Spec{.family = Family::direct});
  // Element 0 of `most` is 1 on a rank that lacks its counts; element 0 of `sums` is the number of blocks.
  std::array<double, 1 + most_specs * numbers> most{}, sums{};
  try {
    const Nodes nodes(members_.shape);
    for (std::size_t i = 0; known_.node && i < specs.size(); ++i) {
      const NeighbourPart part = neighbour_part(slot_flow(specs[i], *known_.node, members_.rank()), nodes);
      std::ranges::copy(part.most, most.begin() + static_cast<std::ptrdiff_t>(1 + i * numbers));
      std::ranges::copy(part.sent, sums.begin() + static_cast<std::ptrdiff_t>(1 + i * numbers));
    }
    sums[0] = static_cast<double>(edges_out(*known_.own).size());
    if (!known_.node) most[0] = 1;
  } catch (const std::bad_alloc&) { most[0] = 1; }
  if (allreduce(most, MPI_DOUBLE, MPI_MAX, *members_.team) != MPI_SUCCESS ||
      allreduce(sums, MPI_DOUBLE, MPI_SUM, *members_.team) != MPI_SUCCESS || most[0] != 0)
    return;
  const auto work_of = [&](std::size_t i) {
    const std::size_t first = 1 + i * numbers;
    return neighbour_work(std::span(most).subspan(first, numbers), std::span(sums).subspan(first, numbers),
                          members_.shape.ranks, static_cast<std::int32_t>(members_.nodes()),
                          specs[i].intra != Transport::mpi);
  };
  work.blocks = sums[0];
  work.host = work_of(0);
  for (std::size_t i = 1; i < specs.size(); ++i) work.leaders.emplace_back(specs[i], work_of(i));
}

std::string NeighbourPlans::execute_by(const Spec& spec, Decision& decision) {
  const bool by_mpi = spec.intra == Transport::mpi || members_.nodes() > 1;
  if (by_mpi && !members_.has_messages()) return no_messages;
  decision.use(plans_.find({spec, forwards(spec), &known_}), forwards(spec));
  if (!decision.exchange) return no_plan;
  if (decision.sized || few_requests(*decision.exchange)) return "";
  decision.use(nullptr);
  return too_many_requests;
}

}  // namespace swapmeet
