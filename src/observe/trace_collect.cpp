/// Collects the traces of all ranks on rank 0, with times by one clock.
#include "observe/trace_file.hpp"

#include "observe/observer.hpp"
#include "observe/process.hpp"
#include "team/team.hpp"

namespace swapmeet {

namespace {

constexpr int round_trips = 24;

template <class T>
void send(const T* data, std::size_t count, Rank to, const Team& team) {
  PMPI_Send(data, static_cast<int>(count * sizeof(T)), MPI_BYTE, team.job_rank(to),
            team.tag_to(to, team.tags().of(MessageKind::trace, 0)), team.comm());
}

template <class T>
void receive(T* data, std::size_t count, Rank from, const Team& team) {
  PMPI_Recv(data, static_cast<int>(count * sizeof(T)), MPI_BYTE, team.job_rank(from),
            team.tag_here(team.tags().of(MessageKind::trace, 0)), team.comm(), MPI_STATUS_IGNORE);
}

/// Measures how far the clock of `rank` is ahead of that of this rank, by the shortest of several round trips. Half of
/// that round trip bounds the error.
void relate(Rank rank, TraceHead& head, const Team& team) {
  head.error_ns = INT64_MAX;
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t theirs = 0;
    const std::int64_t before = now_ns();
    send(&before, 1, rank, team);
    receive(&theirs, 1, rank, team);
    const std::int64_t after = now_ns();
    const std::int64_t error = (after - before + 1) / 2;
    if (error >= head.error_ns) continue;
    head.error_ns = error;
    head.ahead_ns = theirs - (before + (after - before) / 2);
  }
}

/// Answers relate() of rank 0.
void be_related(const Team& team) {
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t time = 0;
    receive(&time, 1, 0, team);
    time = now_ns();
    send(&time, 1, 0, team);
  }
}

/// Writes the file, on rank 0.
void write(Trace& own, const TracedCall& call, std::vector<TraceHead>& heads, const Team& team, std::FILE* file) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    TraceHead& head = heads[static_cast<std::size_t>(rank)];
    TraceHead related;
    relate(rank, related, team);
    receive(&head, 1, rank, team);
    head.ahead_ns = related.ahead_ns;
    head.error_ns = related.error_ns;
  }
  TraceFile written(file, call, heads);
  written.add(0, own.events);
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    own.events.resize(static_cast<std::size_t>(heads[static_cast<std::size_t>(rank)].events));
    send("", 0, rank, team);  // lets the rank send: rank 0 has no memory for all traces at once
    receive(own.events.data(), own.events.size(), rank, team);
    written.add(rank, own.events);
  }
  written.finish();
}

}  // namespace

void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, const Team& team, std::FILE* file) {
  TraceHead head{trace.begin_ns, trace.end_ns, bytes_sent, static_cast<std::int64_t>(trace.events.size()),
                 trace.dropped};
  host_name().copy(head.host, sizeof head.host - 1);
  if (team.rank() == 0) {
    std::vector<TraceHead> heads(static_cast<std::size_t>(call.ranks), head);
    return write(trace, call, heads, team, file);
  }
  be_related(team);
  send(&head, 1, 0, team);
  receive(&head, 0, 0, team);
  send(trace.events.data(), trace.events.size(), 0, team);
}

}  // namespace swapmeet
