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
#include "session/communicator.hpp"
#include "sparse/forwarding.hpp"
#include "sparse/rendezvous.hpp"

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

int Communicator::sparse_alltoallv(const SparseRequest& request, Arrivals& arrivals) {
  if (inter_) return MPI_ERR_COMM;
  if (ended_) return fault_on(user_);
  if (const int error = prepare_sparse()) return error;
  const SparsePlan& plan = *sparse_;
  const ErrorsReturn quiet(user_);
  SparseLinks links(request.blocks, request.sends, peers_, tags_, ++sparse_calls_, sparse_->counts);
  int error = MPI_SUCCESS;
  if (plan.route) {
    using StoreAndForward = SparseForwarding<SparseLinks>;
    auto exchange = std::make_unique<StoreAndForward>(*plan.route, request.sends, rank_, arrivals);
    error = finish(exchange, links);
    if (error) return failed(error);
    if (exchange->lost() == StoreAndForward::Lost::memory) return MPI_ERR_NO_MEM;
    if (exchange->lost() == StoreAndForward::Lost::elsewhere) return MPI_ERR_OTHER;
  } else {
    auto exchange = std::make_unique<Rendezvous<SparseLinks>>(request.sends, rank_, plan.choice.spec.window,
                                                              plan.choice.spec.sparse == Sparse::census, arrivals);
    error = finish(exchange, links);
    if (error) return failed(error);
  }
  return arrivals.lacks() ? MPI_ERR_NO_MEM : MPI_SUCCESS;
}

/// Prepares the algorithm of sparse exchanges. Collective on the first call, and on the first call after another
/// algorithm was chosen.
int Communicator::prepare_sparse() {
  if (sparse_) return MPI_SUCCESS;
  if (shape_.ranks > 1 && !has_messages()) return MPI_ERR_OTHER;
  const bool agreed = refusal_.empty() || shape_.ranks == 1;
  const Options& options = agreed ? options_ : Options{};
  if (sparse_wants_nodes(options)) find_nodes();
  std::unique_ptr<SparsePlan> made;
  guarded(
      [&] {
        auto plan = std::make_unique<SparsePlan>();
        plan->choice = choose_sparse(shape_, options);
        const Spec& spec = plan->choice.spec;
        if (spec.sparse == Sparse::census) plan->counts.resize(static_cast<std::size_t>(ranks()));
        // A single rank keeps its messages, and needs no request from another.
        if (spec.sparse == Sparse::forward || shape_.ranks == 1) plan->route.emplace(spec, shape_, rank_);
        made = std::move(plan);
        return MPI_SUCCESS;
      },
      [](int error, const char*) { return error; });
  if (shape_.ranks > 1 && most_of_any_rank(made ? 0 : 1, peers_) != 0) return MPI_ERR_NO_MEM;
  if (!made) return MPI_ERR_NO_MEM;
  sparse_ = std::move(made);
  if (options.explain && rank_ == 0)
    say_once("sparse Alltoallv on " + std::to_string(shape_.ranks) + (shape_.ranks == 1 ? " rank: " : " ranks: ") +
             to_text(sparse_->choice.spec) + " (" + sparse_->choice.reason + ")");
  return MPI_SUCCESS;
}

}  // namespace swapmeet
