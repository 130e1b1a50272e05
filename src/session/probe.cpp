#include "session/probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <mutex>
#include <span>

#include "buffers/block_copies.hpp"
#include "exchange/lost_data.hpp"
#include "team/agreement.hpp"
#include "team/messages.hpp"
#include "mpi/outcome.hpp"

namespace swapmeet {

namespace {

constexpr std::array<std::int64_t, 4> sizes{8, 1 << 10, 8 << 10, 64 << 10};
constexpr std::int64_t unanswered = 4;  ///< bytes of a message that is not answered
constexpr int in_a_row = 8;
constexpr int rounds = 3;
constexpr double share = 0.005, most_s = 0.02;
constexpr double growth = 8;  ///< expected ratio of the times of a message and of the next smaller size, at most

using Clock = std::chrono::steady_clock;
const Clock::time_point library_loaded = Clock::now();

/// The results of this process so far, and their cost.
struct Probed {
  MeasuredNetwork network;
  std::size_t next_size = 0;       ///< index into `sizes` of the next measurement
  double first_s = 0, last_s = 0;  ///< round-trip times of the smallest and the latest size
  double spent_s = 0;
};

/// The results, shared by threads. The lock is never held while waiting for another rank.
struct KnownNetwork {
  Probed get() {
    const std::lock_guard lock(mutex);
    return probed;
  }
  void set(const Probed& found) {
    const std::lock_guard lock(mutex);
    probed = found;
  }

  std::mutex mutex;
  Probed probed;
} known_network;

/// One end of a message exchange with `other`. The contents of messages do not matter, so no buffers of their size are
/// needed.
class Pair {
 public:
  Pair(Team& team, Rank other) : team_(team), other_(other) {}

  int send(std::int64_t bytes) {
    const Part part = data_.dropped(bytes);
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = again(isend, part, team_.job_rank(other_), team_.tag_to(other_, tag()), team_.comm(), &request);
    return error ? error : end(request, MPI_STATUS_IGNORE);
  }
  int receive(MPI_Status& status) {
    const Part part = data_.dropped(sizes.back());
    MPI_Request request = MPI_REQUEST_NULL;
    const int error = again(irecv, part, team_.job_rank(other_), team_.tag_here(tag()), team_.comm(), &request);
    return error ? error : end(request, &status);
  }

 private:
  int tag() const { return team_.tags().of(MessageKind::probe, 0); }

  /// Waits for a request. Returns an error, instead of waiting forever, if the other rank has died or has given up
  /// because of a death.
  int end(MPI_Request& request, MPI_Status* status) {
    const int error = wait(request, status, team_);
    if (error && request != MPI_REQUEST_NULL) team_.keep_number(), abandon({&request, 1}, {});
    return error;
  }

  LostData data_;
  Team& team_;
  Rank other_;
};

/// Time of one more small message in a row, in microseconds, from the shortest of several rows; negative: not known.
/// `alone_s`: time of a round trip.
double one_of_several_us(Pair& pair, double alone_s) {
  double shortest_s = std::numeric_limits<double>::max();
  MPI_Status status;
  for (int round = 0; round < rounds; ++round) {
    const double begin_s = PMPI_Wtime();
    for (int i = 1; i < in_a_row; ++i)
      if (pair.send(unanswered) != MPI_SUCCESS) return -1;
    if (pair.send(sizes.front()) != MPI_SUCCESS || pair.receive(status) != MPI_SUCCESS) return -1;
    shortest_s = std::min(shortest_s, PMPI_Wtime() - begin_s);
  }
  return std::max(0.0, 1e6 * (shortest_s - alone_s) / (in_a_row - 1));
}

/// Time of a copy of `pieces` pieces of `bytes` bytes each, in seconds; the shortest of several. The pieces lie at
/// equal distances in `from`.
double copy_s(std::span<char> to, std::span<const char> from, std::int32_t pieces, std::int64_t bytes) {
  const std::int64_t step = static_cast<std::int64_t>(from.size()) / pieces;
  double shortest_s = std::numeric_limits<double>::max();
  for (int round = 0; round <= rounds; ++round) {
    const double begin_s = PMPI_Wtime();
    copy_row(to.data(), bytes, from.data(), step, pieces, bytes);
    shortest_s = std::min(shortest_s, PMPI_Wtime() - begin_s);
  }
  return shortest_s;
}

/// Measures copies on this rank. Takes some microseconds.
void measure_copies(MeasuredNetwork& network) {
  constexpr std::int64_t bytes = 8 << 10, piece_bytes = 8;
  constexpr std::int32_t pieces = bytes / 64;
  std::array<char, bytes> to{}, from{};
  const double together_s = copy_s(to, from, 1, bytes), apart_s = copy_s(to, from, pieces, piece_bytes);
  network.copy_ns = 1e9 * together_s / bytes;
  network.piece_us = std::max(0.0, 1e6 * (apart_s / pieces - together_s * piece_bytes / bytes));
}

/// Time of a round trip in seconds, the shortest of several; negative: MPI failed. Makes one repetition in any case,
/// and more while `left_s` allows it. `connected`: messages were exchanged before.
double there_and_back_s(Pair& pair, std::int64_t bytes, bool connected, double left_s) {
  double shortest_s = std::numeric_limits<double>::max();
  MPI_Status status;
  const double begin_s = PMPI_Wtime();
  // The very first may make a connection, and is repeated.
  for (int round = connected ? 1 : 0; round <= rounds; ++round) {
    const double sent_s = PMPI_Wtime();
    if (pair.send(bytes) != MPI_SUCCESS || pair.receive(status) != MPI_SUCCESS) return -1;
    const double now_s = PMPI_Wtime();
    shortest_s = std::min(shortest_s, now_s - sent_s);
    if (round > 0 && now_s - begin_s > left_s) break;
  }
  return shortest_s;
}

/// Measures, on rank 0, from where the last call ended, as far as time allows now. The time per byte follows from the
/// largest messages, or from smaller ones that take more than twice as long as the smallest.
void measure(Pair& pair, Probed& probed) {
  const std::chrono::duration<double> since_begin = Clock::now() - library_loaded;
  const double begin_s = PMPI_Wtime();
  const double until_s = begin_s + std::min(share * since_begin.count(), most_s) - probed.spent_s;
  MeasuredNetwork& network = probed.network;
  bool connected = false;
  for (; probed.next_size < sizes.size(); ++probed.next_size) {
    const bool first = probed.next_size == 0;
    const double left_s = until_s - PMPI_Wtime();
    if (!first && growth * probed.last_s > left_s) break;
    probed.last_s = there_and_back_s(pair, sizes[probed.next_size], connected, left_s);
    connected = true;
    if (probed.last_s < 0) {
      probed = {};
      return;
    }
    if (!first) continue;
    probed.first_s = probed.last_s;
    network.start_us = std::max(1e6 * probed.first_s / 2, 1e-3);
    if (rounds * in_a_row * probed.first_s / 2 < until_s - PMPI_Wtime())
      network.message_us = one_of_several_us(pair, probed.first_s);
    measure_copies(network);
  }
  const auto bytes = static_cast<double>(sizes[probed.next_size - 1] - sizes.front());
  if (probed.next_size == sizes.size() || probed.last_s > 2 * probed.first_s)
    network.byte_ns = std::max(0.0, 1e9 * (probed.last_s - probed.first_s) / 2 / bytes);
  probed.spent_s += PMPI_Wtime() - begin_s;
  network.took_us = 1e6 * probed.spent_s;
}

/// Answers messages, on the partner, until a message without bytes comes.
void answer(Pair& pair) {
  MPI_Status status;
  MPI_Count bytes = 0;
  do {
    if (pair.receive(status) != MPI_SUCCESS) return;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  } while (bytes > 0 && (bytes == unanswered || pair.send(bytes) == MPI_SUCCESS));
}

}  // namespace

MeasuredNetwork probe_network(Team& team, Rank partner) {
  MeasuredNetwork network;
  const Rank rank = team.rank();
  Pair pair(team, rank == 0 ? partner : 0);
  if (rank == partner) answer(pair);
  if (rank == 0) {
    Probed probed = known_network.get();
    if (!probed.network.complete()) {
      measure(pair, probed);
      known_network.set(probed);
    }
    network = probed.network;
    pair.send(0);
  }
  std::array numbers{network.start_us, network.message_us, network.byte_ns,
                     network.piece_us, network.copy_ns,    network.took_us};
  if (broadcast(numbers.data(), sizeof numbers, 0, team) != MPI_SUCCESS) return {};
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

}  // namespace swapmeet
