#include "session/topology_orders.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>

#include "mpi/outcome.hpp"
#include "mpi/agreement.hpp"
#include "session/context.hpp"
#include "mpi/world_ranks.hpp"
#include "network/order.hpp"

namespace swapmeet {

namespace {

constexpr int root = 0;

/// The name of each rank's host, on the first rank. Collective.
std::vector<std::string> hosts_of(Rank ranks, MPI_Comm comm) {
  char mine[MPI_MAX_PROCESSOR_NAME + 1] = "";
  int length = 0;
  PMPI_Get_processor_name(mine, &length);
  std::vector<char> all(static_cast<std::size_t>(ranks) * sizeof mine);
  const int bytes = sizeof mine;
  again([&] {
    return together(PMPI_Gather, PMPI_Igather, mine, bytes, MPI_CHAR, all.data(), bytes, MPI_CHAR, root, comm);
  });
  std::vector<std::string> names;
  for (std::size_t rank = 0; rank < static_cast<std::size_t>(ranks); ++rank)
    names.emplace_back(&all[rank * sizeof mine]);
  return names;
}

/// What the first rank does while the others wait. Nothing is thrown.
SlotTable compute(const OrderSource& source, const Members& members, double seconds, std::string& problem) {
  try {
    Result<SlotTable> made = make_order(source, members, seconds);
    if (made) return *std::move(made);
    problem = made.problem().text();
  } catch (const std::exception& failure) {
    problem = source.network + ": no order could be computed: " + failure.what();
  }
  return {};
}

/// Every rank's rows: what its member sends, then what it receives. Collective. False: MPI failed on a rank.
bool scatter(const SlotTable& slots, const Endpoints& all, Rank rank, MPI_Comm comm, SlotRows& rows) {
  const auto members = static_cast<std::size_t>(rows.members);
  std::vector<std::int32_t> everybody, mine(2 * members);
  for (std::size_t r = 0; rank == root && r < all.member_of.size(); ++r) {
    const SlotRows one = rows_of(slots, all.member_of[r]);
    everybody.insert(everybody.end(), one.sends.begin(), one.sends.end());
    everybody.insert(everybody.end(), one.receives.begin(), one.receives.end());
  }
  const int count = static_cast<int>(mine.size());
  const int error = again([&] {
    return together(PMPI_Scatter, PMPI_Iscatter, everybody.data(), count, MPI_INT32_T, mine.data(), count, MPI_INT32_T,
                    root, comm);
  });
  rows.only = all.member_of[static_cast<std::size_t>(rank)];
  rows.sends.assign(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(members));
  rows.receives.assign(mine.begin() + static_cast<std::ptrdiff_t>(members), mine.end());
  return most_of_any_rank(error != MPI_SUCCESS, comm) == 0;
}

std::string broadcast(std::string text, MPI_Comm comm) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  swapmeet::broadcast(&length, sizeof length, root, comm);
  text.resize(static_cast<std::size_t>(length));
  swapmeet::broadcast(text.data(), static_cast<int>(length), root, comm);
  return text;
}

/// "220 slots, 208 at least"
std::string summary_of(std::int64_t slots, std::int64_t bound) {
  return std::to_string(slots) + " slots, " + std::to_string(bound) + " at least";
}

MadeOrder make(const OrderSource& source, const Endpoints& all, const Shape& shape, Rank rank, MPI_Comm comm,
               double seconds) {
  Members members{{}, {}, context().world_ranks};
  const std::vector<int> world_ranks = world_ranks_of(comm);
  const std::vector<std::string> hosts =
      source.place.empty() ? hosts_of(shape.ranks, comm) : std::vector<std::string>{};
  for (const Rank first : all.first_ranks) {
    members.world_ranks.push_back(world_ranks[static_cast<std::size_t>(first)]);
    if (!hosts.empty()) members.hosts.push_back(hosts[static_cast<std::size_t>(first)]);
  }
  MadeOrder made{source, all.member_of, nullptr, "", ""};
  const SlotTable slots = rank == root ? compute(source, members, seconds, made.problem) : SlotTable{};
  made.problem = broadcast(std::move(made.problem), comm);
  if (!made.problem.empty()) return made;
  std::int64_t sizes[2] = {slots.slots, slots.bound};
  swapmeet::broadcast(sizes, sizeof sizes, root, comm);
  SlotRows rows{members.count(), static_cast<std::int32_t>(sizes[0]), -1, {}, {}};
  if (!scatter(slots, all, rank, comm, rows)) made.problem = source.network + ": the order did not reach all ranks";
  made.rows = std::make_shared<const SlotRows>(std::move(rows));
  made.summary = summary_of(sizes[0], sizes[1]);
  return made;
}

}  // namespace

const MadeOrder* Orders::known(const OrderSource& source, const Endpoints& all) const {
  for (const auto& made : made_)
    if (made->source == source && made->member_of == all.member_of) return made.get();
  return nullptr;
}

const MadeOrder* Orders::find(const Spec& spec, const Shape& shape, Rank rank, MPI_Comm comm, double seconds) {
  if (spec.order != Order::topology) return nullptr;
  const Endpoints all = endpoints(spec, shape);
  if (const MadeOrder* const made = known(spec.source, all)) return made;
  made_.push_back(std::make_unique<MadeOrder>(make(spec.source, all, shape, rank, comm, seconds)));
  return made_.back().get();
}

Shape Orders::shape_for(const Spec& spec, const Shape& shape) const {
  if (spec.order != Order::topology) return shape;
  const MadeOrder* const made = known(spec.source, endpoints(spec, shape));
  return {shape.ranks, shape.hierarchy, made ? made->rows : nullptr};
}

}  // namespace swapmeet
