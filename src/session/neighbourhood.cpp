/// What a Communicator does for exchanges with the neighbours of its virtual topology. Each rank knows only its own
/// neighbours; what is decided rests on what all share, and on the most blocks of any rank, on which they agree once. Where
/// blocks are passed on, ranks of a node know one another's neighbours.
#include "algorithms/neighbours.hpp"
#include "choose/neighbours.hpp"
#include "mpi/agreement.hpp"
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

/// A number of the ends of edges that this rank has: the sum over all ranks is 0 if each edge has two ends, and hardly ever
/// otherwise.
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

/// Lists of neighbours as they are sent: how many there are, then they themselves, then room up to the most of any rank.
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

std::string Communicator::meet_neighbours() {
  if (met_neighbours_) return *met_neighbours_;
  const Neighbourhood& mine = *neighbourhood_;
  const auto come_to = [this](std::string problem) { return *(met_neighbours_ = std::move(problem)); };
  const std::int64_t most = most_of_any_rank(std::int64_t{mine.degrees().out} + mine.degrees().in, agreeing());
  if (most > options_.request_limit) return come_to(too_many_requests);  // all blocks may be sent directly
  const auto length = static_cast<std::size_t>(2 + most);
  std::vector<Rank> record, all;
  std::optional<NodeGroup> group;
  std::uint64_t sums[] = {0, 0};  // of edges with one end, and of ranks without memory
  try {
    sums[0] = balance(mine);
    record = packed(mine, length);
    group.emplace(agreeing(), shape_.hierarchy.front());
    all.resize(length * static_cast<std::size_t>(group->count()));
  } catch (const std::bad_alloc&) { sums[1] = 1; }
  if (reduce(sums, MPI_UINT64_T, MPI_SUM, agreeing()) != MPI_SUCCESS || sums[1] != 0) return come_to(no_plan);
  if (sums[0] != 0) return come_to("ranks disagree on their neighbours");
  if (group->gather_bytes(record.data(), length * sizeof(Rank), all.data()) == MPI_SUCCESS) {
    Surroundings found{shape_, {}};
    const Rank* next = all.data();
    for (Rank rank = 0; rank < shape_.ranks; ++rank)
      if (group->members()[static_cast<std::size_t>(rank)] >= 0) {
        found.node.push_back(unpacked(mine, rank, next));
        next += length;
      }
    surroundings_ = std::make_unique<const Surroundings>(std::move(found));
  }
  return come_to("");  // a rank that has failed makes no plan, so none does
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
  const std::string problem = meet_neighbours();
  return problem.empty() ? choice : Choice{Spec{}, problem};
}

std::unique_ptr<SizedPlan> Communicator::make_sized_plan_for_neighbours(const Spec& spec,
                                                                        Neighbours* within_node) const {
  if (!surroundings_) return nullptr;
  Flow travels = flow(spec, *surroundings_, rank_);
  const std::int64_t working_blocks = peak_blocks(travels);
  auto made =
      std::make_unique<SizedPlan>(spec, std::move(travels), Forwarding{}, working_blocks,
                                  spec.intra == Transport::mpi ? nullptr : within_node, tags_, neighbourhood_.get());
  return made->fits() ? std::move(made) : nullptr;
}

std::unique_ptr<Plan> Communicator::make_plan_for_neighbours(const Spec& spec, Neighbours* within_node) const {
  return std::make_unique<Plan>(spec, generate(spec, *neighbourhood_),
                                spec.intra == Transport::mpi ? nullptr : within_node, tags_);
}

bool Communicator::few_requests(const Plan& plan) const {
  if (plan.spec().intra != Transport::mpi && nodes() == 1) return true;
  const std::int64_t window = plan.spec().window, most = plan.working_blocks();
  return (window > 0 ? std::min(2 * window, most) : most) <= options_.request_limit;
}

void Communicator::decide_for_neighbours(Decision& decision) {
  const Choice choice = choose_for_neighbours();
  decision.reason = choice.reason;
  if (choice.spec.family == Family::native) return;
  const auto leave_to_host = [&decision](const char* why) { decision.reason = why; };
  const bool by_mpi = choice.spec.intra == Transport::mpi || nodes() > 1;
  if (by_mpi && !make_ours()) return leave_to_host("MPI has no communicator left for us");
  if (forwards(choice.spec)) {
    decision.exchange = decision.sized = find_or_make(neighbour_sized_plans_, choice.spec, [&] {
      return made_everywhere(agreeing(),
                             [&] { return make_sized_plan_for_neighbours(choice.spec, neighbours_.get()); });
    });
    if (!decision.exchange) leave_to_host(no_plan);
    return;
  }
  Plan* const plan = find_or_make(neighbour_plans_, choice.spec, [&] {
    return made_everywhere(agreeing(), [&] { return make_plan_for_neighbours(choice.spec, neighbours_.get()); });
  });
  if (!plan) return leave_to_host(no_plan);
  if (!few_requests(*plan)) return leave_to_host(too_many_requests);
  decision.exchange = decision.plan = plan;
}

}  // namespace swapmeet
