/// The file of a traced call, in the Chrome trace format, as https://ui.perfetto.dev reads it. docs/traces.md describes
/// its contents.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "observe/trace.hpp"

namespace swapmeet {

struct Json;
class JsonMembers;
class Team;

/// The description of a traced call. The same on all ranks.
struct TracedCall {
  std::string collective, algorithm, reason;
  Rank ranks = 1;
  std::vector<std::int32_t> nodes;  ///< the node of each rank
};

/// The header that a rank sends before its trace. Sent as raw bytes.
struct TraceHead {
  std::int64_t begin_ns = 0, end_ns = 0;  ///< of the call, by the rank's clock
  std::int64_t bytes_sent = 0;            ///< of all blocks, the rank's own block included
  std::int64_t events = 0, dropped = 0;
  char host[64] = {};
  // Set by rank 0:
  std::int64_t ahead_ns = 0;  ///< time by the rank's clock minus time by that of rank 0
  std::int64_t error_ns = 0;  ///< upper bound on the error of ahead_ns
};

/// A message as the events at one of its ends describe it.
struct CallMessage {
  CallEvent begun;
  std::int64_t done_ns = 0, bytes = 0;
  bool over = false;
};

/// The writer of the file. Ranks must be added in order.
class TraceFile {
 public:
  TraceFile(std::FILE* file, const TracedCall& call, const std::vector<TraceHead>& heads);

  void add(Rank rank, const std::vector<CallEvent>& events);
  void finish();

 private:
  /// Writes an event of the format: its type, node and rank, and `more`.
  void event(const char* type, Rank rank, const JsonMembers& more);
  void span(Rank rank, const char* category, const std::string& name, std::int64_t begin_ns, std::int64_t end_ns,
            const JsonMembers& arguments);
  /// `number`: of the messages with the same source, destination and tag, in their order.
  void add(Rank rank, const CallMessage& message, std::uint32_t number);
  Json when(Rank rank, std::int64_t time_ns) const;
  const TraceHead& head(Rank rank) const { return heads_[static_cast<std::size_t>(rank)]; }
  int node(Rank rank) const { return call_.nodes[static_cast<std::size_t>(rank)]; }

  std::FILE* file_;
  const TracedCall& call_;
  const std::vector<TraceHead>& heads_;
  std::int64_t origin_ns_ = 0;  ///< the earliest beginning of the call, by the clock of rank 0
  const char* separator_ = "\n";
};

/// Relates the clocks of all ranks of `team` to that of rank 0. Rank 0 then fetches the traces one by one and writes them
/// to `file`. Collective.
void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, const Team& team, std::FILE* file);

}  // namespace swapmeet
