#include "team/messages.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "mpi/coroutine.hpp"
#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

constexpr int patience = 5;  ///< tests of a request before the core is yielded

/// The buffer and the peer of a message of at most `bytes` bytes.
struct Wire {
  void* address;
  std::size_t bytes;
  Rank peer;
};

int start_receive(const Team& team, const Wire& wire, int tag, MPI_Request* request) {
  const Part part{wire.address, static_cast<std::int64_t>(wire.bytes), MPI_BYTE};
  return again(irecv, part, team.job_rank(wire.peer), team.tag_here(tag), team.comm(), request);
}

int start_send(const Team& team, const Wire& wire, int tag, MPI_Request* request) {
  const Part part{wire.address, static_cast<std::int64_t>(wire.bytes), MPI_BYTE};
  return again(isend, part, team.job_rank(wire.peer), team.tag_to(wire.peer, tag), team.comm(), request);
}

/// Waits for a message, or ends the step.
int finish(MPI_Request& request, const Team& team) {
  if (!team.in_steps()) return wait(request, MPI_STATUS_IGNORE, team);
  int done = 0, error = MPI_SUCCESS;
  while (error = test_again(request, done, MPI_STATUS_IGNORE, team), !error && !done) pass_time(team);
  return error;
}

/// Waits for both messages of a receive and a send. If one of them cannot complete, both are abandoned and the team is
/// lost; their memory must then not be freed. An error of a completed message does not leave the other one in flight.
int finish(std::array<MPI_Request, 2>& requests, Team& team) {
  int first = MPI_SUCCESS;
  for (MPI_Request& request : requests) {
    if (request == MPI_REQUEST_NULL) continue;
    if (const int error = finish(request, team); error && !first) first = error;
  }
  if (std::ranges::count(requests, MPI_REQUEST_NULL) == 2) return first;
  abandon(std::span(requests).first(1), std::span(requests).last(1));
  team.keep_number();
  return first;
}

/// Receives one message and sends one.
int swap(Team& team, const Wire& in, const Wire& out, int tag) {
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int error = start_receive(team, in, tag, &requests[0]);
  if (!error) error = start_send(team, out, tag, &requests[1]);
  const int ended = finish(requests, team);
  return error ? error : ended;
}

/// The memory of messages. After an error it is never freed, because MPI may still use it.
class Room {
 public:
  explicit Room(std::size_t bytes) : memory_(std::make_unique<char[]>(std::max<std::size_t>(bytes, 1))) {}
  char* at(std::size_t place) { return memory_.get() + place; }
  int keep_after(int error) {
    if (error) static_cast<void>(memory_.release());
    return error;
  }

 private:
  std::unique_ptr<char[]> memory_;
};

}  // namespace

int test_without_fault(MPI_Request& request, int& done, MPI_Status* status, const Team& team) {
  constexpr std::uint32_t looks_between = 64;  // tests between two checks for dead ranks, whose messages never complete
  thread_local std::uint32_t looks = 0;
  int over = 0;
  done = 0;
  PMPI_Request_get_status(request, &over, MPI_STATUS_IGNORE);
  if (const int fault = team.fault(!over && ++looks % looks_between == 0)) return fault;
  return over ? PMPI_Test(&request, &done, status) : MPI_SUCCESS;
}

// The request is tested in a loop in two cases. In MPICH 5, MPI_Wait takes 0.8 us longer and spins without yielding the
// core. If the host MPI survives faults, a request that a fault has ended must not be completed.
int wait(MPI_Request& request, MPI_Status* status, const Team& team) {
  if (simulated) settle();
  if (simulated || !(host_is_mpich || survives_faults)) return PMPI_Wait(&request, status);
  for (int looks = 1;; ++looks) {
    int done = 0;
    const int error = test_again(request, done, status, team);
    if (error || done) return error;
    if (looks >= patience) sched_yield();
  }
}

void pass_time(const Team& team) { team.in_steps() ? Coroutine::suspend() : void(sched_yield()); }

int largest_of_all(Team& team, std::span<std::int64_t> values, std::span<std::int64_t> room) {
  const Rank ranks = team.size(), rank = team.rank();
  const std::span ours = room.first(values.size()), theirs = room.subspan(values.size(), values.size());
  std::ranges::copy(values, ours.begin());
  std::uint32_t round = 0;
  // Tags do not depend on the call, so that messages of ranks in different calls match, and the ranks notice that.
  for (Rank distance = 1; distance < ranks; distance *= 2) {
    const int tag = team.tags().of(MessageKind::agreement, 0, round++);
    const Wire in{theirs.data(), theirs.size_bytes(), (rank - distance + ranks) % ranks};
    const Wire out{ours.data(), ours.size_bytes(), (rank + distance) % ranks};
    if (const int error = swap(team, in, out, tag)) return error;
    for (std::size_t i = 0; i < ours.size(); ++i) ours[i] = std::max(ours[i], theirs[i]);
  }
  std::ranges::copy(ours, values.begin());
  return MPI_SUCCESS;
}

int gather_by_messages(Team& team, const void* mine, std::size_t bytes, char* all) {
  std::vector<Rank> members(static_cast<std::size_t>(team.size()));
  std::iota(members.begin(), members.end(), 0);
  return gather_by_messages(team, members, mine, bytes, all);
}

int gather_by_messages(Team& team, std::span<const Rank> members, const void* mine, std::size_t bytes, char* all) {
  const std::size_t number = members.size();
  const auto me = static_cast<std::size_t>(std::ranges::find(members, team.rank()) - members.begin());
  // The reserve of memory serves the room (buffers/reserve.cpp), because the other members wait for this rank.
  constexpr std::size_t most_at_a_time = 48 << 10;  // of all members together; at least one byte of each
  const std::size_t most = std::clamp<std::size_t>(most_at_a_time / number, 1, std::max<std::size_t>(bytes, 1));
  Room room(number * most);  // the bytes of this rank, then those of the members after it, cyclically
  for (std::size_t first = 0; first < bytes; first += most) {
    const std::size_t part = std::min(most, bytes - first);
    std::memcpy(room.at(0), static_cast<const char*>(mine) + first, part);
    std::uint32_t round = 0;
    for (std::size_t known = 1; known < number; known *= 2) {
      const std::size_t moved = std::min(known, number - known) * part;
      const Wire in{room.at(known * part), moved, members[(me + known) % number]};
      const Wire out{room.at(0), moved, members[(me + number - known) % number]};
      if (const int error = swap(team, in, out, team.tags().of(MessageKind::agreement, 0, round++)))
        return room.keep_after(error);
    }
    for (std::size_t i = 0; i < number; ++i)
      std::memcpy(all + (me + i) % number * bytes + first, room.at(i * part), part);
  }
  return MPI_SUCCESS;
}

int broadcast_by_messages(Team& team, void* data, std::size_t bytes, Rank root) {
  const Rank ranks = team.size(), place = (team.rank() - root + ranks) % ranks;  // 0 is the root of the tree
  const int tag = team.tags().of(MessageKind::agreement, 0);
  const auto member = [&](Rank at) { return (at + root) % ranks; };
  Room room(bytes);
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Rank below = 1;  // size of the subtree of this rank, if P is a power of two
  while (below < ranks && place % (2 * below) == 0) below *= 2;
  if (place == 0) {
    std::memcpy(room.at(0), data, bytes);
  } else {
    int error = start_receive(team, {room.at(0), bytes, member(place - below)}, tag, &requests[0]);
    if (const int ended = finish(requests, team); ended && !error) error = ended;
    if (error) return room.keep_after(error);
    std::memcpy(data, room.at(0), bytes);
  }
  for (Rank distance = below / 2; distance > 0; distance /= 2) {
    if (place + distance >= ranks) continue;
    int error = start_send(team, {room.at(0), bytes, member(place + distance)}, tag, &requests[1]);
    if (const int ended = finish(requests, team); ended && !error) error = ended;
    if (error) return room.keep_after(error);
  }
  return MPI_SUCCESS;
}

int scatter_by_messages(Team& team, const char* all, std::size_t bytes, char* mine, Rank root) {
  const int tag = team.tags().of(MessageKind::agreement, 0);
  std::array<MPI_Request, 2> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  Room room(bytes);
  const bool sends = team.rank() == root;
  for (Rank peer = 0; peer < team.size(); ++peer) {
    if (peer == team.rank() || (!sends && peer != root)) continue;
    if (sends) std::memcpy(room.at(0), all + static_cast<std::size_t>(peer) * bytes, bytes);
    const Wire wire{room.at(0), bytes, peer};
    int error = sends ? start_send(team, wire, tag, &requests[1]) : start_receive(team, wire, tag, &requests[0]);
    if (const int ended = finish(requests, team); ended && !error) error = ended;
    if (error) return room.keep_after(error);
  }
  std::memcpy(mine, sends ? all + static_cast<std::size_t>(root) * bytes : room.at(0), bytes);
  return MPI_SUCCESS;
}

}  // namespace swapmeet
