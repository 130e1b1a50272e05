/// Member functions of Communicator for exchanges with the neighbours of its virtual topology. Each rank knows only its
/// own neighbours. Decisions are based on facts that all ranks share, and on the largest number of blocks of any rank,
/// on which the ranks agree once. If blocks are forwarded, the ranks of a node know the neighbours of their node peers.
#include <algorithm>
#include <array>
#include <span>

#include "algorithms/neighbours.hpp"
#include "choose/neighbours.hpp"
#include "model/neighbour_work.hpp"
#include "team/agreement.hpp"
#include "mpi/neighbourhood.hpp"
#include "node/node_group.hpp"
#include "schedule/random.hpp"
#include "session/communicator.hpp"
#include "session/made_everywhere.hpp"

namespace swapmeet {

const std::shared_ptr<const Neighbourhood>& Communicator::shared_neighbourhood() {
  if (!std::exchange(looked_for_neighbours_, true) && !inter_)
    if (std::optional<Neighbourhood> found = neighbourhood_of(user_, shape_.ranks, rank_))
      neighbourhood_ = std::make_shared<const Neighbourhood>(*std::move(found));
  return neighbourhood_;
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

std::string Communicator::gather_node_neighbourhoods() {
  if (node_neighbourhoods_gathered_) return *node_neighbourhoods_gathered_;
  const Neighbourhood& mine = *neighbourhood_;
  const auto come_to = [this](std::string problem) { return *(node_neighbourhoods_gathered_ = std::move(problem)); };
  const std::int64_t most = most_of_any_rank(std::int64_t{mine.degrees().out} + mine.degrees().in, peers_);
  if (most > options_.request_limit) return come_to(too_many_requests);  // an algorithm may send all blocks directly
  const auto length = static_cast<std::size_t>(2 + most);
  std::vector<Rank> record, all;
  std::optional<NodeGroup> group;
  std::uint64_t sums[] = {0, 0};  // checksum of edges, and number of ranks without memory
  try {
    sums[0] = balance(mine);
    record = packed(mine, length);
    group.emplace(peers_, shape_.hierarchy.front());
    all.resize(length * static_cast<std::size_t>(group->count()));
  } catch (const std::bad_alloc&) { sums[1] = 1; }
  if (reduce(sums, MPI_UINT64_T, MPI_SUM, peers_) != MPI_SUCCESS || sums[1] != 0) return come_to(no_plan);
  if (sums[0] != 0) return come_to("ranks disagree on their neighbours");
  if (group->gather_bytes(record.data(), length * sizeof(Rank), all.data()) == MPI_SUCCESS) {
    NodeNeighbourhoods found{shape_, {}};
    const Rank* next = all.data();
    for (Rank rank = 0; rank < shape_.ranks; ++rank)
      if (group->members()[static_cast<std::size_t>(rank)] >= 0) {
        found.node.push_back(unpacked(mine, rank, next));
        next += length;
      }
    node_neighbourhoods_ = std::make_unique<const NodeNeighbourhoods>(std::move(found));
  }
  return come_to("");  // a rank whose gathering failed makes no plan, and so none does
}

Choice Communicator::choose_for_neighbours() {
  const std::string unknown = wants_nodes(shape_, options_) ? find_nodes() : "";
  if (!unknown.empty()) return {Spec{}, unknown};
  Choice choice = swapmeet::choose_for_neighbours(shape_, options_, {true, true}, host_is_mpich);
  if (choice.spec.intra != Transport::mpi) {
    join(Spec{});
    choice = swapmeet::choose_for_neighbours(shape_, options_, means_, host_is_mpich);
  }
  if (!forwards(choice.spec)) return choice;
  const std::string problem = gather_node_neighbourhoods();
  return problem.empty() ? choice : Choice{Spec{}, problem};
}

std::unique_ptr<SizedPlan> Communicator::make_sized_plan_for_neighbours(const Spec& spec,
                                                                        NodePeers* within_node) const {
  if (!node_neighbourhoods_) return nullptr;
  Flow travels = flow(spec, *node_neighbourhoods_, rank_);
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made =
      std::make_unique<SizedPlan>(spec, std::move(travels), Forwarding{}, working_blocks,
                                  spec.intra == Transport::mpi ? nullptr : within_node, tags_, neighbourhood_.get());
  return made->fits() ? std::move(made) : nullptr;
}

std::unique_ptr<Plan> Communicator::make_plan_for_neighbours(const Spec& spec, NodePeers* within_node) const {
  return std::make_unique<Plan>(spec, std::make_shared<const Schedule>(generate(spec, *neighbourhood_)),
                                spec.intra == Transport::mpi ? nullptr : within_node, tags_);
}

bool Communicator::few_requests(const Plan& plan) const {
  if (plan.spec().intra != Transport::mpi && nodes() == 1) return true;
  const std::int64_t window = plan.spec().window, most = plan.working_blocks();
  return (window > 0 ? std::min(2 * window, most) : most) <= options_.request_limit;
}

void Communicator::count_neighbour_work() {
  constexpr std::size_t most_specs = 3, most_phases = 3, numbers = most_phases * NeighbourPart::count;
  if (neighbour_work_) return;
  join(Spec{});
  NeighbourWork& work = neighbour_work_.emplace();
  if (!gather_node_neighbourhoods().empty()) return;
  std::vector<Spec> specs = leaders_to_try(means_);
  // This spec stands for the host MPI, whose algorithm is assumed to be direct.
  specs.insert(specs.begin(), Spec{.family = Family::direct});
  // Element 0 of `most` is 1 on a rank that lacks its counts; element 0 of `sums` is the number of blocks.
  std::array<double, 1 + most_specs * numbers> most{}, sums{};
  try {
    const Nodes nodes(shape_);
    for (std::size_t i = 0; node_neighbourhoods_ && i < specs.size(); ++i) {
      const NeighbourPart part = neighbour_part(slot_flow(specs[i], *node_neighbourhoods_, rank_), nodes);
      std::ranges::copy(part.most, most.begin() + static_cast<std::ptrdiff_t>(1 + i * numbers));
      std::ranges::copy(part.sent, sums.begin() + static_cast<std::ptrdiff_t>(1 + i * numbers));
    }
    sums[0] = static_cast<double>(edges_out(*neighbourhood_).size());
    if (!node_neighbourhoods_) most[0] = 1;
  } catch (const std::bad_alloc&) { most[0] = 1; }
  if (reduce(most, MPI_DOUBLE, MPI_MAX, peers_) != MPI_SUCCESS ||
      reduce(sums, MPI_DOUBLE, MPI_SUM, peers_) != MPI_SUCCESS || most[0] != 0)
    return;
  const auto work_of = [&](std::size_t i) {
    const std::size_t first = 1 + i * numbers;
    return neighbour_work(std::span(most).subspan(first, numbers), std::span(sums).subspan(first, numbers),
                          shape_.ranks, static_cast<std::int32_t>(nodes()), specs[i].intra != Transport::mpi);
  };
  work.blocks = sums[0];
  work.host = work_of(0);
  for (std::size_t i = 1; i < specs.size(); ++i) work.leaders.emplace_back(specs[i], work_of(i));
}

std::string Communicator::execute_for_neighbours(const Spec& spec, Decision& decision) {
  const bool by_mpi = spec.intra == Transport::mpi || nodes() > 1;
  if (by_mpi && !has_messages()) return no_messages;
  if (forwards(spec)) {
    decision.exchange = decision.sized = find_or_make(neighbour_sized_plans_, spec, [&] {
      return made_everywhere(peers_, [&] { return make_sized_plan_for_neighbours(spec, node_peers_.get()); });
    });
    return decision.exchange ? "" : no_plan;
  }
  Plan* const plan = find_or_make(neighbour_plans_, spec, [&] {
    return made_everywhere(peers_, [&] { return make_plan_for_neighbours(spec, node_peers_.get()); });
  });
  if (!plan) return no_plan;
  if (!few_requests(*plan)) return too_many_requests;
  decision.exchange = decision.plan = plan;
  return "";
}

void Communicator::decide_for_neighbours(Decision& decision) {
  const Choice choice = choose_for_neighbours();
  decision.reason = choice.reason;
  if (choice.spec.family == Family::native) {
    if (nodes() > 1 && !shape_.hierarchy.empty() && tries_leaders(shape_, options_)) decision.trying.resize(1);
    return;
  }
  const std::string problem = execute_for_neighbours(choice.spec, decision);
  if (!problem.empty()) decision.reason = problem;
}

}  // namespace swapmeet
