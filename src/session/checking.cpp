#include "session/checking.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>
#include <vector>

#include "mpi/agreement.hpp"
#include "mpi/native.hpp"

namespace swapmeet {

namespace {

/// How a rank calls. Sent as it is.
struct Calling {
  std::int64_t collective, in_place;
};

/// What a rank sends to another. Sent as it is.
struct Sending {
  std::int64_t bytes;
  char type[24];  ///< its name; "": derived, or one that meets any
};

std::string name(std::int64_t collective) { return "MPI_" + std::string(name_of(static_cast<Collective>(collective))); }

/// In what ranks call otherwise than rank 0 does.
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

/// Bytes meet any type, and those of Fortran have names of their own.
bool meets_any(std::string_view type) {
  constexpr std::array those = {"BYTE", "PACKED", "INTEGER", "REAL", "COMPLEX", "PRECISION", "LOGICAL", "CHARACTER"};
  return std::ranges::any_of(those, [&](std::string_view part) { return type.find(part) != type.npos; });
}

void name_type(const Datatype& type, char (&to)[sizeof Sending::type]) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  to[0] = '\0';
  if (!type.predefined || PMPI_Type_get_name(type.handle, name, &length) != MPI_SUCCESS || meets_any(name)) return;
  std::snprintf(to, sizeof to, "%s", name);
}

std::string unlike(int rank, int peer, const Sending& sent, const Sending& expected) {
  const std::string from = "rank " + std::to_string(peer) + " sends ", to = " to rank " + std::to_string(rank);
  if (sent.bytes != expected.bytes)
    return from + std::to_string(sent.bytes) + " B" + to + ", which receives " + std::to_string(expected.bytes) + " B";
  if (sent.bytes > 0 && sent.type[0] && expected.type[0] && std::string_view(sent.type) != expected.type)
    return from + sent.type + to + ", which receives " + expected.type;
  return "";
}

struct Stretch {
  const char *begin, *end;
  int peer;
  bool sent;
};

std::string of(const Stretch& one) {
  return std::string(one.sent ? "what goes to" : "what comes from") + " rank " + std::to_string(one.peer);
}

/// Blocks that are received where others are, as far as they are contiguous.
std::string overlap(const Passing& mine, int ranks) {
  std::vector<Stretch> all;
  const auto add = [&](const Blocks& blocks, bool sent) {
    if (!blocks.contiguous()) return;
    for (int i = 0; i < ranks; ++i)
      if (const char* const begin = blocks.address(i); blocks.bytes(i) > 0)
        all.push_back({begin, begin + blocks.bytes(i), i, sent});
  };
  add(mine.receive, false);
  if (!mine.in_place) add(mine.send, true);
  std::ranges::sort(all, {}, &Stretch::begin);
  Stretch last_received{}, last{};  // those that reach furthest
  for (const Stretch& one : all) {
    const Stretch& before = one.sent ? last_received : last;
    if (before.end > one.begin) return of(before) + " and " + of(one) + " overlap in its memory";
    if (!one.sent && one.end > last_received.end) last_received = one;
    if (one.end > last.end) last = one;
  }
  return "";
}

}  // namespace

std::string mistake_of_ranks(const Passing& mine, MPI_Comm comm) {
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  std::vector<Calling> all;
  if (gather(Calling{static_cast<std::int64_t>(mine.collective), mine.in_place}, all, comm) != MPI_SUCCESS) return "";
  if (std::string found = otherwise(all); !found.empty()) return found;
  const auto ranks = static_cast<int>(all.size());
  const Blocks& sent = mine.in_place ? mine.receive : mine.send;
  std::vector<Sending> out(all.size()), in(all.size());
  for (int i = 0; i < ranks; ++i) {
    Sending& one = out[static_cast<std::size_t>(i)];
    one.bytes = sent.bytes(i);
    name_type(sent.type(i), one.type);
  }
  std::string problem, first;
  const ErrorsReturn quiet(comm);
  if (native().alltoall(out.data(), sizeof(Sending), MPI_BYTE, in.data(), sizeof(Sending), MPI_BYTE, comm) ==
      MPI_SUCCESS)
    for (int i = 0; i < ranks && problem.empty(); ++i) {
      Sending expected{mine.receive.bytes(i), ""};
      name_type(mine.receive.type(i), expected.type);
      problem = unlike(rank, i, in[static_cast<std::size_t>(i)], expected);
    }
  if (problem.empty())
    if (const std::string two = overlap(mine, ranks); !two.empty())
      problem = "on rank " + std::to_string(rank) + ", " + two;
  no_rank_has(problem, first, comm);
  return first;
}

}  // namespace swapmeet
