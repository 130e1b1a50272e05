#include "session/disagreement.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <vector>

#include "team/agreement.hpp"
#include "mpi/report.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

constexpr int no_rank = std::numeric_limits<int>::max();

/// For each value, the first rank whose value differs from that of rank 0, or no_rank. Returns an empty vector if a
/// call of MPI has failed. Collective.
std::vector<int> first_to_differ(const std::vector<Options::Shared>& values, Team& team) {
  std::vector<std::uint64_t> mine(values.size());
  std::ranges::transform(values, mine.begin(), hash_of, &Options::Shared::text);
  std::vector<std::uint64_t> of_first = mine;
  std::vector<int> first(values.size(), no_rank);
  if (broadcast(of_first.data(), static_cast<int>(of_first.size() * sizeof of_first[0]), 0, team)) return {};
  for (std::size_t i = 0; i < values.size(); ++i)
    if (mine[i] != of_first[i]) first[i] = team.rank();
  if (allreduce(first, MPI_INT, MPI_MIN, team)) return {};
  return first;
}

/// Describes `mine` of the rank `root`, as in "... on rank 3" of MPI_COMM_WORLD, cut to 79 characters. Collective.
std::string value_of(const std::string& mine, int root, Team& team) {
  struct {
    int world_rank;
    std::array<char, 80> text;
  } of_root{reports().world_rank, {}};
  mine.copy(of_root.text.data(), of_root.text.size() - 1);
  if (broadcast(&of_root, sizeof of_root, root, team)) return "?";
  return std::string(of_root.text.data()) + " on rank " + std::to_string(of_root.world_rank);
}

}  // namespace

std::string disagreement(const Options& options, Team& team) {
  const std::vector<Options::Shared> values = options.shared();
  const std::vector<int> first = first_to_differ(values, team);
  const auto found = std::ranges::find_if(first, [](int one) { return one != no_rank; });
  if (found == first.end()) return "";
  const Options::Shared& value = values[static_cast<std::size_t>(found - first.begin())];
  if (value.variable.empty()) return "";  // unusable options: see print_problems()
  const std::string first_rank = value_of(value.text, 0, team), other = value_of(value.text, *found, team);
  return ", " + std::string(value.variable) + " for one: " + first_rank + ", " + other;
}

void print_problems(const Options& options, Team& team) {
  const int rank = options.problems.empty() ? no_rank : team.rank();
  if (-most_of_any_rank(-std::int64_t{rank}, team) != rank || rank == no_rank) return;
  const int world_rank = reports().world_rank;
  if (world_rank == 0) return;
  for (const std::string& problem : options.problems)
    say_once("warning: rank " + std::to_string(world_rank) + ": " + problem);
}

}  // namespace swapmeet
