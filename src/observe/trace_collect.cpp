#include "observe/trace_collect.hpp"

#include <unistd.h>

#include <algorithm>

namespace swapmeet {

namespace {

constexpr int trace_tag = 5;  // no other message is under way
constexpr int round_trips = 24;

template <class T>
void send(const T* data, std::size_t count, Rank to, MPI_Comm comm) {
  PMPI_Send(data, static_cast<int>(count * sizeof(T)), MPI_BYTE, to, trace_tag, comm);
}

template <class T>
void receive(T* data, std::size_t count, Rank from, MPI_Comm comm) {
  PMPI_Recv(data, static_cast<int>(count * sizeof(T)), MPI_BYTE, from, trace_tag, comm, MPI_STATUS_IGNORE);
}

/// What the clock of `rank` shows more than ours: by the shortest round trip, half of which is the error.
void relate(Rank rank, TraceHead& head, MPI_Comm comm) {
  head.error_ns = INT64_MAX;
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t theirs = 0;
    const std::int64_t before = nanoseconds(Trace::Clock::now());
    send(&before, 1, rank, comm);
    receive(&theirs, 1, rank, comm);
    const std::int64_t after = nanoseconds(Trace::Clock::now());
    const std::int64_t error = (after - before + 1) / 2;
    if (error >= head.error_ns) continue;
    head.error_ns = error;
    head.ahead_ns = theirs - (before + (after - before) / 2);
  }
}

void be_related(MPI_Comm comm) {
  for (int i = 0; i < round_trips; ++i) {
    std::int64_t time = 0;
    receive(&time, 1, 0, comm);
    time = nanoseconds(Trace::Clock::now());
    send(&time, 1, 0, comm);
  }
}

/// On rank 0.
void write(Trace& own, const TracedCall& call, std::vector<TraceHead>& heads, MPI_Comm comm, std::FILE* file) {
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    TraceHead& head = heads[static_cast<std::size_t>(rank)];
    TraceHead related;
    relate(rank, related, comm);
    receive(&head, 1, rank, comm);
    head.ahead_ns = related.ahead_ns;
    head.error_ns = related.error_ns;
  }
  TraceFile written(file, call, heads);
  written.add(0, own.slices(), own.events());
  std::vector<Trace::Slice>& slices = own.slices();
  std::vector<Trace::Event>& events = own.events();
  for (Rank rank = 1; rank < call.ranks; ++rank) {
    const TraceHead& head = heads[static_cast<std::size_t>(rank)];
    slices.resize(static_cast<std::size_t>(head.slices));
    events.resize(static_cast<std::size_t>(head.events));
    send("", 0, rank, comm);  // its turn: ours is not the memory for the traces of all
    receive(slices.data(), slices.size(), rank, comm);
    receive(events.data(), events.size(), rank, comm);
    written.add(rank, slices, events);
  }
  written.finish();
}

}  // namespace

void collect_trace(Trace& trace, const TracedCall& call, std::int64_t bytes_sent, MPI_Comm comm, Rank rank,
                   std::FILE* file) {
  TraceHead head{nanoseconds(trace.begin()),
                 nanoseconds(trace.end()),
                 bytes_sent,
                 static_cast<std::int64_t>(trace.slices().size()),
                 static_cast<std::int64_t>(trace.events().size()),
                 trace.dropped()};
  gethostname(head.host, sizeof head.host - 1);
  if (rank == 0) {
    std::vector<TraceHead> heads(static_cast<std::size_t>(call.ranks), head);
    return write(trace, call, heads, comm, file);
  }
  be_related(comm);
  send(&head, 1, 0, comm);
  receive(&rank, 0, 0, comm);
  send(trace.slices().data(), trace.slices().size(), 0, comm);
  send(trace.events().data(), trace.events().size(), 0, comm);
}

}  // namespace swapmeet
