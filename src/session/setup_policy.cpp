#include "mpi/agreement.hpp"
#include "session/setup_policy.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

constexpr double within_a_node_s = 10e-3;
constexpr double agreements = 250;  ///< setting up is like 15 to 30, between nodes (measured)

}  // namespace

void SetupPolicy::agreed_in(double seconds) {
  agreements_s_ += seconds;
  ++agreements_;
}

bool SetupPolicy::over(MPI_Comm comm, bool by_time) {
  if (ended_) return true;
  const std::int64_t before = calls_++;
  if (!by_time) return before >= counted;
  if (before < next_look_) return false;
  next_look_ *= later;
  // The least of all ranks: the last one to come waits for nobody.
  double least[] = {calls_s_, agreements_s_ / std::max(agreements_, 1)};
  const double begin_s = PMPI_Wtime();
  if (reduce(std::span(least), MPI_DOUBLE, MPI_MIN, comm) != MPI_SUCCESS) return false;
  agreed_in(PMPI_Wtime() - begin_s);
  return least[0] >= std::max(within_a_node_s, agreements * least[1]);
}

}  // namespace swapmeet
