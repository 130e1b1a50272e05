/// Sample sort: every rank sorts its keys and shows a few of them; splitters out of all that was shown cut the keys
/// into one part for each rank; an Alltoallv brings every key to its rank, which merges what came. How much each rank
/// then has depends on the keys. Source:  H. Shi, J. Schaeffer, Parallel sorting by regular sampling, J. Parallel
/// Distrib. Comput. 14 (1992)
#include <algorithm>
#include <bit>
#include <cmath>

#include "../exchange/mail.hpp"
#include "../exchange/program.hpp"
#include "../exchange/random.hpp"

namespace {

using Key = std::uint64_t;

/// The n-th key of all ranks.
Key key(const std::string& kind, std::uint64_t n, std::uint64_t all) {
  if (kind == "sorted") return n;
  if (kind == "backwards") return all - n;
  if (kind == "equal") return 7;
  const Key bits = random_bits(8, n);
  return kind == "uniform" ? bits : bits >> (random_bits(9, n) % 60);  // skewed: half of them are small
}

/// The regular samples of all ranks, of which every P-th splits: no rank gets more than twice its share of different
/// keys.
std::vector<Key> splitters(const std::vector<Key>& sorted, int ranks) {
  const std::size_t p = static_cast<std::size_t>(ranks);
  std::vector<Key> mine, all;
  for (std::size_t i = 0; i < p; ++i) mine.push_back(sorted.empty() ? ~Key{0} : sorted[i * sorted.size() / p]);
  all.resize(p * p);
  MPI_Allgather(mine.data(), ranks, MPI_UINT64_T, all.data(), ranks, MPI_UINT64_T, MPI_COMM_WORLD);
  std::ranges::sort(all);
  std::vector<Key> chosen;
  for (std::size_t i = 1; i < p; ++i) chosen.push_back(all[i * p + p / 2 - 1]);
  return chosen;
}

/// Of all ranks: how many keys, their sum and their exclusive or. Sorting does not change them.
struct Inventory {
  std::uint64_t count = 0, sum = 0, parity = 0;

  explicit Inventory(const std::vector<Key>& keys) : count(keys.size()) {
    for (const Key one : keys) sum += one * one + one, parity ^= std::rotl(one, static_cast<int>(one % 64));
    MPI_Allreduce(MPI_IN_PLACE, &count, 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &parity, 1, MPI_UINT64_T, MPI_BXOR, MPI_COMM_WORLD);
  }
  bool operator==(const Inventory&) const = default;
};

/// Whether keys ascend, within the rank and from rank to rank.
bool ascending(const std::vector<Key>& keys, int ranks) {
  const Key ends[2] = {keys.empty() ? ~Key{0} : keys.front(), keys.empty() ? 0 : keys.back()};
  std::vector<Key> all(2 * static_cast<std::size_t>(ranks));
  MPI_Allgather(ends, 2, MPI_UINT64_T, all.data(), 2, MPI_UINT64_T, MPI_COMM_WORLD);
  Key most = 0;
  for (std::size_t i = 0; i < all.size(); i += 2) {
    if (all[i] > all[i + 1]) continue;  // no keys
    if (all[i] < most) return false;
    most = all[i + 1];
  }
  return std::ranges::is_sorted(keys);
}

/// Comparisons that sorting so many takes, about.
double compared(std::size_t keys) { return static_cast<double>(keys) * std::log2(static_cast<double>(keys) + 1); }

std::vector<Key> sorted_by_all(std::vector<Key> keys, Mail<Key>& mail, int ranks) {
  std::ranges::sort(keys);
  computed(compared(keys.size()));
  const std::vector<Key> cuts = splitters(keys, ranks);
  for (const Key one : keys) mail.post(static_cast<int>(std::ranges::upper_bound(cuts, one) - cuts.begin()), one);
  std::vector<Key> come = mail.deliver();
  std::ranges::sort(come);
  computed(compared(come.size()));
  return come;
}

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv, "--keys OF-ALL-RANKS --kind uniform|skewed|sorted|backwards|equal --output FILE");
  const std::uint64_t all = static_cast<std::uint64_t>(program.number("--keys", 10000, 0, 1 << 27)),
                      ranks = static_cast<std::uint64_t>(program.ranks);
  const std::string kind = program.option("--kind", "uniform");
  if (const auto kinds = {"uniform", "skewed", "sorted", "backwards", "equal"};
      std::ranges::find(kinds, kind) == kinds.end())
    program.refuse("--kind " + kind + "?");
  const std::uint64_t rank = static_cast<std::uint64_t>(program.rank);
  std::vector<Key> keys;
  for (std::uint64_t n = all * rank / ranks; n < all * (rank + 1) / ranks; ++n) keys.push_back(key(kind, n, all));
  const Inventory before(keys);
  double seconds = 0;
  std::vector<Key> sorted;
  {
    Mail<Key> mail(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    sorted = sorted_by_all(keys, mail, program.ranks);
    seconds = MPI_Wtime() - start;
  }
  const bool same = Inventory(sorted) == before, ascends = ascending(sorted, program.ranks);
  const std::vector<Key> gathered = program.gathered(sorted);
  program.write(gathered.data(), gathered.size() * sizeof(Key));
  return program.end("sample_sort of " + std::to_string(all) + " keys", same && ascends, seconds);
}
