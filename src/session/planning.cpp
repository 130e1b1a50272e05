#include "session/planning.hpp"

#include <algorithm>
#include <array>

#include "team/agreement.hpp"
#include "session/context.hpp"
#include "session/explain.hpp"
#include "model/price.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

namespace {

/// A number that must be equal on all ranks that plan an exchange: it stands for the collective, and for the spec if
/// one is given. The other options are agreed on already.
std::uint64_t fingerprint(const std::optional<Options>& options, const KeptCall* call) {
  Options asked_for;
  if (options) asked_for.algorithm = options->algorithm;
  return mixed(asked_for.fingerprint() + (options ? 1 : 0) +
               2 * (call ? static_cast<std::uint64_t>(call->arguments().collective) : 0));
}

/// The defect for which the host MPI's own non-blocking exchange cannot be used; nullptr: it can. The defects are those
/// of Open MPI 5.0.11 for unequal blocks:
/// - In place, a rank without data takes no part, and the next exchange on the communicator hangs; or a rank sends data
///   that it has received.
/// - Not in place, it sometimes hangs, because it waits for a block of no bytes that no rank sends.
/// - An exchange that is complete as soon as it is started, as on one rank, never frees the types of its blocks.
const char* defect_of_native(Collective collective, Rank ranks) {
  if (host_is_mpich || !of_unequal_blocks(collective)) return nullptr;
  if (ranks > 1) return "could hang";
  return collective == Collective::alltoallw ? "would keep the types" : nullptr;
}

}  // namespace

Choice Planner::choice_for(const Arguments& call, const Options& wanted) {
  if (of_neighbours(call.collective)) return neighbours_.choose();
  const std::string unknown = wants_nodes(members_.shape, wanted) ? members_.find_nodes() : "";
  if (!unknown.empty()) return {Spec{}, unknown};
  if (wants_means(members_.shape, wanted)) plans_.join();
  const Means means = node_.joined() ? node_.means() : Means{};  // a plan is made at once, by means that are there
  Choice choice = decisions_.choose(call.collective, call.block_bytes(), wanted, means);
  // If the host MPI serves the plan instead, the caller reports the reason.
  if (!choice.problem.empty() && choice.spec.family != Family::native) warn_once(choice.problem);
  return choice;
}

std::unique_ptr<Planned> Planner::plan(std::unique_ptr<KeptCall> call, const std::optional<Options>& options,
                                       std::string& problem, int& error) {
  const auto planning_scope = observer_.doing(Doing::planning);
  Options wanted = options ? *options : members_.options();
  auto team = std::make_shared<PlanTeam>(members_);
  const bool sound = call && problem.empty();
  error = agree_to_plan(sound ? fingerprint(options, call.get()) : 0, *team);
  if (error && sound)
    problem = error == MPI_ERR_ARG ? "other ranks gave another spec or function, or arguments that cannot be right"
                                   : "MPI has failed while the ranks agreed on the plan";
  if (error) return nullptr;
  error = MPI_ERR_ARG;
  Choice choice{Spec{}, members_.refusal.empty() ? members_.device : std::string(members_.refusal)};
  if (choice.reason.empty()) {
    const bool has_own_spec = options && options->algorithm;
    members_.find_nodes();  // for the expected time, whatever the choice needs
    while (true) {
      choice = choice_for(call->arguments(), wanted);
      const std::string why_no_order = plans_.make_order_of(choice.spec);
      if (why_no_order.empty()) break;
      if (has_own_spec) {
        problem = why_no_order;
        return nullptr;
      }
      decisions_.give_up_order(choice.spec, why_no_order, wanted);  // changes `wanted`
    }
    if (has_own_spec && choice.spec.family == Family::native && choice.spec != *wanted.algorithm) {
      problem = choice.reason;
      return nullptr;
    }
  }
  // The host MPI can start its collectives only in the order of the application's calls, but plans may be started in
  // any order. So plans use the host MPI only if the user has asked for it on all ranks: by the options of the plan, or
  // by those of the communicator, about which the ranks may also disagree (members_.refusal).
  const bool asked_for_host = wanted.algorithm && *wanted.algorithm == Spec{};
  const bool uses_host = (asked_for_host && (options || members_.refusal.empty())) || !members_.device.empty();
  if (choice.spec == Spec{} && !uses_host && members_.has_messages())
    choice = {*parse_spec("spread-out"), choice.reason + "; plans of the host MPI keep no order of their own"};
  return make_planned(std::move(call), std::move(choice), false, std::move(team), problem, error);
}

/// Checks that all ranks plan the same exchange, and exchanges the numbers of `team`. `asked_for`: fingerprint() of the
/// exchange; 0 on a rank that cannot plan it. If the ranks of nodes have joined already, records of shared memory for
/// the plan are piggybacked, unless there are so many ranks that records are only reduced, or ranks of several jobs.
/// Collective, but local on an intercommunicator. Returns MPI_ERR_ARG if the ranks differ, or the error of MPI.
int Planner::agree_to_plan(std::uint64_t asked_for, PlanTeam& team) {
  const auto agreed = [&](bool same) { return same && asked_for != 0 ? MPI_SUCCESS : MPI_ERR_ARG; };
  if (members_.inter) return agreed(true);
  if (!members_.team->reached() || !members_.gathers()) {
    std::array<std::uint64_t, 2> extremes{asked_for, ~asked_for};
    if (const int error = allreduce_once(extremes, MPI_UINT64_T, MPI_MIN, *members_.team)) return error;
    const int differ = agreed(extremes[0] == ~extremes[1]);
    return differ ? differ : team.team.exchange_numbers();
  }
  struct PlanRecord {
    std::uint64_t asked_for;
    std::int32_t number;
    NodeRecord reserved;
  };
  const NodeRecord reserved = node_.joined() ? team.node.reserve() : NodeRecord{};
  std::vector<PlanRecord> all;
  const PlanRecord mine{asked_for, team.team.number(), reserved};
  if (const int error = allgather(mine, all, *members_.team)) return error;
  std::vector<std::int32_t> numbers;
  for (const PlanRecord& one : all) {
    numbers.push_back(one.number);
    if (node_.joined()) team.node.records().push_back(one.reserved);
  }
  team.team.set_numbers(numbers);
  return agreed(std::ranges::all_of(all, [&](const PlanRecord& one) { return one.asked_for == asked_for; }));
}

std::unique_ptr<Planned> Planner::plan_persistent(std::unique_ptr<KeptCall> call) {
  if (!members_.refusal.empty() || !members_.device.empty()) return nullptr;
  const auto planning_scope = observer_.doing(Doing::planning);
  auto team = std::make_shared<PlanTeam>(members_);
  if (agree_to_plan(call ? fingerprint(std::nullopt, call.get()) : 0, *team)) return nullptr;
  const Collective collective = call->arguments().collective;
  Choice choice = choice_for(call->arguments(), members_.options());
  const auto explain_and_decline = [&](const std::string& reason) {
    explain(name_of_plan(collective), collective, members_, {.reason = reason, .least_bytes = -1, .most_bytes = -1},
            {});
    return nullptr;
  };
  if (choice.spec == Spec{}) return explain_and_decline(choice.reason);
  if (choice.spec.order == Order::topology)
    return explain_and_decline("orders of a topology are not planned in the host MPI's calls");
  if (members_.locked && (agrees_on_sizes(collective, choice.spec) || members_.sends_messages(collective, choice.spec)))
    return explain_and_decline("with MPI_THREAD_MULTIPLE the progress of the host MPI is locked");
  std::string problem;
  int error = MPI_SUCCESS;
  std::unique_ptr<Planned> planned =
      make_planned(std::move(call), std::move(choice), true, std::move(team), problem, error);
  if (!planned) return explain_and_decline(problem);
  explain(name_of_plan(collective), collective, members_, planned->decision(), {}, advanced_by());
  if (members_.options().statistics) planned->count();
  return planned;
}

void Planner::try_single_step(PreparedExchange& prepared, const Arguments& call) {
  // All conditions are the same on all ranks, so either all or none make the plan.
  if (!tries(call.collective, members_.shape, members_.options()) || members_.nodes() <= 1 || !prepared.exchange ||
      call.in_place || is_single_step(prepared.spec) || !decisions_.may_try(single_step(), call.collective))
    return;
  prepared.single = plans_.prepare({single_step()}, node_);
}

std::unique_ptr<Planned> Planner::make_planned(std::unique_ptr<KeptCall> call, Choice choice, bool for_request,
                                               std::shared_ptr<PlanTeam> team, std::string& problem, int& error) {
  const Arguments& arguments = call->arguments();
  const Collective collective = arguments.collective;
  const bool needs_messages =
      agrees_on_sizes(collective, choice.spec) || members_.sends_messages(collective, choice.spec);
  if (choice.spec != Spec{} && needs_messages && !team->team.has_messages()) {
    error = MPI_ERR_OTHER;
    problem = no_messages;
    return nullptr;
  }
  std::uint16_t exchanges = 0;
  PreparedExchange prepared = prepare(std::move(choice), arguments, *team, exchanges);
  if (prepared.spec == Spec{} && !for_request && !members_.inter &&
      (team->team.has_messages() || members_.shape.ranks == 1))
    if (const char* const defect = defect_of_native(collective, members_.shape.ranks))
      prepared = prepare({*parse_spec("spread-out"), prepared.reason + "; the MPI's own " + defect}, arguments, *team,
                         exchanges);
  team->node.give_back_reserved();  // if the plan does not use it
  if (for_request) try_single_step(prepared, arguments);
  team->by_mpi = !prepared.exchange || members_.sends_messages(collective, prepared.spec);
  std::unique_ptr<Planned> planned;
  try {
    if (survives_faults) {
      std::erase_if(planned_, [](const auto& one) { return one.expired(); });
      planned_.push_back(team);
    }
    const double expected = prepared.exchange && !for_request ? expected_seconds(prepared.spec, arguments) : -1;
    planned =
        std::make_unique<Planned>(std::move(call), std::move(prepared), std::move(team), exchanges, expected, members_);
  } catch (const std::bad_alloc&) {}
  enum : std::int64_t { there, on_host, no_memory };  // from the best case to the worst
  std::int64_t worst = !planned ? no_memory : for_request && planned->on_host() ? on_host : there;
  if (!members_.inter) worst = most_of_any_rank(worst, *members_.team);
  error = worst == no_memory ? MPI_ERR_NO_MEM : MPI_SUCCESS;
  if (worst == no_memory) problem = "a rank has no memory for the plan";
  else if (worst == on_host)
    problem = planned->on_host() ? planned->reason() : "another rank leaves it to the host MPI";
  if (worst != there) planned.reset();
  return planned;
}

PreparedExchange Planner::prepare(Choice choice, const Arguments& call, PlanTeam& team, std::uint16_t& exchanges) {
  PreparedExchange prepared{choice.spec, std::move(choice.reason)};
  const auto leave_to_host = [&](const char* why) {
    prepared.exchange.reset();
    team.node.leave();
    return PreparedExchange{Spec{}, why};
  };
  const Spec& spec = prepared.spec;
  const bool neighbours = of_neighbours(call.collective);
  const bool sized = agrees_on_sizes(call.collective, spec);
  // native(sizes=padded) for unequal blocks is an exchange of this library: of padded blocks, in one step.
  if (spec.family == Family::native && !sized) return prepared;
  // Shared memory of its own: several plans are under way at a time, and advance in any order.
  prepared.exchange = plans_.prepare({spec, sized, neighbours ? &neighbours_.known() : nullptr}, team.node, false);
  if (spec.intra != Transport::mpi && !team.node.peers()) return leave_to_host("no shared memory is left for the plan");
  if (!prepared.exchange) return leave_to_host(no_plan);
  if (sized) {
    auto& sized_plan = static_cast<SizedPlan&>(*prepared.exchange);
    if (!sized_plan.agree(call.send, call.receive, members_.options().scratch_limit_bytes, {&team.team, ++exchanges}))
      sized_plan.send_all_directly();
    return prepared;
  }
  if (neighbours && !neighbours_.few_requests(*prepared.exchange)) return leave_to_host(too_many_requests);
  if (const char* const limit = exceeded_limit(static_cast<const Plan&>(*prepared.exchange), call.in_place,
                                               call.block_bytes(), members_.options()))
    return leave_to_host(limit);
  return prepared;
}

void Planner::revoke() {
  for (const auto& one : planned_)
    if (const auto team = one.lock()) team->revoke();
}

void Planner::outlives_communicator() {
  for (const auto& one : planned_)
    if (const auto team = one.lock()) team->team.set_user_comm(MPI_COMM_NULL);
}

double Planner::expected_seconds(const Spec& spec, const Arguments& call) const {
  if (spec.family == Family::native) return -1;
  Work work;
  count_work(spec, members_.shape, Nodes(members_.shape), work);
  const double per_node = kind_of(call.collective, members_.shape, unknown_class).mean_per_node();
  const Knowledge& known = decisions_.knowledge();
  const auto block_bytes = static_cast<std::int64_t>(call.sent_bytes()) / members_.ranks();
  return 1e-6 * price(work, known.as_found(per_node), known.model, block_bytes).total();
}

}  // namespace swapmeet
