#include "session/checking.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "team/agreement.hpp"
#include "mpi/mpi.hpp"

namespace swapmeet {

namespace {

/// The kind of call that a rank makes. Sent as raw bytes.
struct Calling {
  std::int64_t collective, in_place;
};

/// The size and type of a block, as one end knows them. Sent as raw bytes.
struct Sending {
  std::int64_t bytes;
  std::int64_t type;  ///< index into compared_types; any_type: a derived type, or one that other types match
};

constexpr std::int64_t any_type = -1;

/// Names of the predefined types of C that match no other type. MPI_BYTE and MPI_PACKED match other types, and pair
/// types are like structures. Types of Fortran have other names, and so have types that a program has renamed; these
/// are not compared.
// clang-format off
constexpr std::string_view compared_types[] = {
    "MPI_CHAR", "MPI_SIGNED_CHAR", "MPI_UNSIGNED_CHAR", "MPI_SHORT", "MPI_UNSIGNED_SHORT", "MPI_INT", "MPI_UNSIGNED",
    "MPI_LONG", "MPI_UNSIGNED_LONG", "MPI_LONG_LONG", "MPI_LONG_LONG_INT", "MPI_UNSIGNED_LONG_LONG", "MPI_FLOAT",
    "MPI_DOUBLE", "MPI_LONG_DOUBLE", "MPI_WCHAR", "MPI_C_BOOL", "MPI_INT8_T", "MPI_INT16_T", "MPI_INT32_T",
    "MPI_INT64_T", "MPI_UINT8_T", "MPI_UINT16_T", "MPI_UINT32_T", "MPI_UINT64_T", "MPI_C_COMPLEX",
    "MPI_C_FLOAT_COMPLEX", "MPI_C_DOUBLE_COMPLEX", "MPI_C_LONG_DOUBLE_COMPLEX", "MPI_AINT", "MPI_OFFSET", "MPI_COUNT"};
// clang-format on

std::string name(std::int64_t collective) { return "MPI_" + std::string(name_of(static_cast<Collective>(collective))); }

/// Compares the kinds of call of all ranks with that of rank 0. Returns the first difference, or "".
std::string otherwise(const std::vector<Calling>& all) {
  const Calling& first = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    const Calling& one = all[i];
    const std::string rank = "rank " + std::to_string(i);
    if (one.collective != first.collective)
      return rank + " calls " + name(one.collective) + ", rank 0 " + name(first.collective);
    if (one.in_place != first.in_place)
      return rank +
             (one.in_place ? " passes MPI_IN_PLACE, rank 0 does not" : " does not pass MPI_IN_PLACE, rank 0 does");
  }
  return "";
}

std::int64_t number_of(const Datatype& type) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  if (!type.predefined || PMPI_Type_get_name(type.handle, name, &length) != MPI_SUCCESS) return any_type;
  const auto found = std::ranges::find(compared_types, name);
  return found != std::end(compared_types) ? found - std::begin(compared_types) : any_type;
}

std::string unlike(int rank, int peer, const Sending& sent, const Sending& expected) {
  const std::string from = "rank " + std::to_string(peer) + " sends ", to = " to rank " + std::to_string(rank);
  if (sent.bytes != expected.bytes)
    return from + std::to_string(sent.bytes) + " B" + to + ", which receives " + std::to_string(expected.bytes) + " B";
  const bool compared = sent.bytes > 0 && sent.type != any_type && expected.type != any_type;
  if (compared && sent.type != expected.type) {
    const auto name = [](std::int64_t type) { return std::string(compared_types[type]); };
    return from + name(sent.type) + to + ", which receives " + name(expected.type);
  }
  return "";
}

/// A contiguous block in memory, sent to or received from `peer`.
struct Stretch {
  const char *begin, *end;
  int peer;
  bool sent;
};

std::string of(const Stretch& one) {
  return std::string(one.sent ? "what goes to" : "what comes from") + " rank " + std::to_string(one.peer);
}

/// The blocks between this rank and its peers. Both ends of two ranks list the blocks between them in the same order.
struct Edges {
  std::vector<Edge> out, in;
};

Edges edges_of(const Arguments& mine, Rank ranks) {
  Edges all;
  if (mine.neighbourhood) {
    all = {edges_out(*mine.neighbourhood), edges_in(*mine.neighbourhood)};
    for (std::vector<Edge>* const side : {&all.out, &all.in})
      std::ranges::sort(*side, {}, [](const Edge& edge) { return std::pair(edge.peer, edge.number); });
  } else {
    for (Rank i = 0; i < ranks; ++i) all.out.push_back({i, i, 0});
    all.in = all.out;
  }
  return all;
}

std::vector<int> edges_by_rank(const std::vector<Edge>& edges, std::size_t ranks) {
  std::vector<int> counts(ranks);
  for (const Edge& edge : edges) ++counts[static_cast<std::size_t>(edge.peer)];
  return counts;
}

/// Describes a rank that sends a different number of blocks to this rank than this rank receives from it; "" if there
/// is none.
std::string one_sided(int rank, const std::vector<int>& sent, const std::vector<int>& received) {
  for (std::size_t i = 0; i < sent.size(); ++i)
    if (sent[i] != received[i])
      return "rank " + std::to_string(i) + " sends " + std::to_string(sent[i]) + " blocks to rank " +
             std::to_string(rank) + ", which receives " + std::to_string(received[i]);
  return "";
}

/// Receives what the senders say about the blocks for this rank, in the order of `edges.in`. Returns false if MPI
/// failed.
bool exchange_ends(const std::vector<Sending>& mine, std::vector<Sending>& all, std::vector<int> out,
                   std::vector<int> in, MPI_Comm comm) {
  std::vector<int> from(out.size()), to(in.size());
  for (auto [counts, places] : {std::pair(&out, &from), std::pair(&in, &to)}) {
    for (int& count : *counts) count *= static_cast<int>(sizeof(Sending));
    std::exclusive_scan(counts->begin(), counts->end(), places->begin(), 0);
  }
  const ErrorsReturn quiet(comm);
  return quiet.error_of(PMPI_Alltoallv(mine.data(), out.data(), from.data(), MPI_BYTE, all.data(), in.data(), to.data(),
                                       MPI_BYTE, comm)) == MPI_SUCCESS;
}

/// Number of bytes of a block, at most 2^63 - 1. No program has that much memory.
std::int64_t bytes_of(const Blocks& blocks, int i) {
  std::int64_t bytes = 0;
  return __builtin_mul_overflow(blocks.count(i), std::int64_t{blocks.type(i).size}, &bytes) ? INT64_MAX : bytes;
}

Sending end(const Blocks& blocks, const Edge& edge) {
  return {bytes_of(blocks, edge.block), number_of(blocks.type(edge.block))};
}

/// Describes two blocks of which one is received where the other lies, among blocks that are contiguous; "" if there
/// are none.
std::string overlap(const Arguments& mine, const Edges& edges) {
  std::vector<Stretch> all;
  const auto add = [&](const Blocks& blocks, const std::vector<Edge>& side, bool sent) {
    if (!blocks.contiguous()) return;
    for (const Edge& edge : side)
      if (const std::int64_t bytes = bytes_of(blocks, edge.block); bytes > 0 && bytes < INT64_MAX) {
        const char* const begin = blocks.address(edge.block);
        all.push_back({begin, begin + bytes, edge.peer, sent});
      }
  };
  add(mine.receive, edges.in, false);
  if (!mine.in_place) add(mine.send, edges.out, true);
  std::ranges::sort(all, {}, &Stretch::begin);
  Stretch last_received{}, last{};  // the blocks that end last so far
  for (const Stretch& one : all) {
    const Stretch& before = one.sent ? last_received : last;
    if (before.end > one.begin) return of(before) + " and " + of(one) + " overlap in its memory";
    if (!one.sent && one.end > last_received.end) last_received = one;
    if (one.end > last.end) last = one;
  }
  return "";
}

}  // namespace

std::string mistake_of_ranks(const Arguments& mine, Team& team) {
  const Rank rank = team.rank();
  std::vector<Calling> calls;
  if (allgather(Calling{static_cast<std::int64_t>(mine.collective), mine.in_place}, calls, team) != MPI_SUCCESS)
    return "";
  if (std::string found = otherwise(calls); !found.empty()) return found;
  const Edges edges = edges_of(mine, team.size());
  const std::vector<int> to = edges_by_rank(edges.out, calls.size()), from = edges_by_rank(edges.in, calls.size());
  std::string problem, first;
  if (mine.neighbourhood) {
    std::vector<int> sent(calls.size());
    if (exchange_bytes(to.data(), sizeof(int), sent.data(), team) != MPI_SUCCESS) return "";
    problem = one_sided(rank, sent, from);
    if (!no_rank_has(problem, first, team)) return first;
  }
  std::vector<Sending> out, in(edges.in.size());
  for (const Edge& edge : edges.out) out.push_back(end(mine.send, edge));
  if (exchange_ends(out, in, to, from, team.user_comm()))
    for (std::size_t i = 0; i < in.size() && problem.empty(); ++i)
      problem = unlike(rank, edges.in[i].peer, in[i], end(mine.receive, edges.in[i]));
  if (problem.empty())
    if (const std::string two = overlap(mine, edges); !two.empty())
      problem = "on rank " + std::to_string(rank) + ", " + two;
  no_rank_has(problem, first, team);
  return first;
}

}  // namespace swapmeet
