#include "session/topology_orders.hpp"

#include <algorithm>
#include <exception>
#include <span>

#include "team/agreement.hpp"
#include "team/messages.hpp"
#include "session/context.hpp"
#include "topology/slot_table.hpp"

namespace swapmeet {

namespace {

constexpr int root = 0;

/// A table of slots as rank 0 sends it to the ranks.
struct SentTable {
  std::int64_t sizes[2] = {0, 0};  ///< number of slots, and their lower bound
  /// For each rank, the rows of its endpoint: the slots in which it sends to each endpoint, then the slots in which it
  /// receives from each.
  std::vector<std::int32_t> rows{};
};

/// Reads the table of slots on rank 0, while the other ranks wait. Throws nothing.
SentTable read(const OrderSource& source, std::span<const Rank> world_ranks, const Endpoints& all,
               std::string& problem) {
  try {
    const Result<SlotTable> table = read_slots(source, world_ranks, context().world_ranks);
    if (table) {
      SentTable sent{{table->slots, table->bound}};
      sent.rows.reserve(2 * world_ranks.size() * all.member_of.size());
      for (const std::int32_t member : all.member_of) {
        const SlotRows one = rows_of(*table, member);
        sent.rows.insert(sent.rows.end(), one.sends.begin(), one.sends.end());
        sent.rows.insert(sent.rows.end(), one.receives.begin(), one.receives.end());
      }
      return sent;
    }
    problem = table.problem().text();
  } catch (const std::exception& failure) { problem = source.network + ": it could not be read: " + failure.what(); }
  return {};
}

/// Sends every rank its rows of the table. Collective. Returns false, on all ranks, if MPI failed on one.
bool scatter(const SentTable& table, const Endpoints& all, Team& team, SlotRows& rows) {
  const auto number = static_cast<std::size_t>(rows.members);
  std::vector<std::int32_t> mine(2 * number);
  const int error = scatter_by_messages(team, reinterpret_cast<const char*>(table.rows.data()),
                                        mine.size() * sizeof mine[0], reinterpret_cast<char*>(mine.data()), root);
  rows.only = all.member_of[static_cast<std::size_t>(team.rank())];
  rows.sends.assign(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(number));
  rows.receives.assign(mine.begin() + static_cast<std::ptrdiff_t>(number), mine.end());
  return most_of_any_rank(error != MPI_SUCCESS, team) == 0;
}

std::string broadcast(std::string text, Team& team) {
  std::int64_t length = static_cast<std::int64_t>(text.size());
  swapmeet::broadcast(&length, sizeof length, root, team);
  text.resize(static_cast<std::size_t>(length));
  swapmeet::broadcast(text.data(), static_cast<int>(length), root, team);
  return text;
}

/// A summary such as "220 slots, 208 at least".
std::string summary_of(std::int64_t slots, std::int64_t bound) {
  return std::to_string(slots) + " slots, " + std::to_string(bound) + " at least";
}

MadeOrder make(const OrderSource& source, const Endpoints& all, Team& team) {
  std::vector<Rank> members;
  for (const Rank first : all.first_ranks) members.push_back(team.job_rank(first));
  MadeOrder made{source, all.member_of, nullptr, "", ""};
  SentTable table = team.rank() == root ? read(source, members, all, made.problem) : SentTable{};
  made.problem = broadcast(std::move(made.problem), team);
  if (!made.problem.empty()) return made;
  swapmeet::broadcast(table.sizes, sizeof table.sizes, root, team);
  SlotRows rows{static_cast<std::int32_t>(members.size()), static_cast<std::int32_t>(table.sizes[0]), -1, {}, {}};
  if (!scatter(table, all, team, rows)) made.problem = source.network + ": the order did not reach all ranks";
  made.rows = std::make_shared<const SlotRows>(std::move(rows));
  made.summary = summary_of(table.sizes[0], table.sizes[1]);
  return made;
}

}  // namespace

const MadeOrder* Orders::known(const OrderSource& source, const Endpoints& all) const {
  for (const auto& made : made_)
    if (made->source == source && made->member_of == all.member_of) return made.get();
  return nullptr;
}

const MadeOrder* Orders::find(const Spec& spec, const Shape& shape, Team& team) {
  if (spec.order != Order::topology) return nullptr;
  const Endpoints all = endpoints(spec, shape);
  if (const MadeOrder* const made = known(spec.source, all)) return made;
  made_.push_back(std::make_unique<MadeOrder>(make(spec.source, all, team)));
  return made_.back().get();
}

Shape Orders::shape_for(const Spec& spec, const Shape& shape) const {
  if (spec.order != Order::topology) return shape;
  const MadeOrder* const made = known(spec.source, endpoints(spec, shape));
  return {shape.ranks, shape.hierarchy, made ? made->rows : nullptr};
}

}  // namespace swapmeet
