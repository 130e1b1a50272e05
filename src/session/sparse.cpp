#include "session/sparse.hpp"

#include <sched.h>

#include <memory>
#include <new>

#include "exchange/sparse_links.hpp"
#include "team/agreement.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "mpi/report.hpp"
#include "mpi/simulation.hpp"
#include "sparse/forwarding.hpp"
#include "sparse/direct.hpp"

namespace swapmeet {

namespace {

/// Waits for an exchange. If MPI fails, the exchange is never freed, because MPI may still read its messages.
template <class Exchange>
int finish(std::unique_ptr<Exchange>& exchange, SparseLinks& links) {
  constexpr int patience = 5;  // number of attempts before the core is yielded
  for (int looks = 1;; ++looks) {
    const int error =
        guarded([&] { return exchange->advance(links); }, [](int failure, const char*) { return failure; });
    settle();
    if (error == MPI_SUCCESS) return error;
    if (error != unfinished) {
      links.give_up();
      static_cast<void>(exchange.release());
      return error;
    }
    pass_time(false);
    if (!simulated && looks >= patience) sched_yield();
  }
}

}  // namespace

int SparseExchanges::exchange(const SparseRequest& request, Arrivals& arrivals) {
  if (members_.inter) return MPI_ERR_COMM;
  if (members_.ended) return fault_on(members_.user());
  if (const int error = prepare()) return error;
  SparsePlan& plan = *plan_;
  if (plan.choice.spec.sparse == Sparse::census) plan.counts.resize(counts_of_census());  // lost where MPI failed
  const ErrorsReturn quiet(members_.user());
  SparseLinks links(request.blocks, request.sends, *members_.team, ++calls_, plan.counts);
  // A rank without memory for its messages takes part without them, because the others wait for it.
  const bool sends = links.make_room();
  int error = MPI_SUCCESS;
  if (plan.route) {
    using StoreAndForward = SparseForwarding<SparseLinks>;
    auto exchange = std::make_unique<StoreAndForward>(*plan.route, links.sends(), members_.rank(), arrivals);
    error = finish(exchange, links);
    if (error) return error;
    if (exchange->lost() == StoreAndForward::Lost::memory) return MPI_ERR_NO_MEM;
    if (exchange->lost() == StoreAndForward::Lost::elsewhere) return MPI_ERR_OTHER;
  } else {
    auto exchange = std::make_unique<SparseDirect<SparseLinks>>(links.sends(), members_.rank(), plan.choice.spec.window,
                                                                plan.choice.spec.sparse == Sparse::census, arrivals);
    error = finish(exchange, links);
    if (error) return error;
  }
  return !sends || arrivals.lacks() ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/// Prepares the algorithm of sparse exchanges. Collective on the first call, and on the first call after another
/// algorithm was chosen.
int SparseExchanges::prepare() {
  if (plan_) return MPI_SUCCESS;
  if (members_.shape.ranks > 1 && !members_.has_messages()) return MPI_ERR_OTHER;
  const bool agreed = members_.refusal.empty() || members_.shape.ranks == 1;
  const Options& options = agreed ? members_.options() : Options{};
  if (sparse_wants_nodes(options)) members_.find_nodes();
  std::unique_ptr<SparsePlan> made;
  guarded(
      [&] {
        auto plan = std::make_unique<SparsePlan>();
        plan->choice = choose_sparse(members_.shape, options);
        const Spec& spec = plan->choice.spec;
        if (spec.sparse == Sparse::census) plan->counts.resize(counts_of_census());
        // A single rank keeps its messages, and needs no request from another.
        if (spec.sparse == Sparse::forward || members_.shape.ranks == 1)
          plan->route.emplace(spec, members_.shape, members_.rank());
        made = std::move(plan);
        return MPI_SUCCESS;
      },
      [](int error, const char*) { return error; });
  if (members_.shape.ranks > 1 && most_of_any_rank(made ? 0 : 1, *members_.team) != 0) return MPI_ERR_NO_MEM;
  if (!made) return MPI_ERR_NO_MEM;
  plan_ = std::move(made);
  if (options.explain && members_.rank() == 0)
    say_once("sparse Alltoallv on " + std::to_string(members_.shape.ranks) +
             (members_.shape.ranks == 1 ? " rank: " : " ranks: ") + to_text(plan_->choice.spec) + " (" +
             plan_->choice.reason + ")");
  return MPI_SUCCESS;
}

}  // namespace swapmeet
