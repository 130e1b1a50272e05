/// The file of a traced call, in the Chrome trace format, as https://ui.perfetto.dev reads it. docs/traces.md describes
/// its contents.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "observe/trace.hpp"

namespace swapmeet {

/// The description of a traced call. The same on all ranks.
struct TracedCall {
  std::string collective, algorithm, reason;
  Rank ranks = 1;
  std::vector<std::int32_t> nodes;  ///< the node of each rank
};

/// Returns a time as a number of nanoseconds, as the files have it.
inline std::int64_t nanoseconds(Trace::Time time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

/// The header that a rank sends before its trace. Sent as raw bytes.
struct TraceHead {
  std::int64_t begin_ns = 0, end_ns = 0;  ///< of the call, by the rank's clock
  std::int64_t bytes_sent = 0;            ///< of all blocks, the rank's own block included
  std::int64_t slices = 0, events = 0, dropped = 0;
  char host[64] = {};
  // Set by rank 0:
  std::int64_t ahead_ns = 0;  ///< time by the rank's clock minus time by that of rank 0
  std::int64_t error_ns = 0;  ///< upper bound on the error of ahead_ns
};

/// The writer of the file. Ranks must be added in order.
class TraceFile {
 public:
  TraceFile(std::FILE* file, const TracedCall& call, const std::vector<TraceHead>& heads);

  void add(Rank rank, const std::vector<Trace::Slice>& slices, const std::vector<Trace::Event>& events);
  void finish();

 private:
  struct Message;
  void add(Rank rank, const Message& message);
  void metadata();
  void event(const char* format, ...) __attribute__((format(printf, 2, 3)));
  std::string when(Rank rank, Trace::Time time) const;
  const TraceHead& head(Rank rank) const { return heads_[static_cast<std::size_t>(rank)]; }
  int node(Rank rank) const { return call_.nodes[static_cast<std::size_t>(rank)]; }

  std::FILE* file_;
  const TracedCall& call_;
  const std::vector<TraceHead>& heads_;
  std::int64_t origin_ns_ = 0;  ///< the earliest beginning of the call, by the clock of rank 0
  const char* separator_ = "\n";
};

}  // namespace swapmeet
