/// How a communicator plans exchanges of the application.
#include <algorithm>
#include <limits>

#include "mpi/agreement.hpp"
#include "session/communicator.hpp"
#include "model/price.hpp"
#include "schedule/random.hpp"

namespace swapmeet {

namespace {

/// `options` for plans, whose messages all go by MPI: they may move on in any order.
Options without_neighbours(Options options) {
  if (options.algorithm) options.algorithm->intra = Transport::mpi;
  return options;
}

/// What all ranks must ask for alike: the spec, if there is one, for the rest of the options was agreed on.
std::uint64_t fingerprint(const std::optional<Options>& options, const std::optional<Request>& request) {
  Options asked_for;
  if (options) asked_for.algorithm = options->algorithm;
  return mixed(asked_for.fingerprint() + (options ? 1 : 0) +
               2 * (request ? static_cast<std::uint64_t>(request->collective) : 0));
}

/// Whether the MPI's own non-blocking exchange is not to be had: that of Open MPI 5.0.11 for unequal blocks in place
/// takes no part on a rank without data, and the next on the communicator hangs.
bool native_hangs(const Request& request) {
  return !host_is_mpich && !request.send && of_unequal_blocks(request.collective);
}

/// The shortest time in microseconds of a message of so many bytes, each way at a time, between this rank and its
/// neighbour.
double exchange_us(std::vector<char>& buffer, int bytes, Rank partner, MPI_Comm comm) {
  constexpr int repetitions = 20;
  double shortest = std::numeric_limits<double>::max();
  for (int i = 0; i < repetitions; ++i) {
    const double begin = PMPI_Wtime();
    PMPI_Sendrecv(buffer.data(), bytes, MPI_BYTE, partner, 0, buffer.data() + bytes, bytes, MPI_BYTE, partner, 0, comm,
                  MPI_STATUS_IGNORE);
    shortest = std::min(shortest, 1e6 * (PMPI_Wtime() - begin));
  }
  return shortest;
}

/// Messages as they are measured between pairs of ranks; the slowest counts. Collective.
Machine measured(Rank rank, Rank ranks, MPI_Comm comm) {
  constexpr int large = 32 << 10;
  const Rank partner = rank ^ 1;
  std::vector<char> buffer(2 * large);
  double times[2] = {0, 0};  // of a message, and of a byte
  if (partner < ranks) {
    times[0] = exchange_us(buffer, 1, partner, comm);
    times[1] = std::max(0.0, exchange_us(buffer, large, partner, comm) - times[0]) / large;
  }
  PMPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, comm);
  Machine machine;
  machine.within.latency_us = machine.between.latency_us = times[0];
  machine.within.byte_ns = machine.between.byte_ns = 1e3 * times[1];
  return machine;
}

/// Bytes of a block on average over all ranks. Collective.
double mean_block_bytes(const Blocks& send, Rank ranks, MPI_Comm comm) {
  double bytes = 0;
  for (Rank i = 0; i < ranks; ++i) bytes += static_cast<double>(send.bytes(i));
  PMPI_Allreduce(MPI_IN_PLACE, &bytes, 1, MPI_DOUBLE, MPI_SUM, comm);
  return bytes / ranks / ranks;
}

}  // namespace

Choice Communicator::choice_for(const Request& request, const Options& wanted) {
  const std::string unknown = wants_nodes(request.collective, shape_, wanted) ? find_nodes() : "";
  if (!unknown.empty()) return {Spec{}, unknown};
  return choose(request.collective, shape_,
                of_unequal_blocks(request.collective) ? 0 : request.receive.blocks().bytes(0), wanted, Means{});
}

std::unique_ptr<Planned> Communicator::plan(std::optional<Request> request, const std::optional<Options>& options,
                                            std::string& problem, int& error) {
  Options wanted = without_neighbours(options ? *options : options_);
  const bool sound = request && problem.empty();
  const bool agreed = inter_ || same_everywhere(sound ? fingerprint(options, request) : 0, user_);
  error = MPI_ERR_ARG;
  if (sound && !agreed) problem = "other ranks gave another spec or function, or arguments that cannot be right";
  if (!sound || !agreed) return nullptr;
  Choice choice{Spec{}, refusal_.empty() ? device_ : refusal_};
  if (choice.reason.empty()) {
    choice = choice_for(*request, wanted);
    for (std::string missing; missing = make_order_of(choice.spec), !missing.empty();) {
      if (options && options->algorithm) return problem = missing, nullptr;
      give_up_order(choice.spec, missing, wanted);
      choice = choice_for(*request, wanted);
    }
    if (options && options->algorithm && choice.spec != *wanted.algorithm) return problem = choice.reason, nullptr;
  }
  if (choice.spec == Spec{} && shape_.ranks > 1 && !inter_ && native_hangs(*request))
    choice = {*parse_spec("spread-out"), choice.reason + "; in place the MPI's own could hang"};
  const MPI_Comm comm = inter_ ? user_ : same_ranks(user_);
  if (comm == MPI_COMM_NULL)
    return error = MPI_ERR_OTHER, problem = "MPI has no communicator left for the plan", nullptr;
  Executor executor = executor_for(choice, *request, comm);
  double expected = -1;
  if (executor.spec.family != Family::native) {
    const Blocks send = request->send ? request->send->blocks() : request->receive.blocks();
    expected = expected_seconds(executor.spec, mean_block_bytes(send, shape_.ranks, comm), comm);
  }
  error = MPI_SUCCESS;
  return std::make_unique<Planned>(*std::move(request), std::move(executor), comm, !inter_,
                                   options_.scratch_limit_bytes, expected);
}

Executor Communicator::executor_for(const Choice& choice, const Request& request, MPI_Comm comm) {
  const Spec& spec = choice.spec;
  Executor executor{spec, choice.reason, nullptr, nullptr};
  if (spec.family != Family::native) {
    executor.plan = std::make_unique<Plan>(spec, schedule_of(spec), nullptr);
    executor.plan->share_scratch_blocks(most_of_any_rank(executor.plan->scratch_blocks(), comm));
  }
  if (of_unequal_blocks(request.collective) && needs_sizes(spec)) {
    const Forwarding forwarded = forwarding(spec, shape_);
    executor.varying = spec.sizes == Sizes::padded
                           ? std::make_unique<Varying>(spec, shape_.ranks, rank_, forwarded, executor.plan.get())
                           : std::make_unique<Varying>(spec, relay_of(schedule_of(spec)), forwarded, nullptr);
    executor.varying->share_working_blocks(most_of_any_rank(executor.varying->working_blocks(), comm));
    return executor;
  }
  if (!executor.plan) return executor;
  const std::int64_t block_bytes = of_unequal_blocks(request.collective) ? 0 : request.receive.blocks().bytes(0);
  const Plan& plan = *executor.plan;
  const bool too_much =
      (!request.send || plan.needs_bytes()) && block_bytes > options_.scratch_limit_bytes / plan.working_blocks();
  if (!too_much && !(plan.makes_types() && block_bytes > INT_MAX)) return executor;
  return {Spec{},
          too_much ? "more working memory than SWAPMEET_SCRATCH_LIMIT allows"
                   : "pack=datatype cannot hold blocks of more than 2 GiB",
          nullptr, nullptr};
}

double Communicator::expected_seconds(const Spec& spec, double block_bytes, MPI_Comm comm) {
  if (!machine_) machine_ = measured(rank_, shape_.ranks, comm);
  Work work;
  count_work(spec, shape_, Nodes(shape_), work);
  return 1e-6 * price(work, *machine_, Model::hockney, static_cast<std::int64_t>(block_bytes)).total();
}

}  // namespace swapmeet
