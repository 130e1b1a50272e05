#include "session/probe.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <mutex>
#include <span>

#include "buffers/forward.hpp"
#include "exchange/lost_data.hpp"
#include "mpi/agreement.hpp"
#include "mpi/outcome.hpp"

namespace swapmeet {

namespace {

constexpr std::array<std::int64_t, 4> sizes{8, 1 << 10, 8 << 10, 64 << 10};
constexpr std::int64_t unanswered = 4;  ///< bytes of a message that no answer is sent to
constexpr int in_a_row = 8;
constexpr int rounds = 3;
constexpr int tag = 0;
constexpr double share = 0.005, most_s = 0.02;

using Clock = std::chrono::steady_clock;
const Clock::time_point library_loaded = Clock::now();

/// What this process has measured. Not to be locked while anybody is waited for.
struct KnownNetwork {
  MeasuredNetwork get() {
    const std::lock_guard lock(mutex);
    return network;
  }
  void set(const MeasuredNetwork& found) {
    const std::lock_guard lock(mutex);
    network = found;
  }

  std::mutex mutex;
  MeasuredNetwork network;
} known_network;

/// What is sent has no meaning: memory for it is always there.
class Pair {
 public:
  Pair(MPI_Comm comm, Rank other) : comm_(comm), other_(other) {}

  int send(std::int64_t bytes) {
    const Part part = data_.dropped(bytes);
    return again(PMPI_Send, part.address, static_cast<int>(part.count), part.type, other_, tag, comm_);
  }
  int receive(MPI_Status& status) {
    const Part part = data_.dropped(sizes.back());
    return again(PMPI_Recv, part.address, static_cast<int>(part.count), part.type, other_, tag, comm_, &status);
  }

 private:
  LostData data_;
  MPI_Comm comm_;
  Rank other_;
};

/// What one more message in a row takes, by the shortest of some rows; negative: not known. `alone_s`: there and back.
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

/// A copy of pieces of so many bytes, at even distances in `from`: seconds, the shortest of some.
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

/// Some microseconds, of one rank alone.
void measure_copies(MeasuredNetwork& network) {
  constexpr std::int64_t bytes = 8 << 10, piece_bytes = 8;
  constexpr std::int32_t pieces = bytes / 64;
  std::array<char, bytes> to{}, from{};
  const double together_s = copy_s(to, from, 1, bytes), apart_s = copy_s(to, from, pieces, piece_bytes);
  network.copy_ns = 1e9 * together_s / bytes;
  network.piece_us = std::max(0.0, 1e6 * (apart_s / pieces - together_s * piece_bytes / bytes));
}

/// Rank 0.
MeasuredNetwork measure(Pair& pair) {
  const std::chrono::duration<double> since_begin = Clock::now() - library_loaded;
  const double budget_s = std::min(share * since_begin.count(), most_s);
  MeasuredNetwork network;
  const double begin_s = PMPI_Wtime();
  double shortest_s = 0, first_s = 0;
  std::int64_t bytes_done = 0;
  MPI_Status status;
  for (const std::int64_t bytes : sizes) {
    if (8 * (rounds + 1) * shortest_s > budget_s - (PMPI_Wtime() - begin_s)) break;
    shortest_s = std::numeric_limits<double>::max();
    for (int round = 0; round <= rounds; ++round) {  // the first may make a connection
      const double sent_s = PMPI_Wtime();
      if (pair.send(bytes) != MPI_SUCCESS || pair.receive(status) != MPI_SUCCESS) return {};
      const double now_s = PMPI_Wtime();
      shortest_s = std::min(shortest_s, now_s - sent_s);
      if (round > 0 && now_s - begin_s > budget_s) break;
    }
    if (bytes_done == 0) {
      first_s = shortest_s;
      const double left_s = budget_s - (PMPI_Wtime() - begin_s);
      if (rounds * in_a_row * first_s / 2 < left_s) network.message_us = one_of_several_us(pair, first_s);
    }
    bytes_done = bytes;
  }
  network.start_us = std::max(1e6 * first_s / 2, 1e-3);
  const auto more = static_cast<double>(bytes_done - sizes.front());
  if (more > 0) network.byte_ns = std::max(0.0, 1e9 * (shortest_s - first_s) / 2 / more);
  measure_copies(network);
  network.took_us = 1e6 * (PMPI_Wtime() - begin_s);
  return network;
}

/// The other end, until a message without bytes comes.
void answer(Pair& pair) {
  MPI_Status status;
  MPI_Count bytes = 0;
  do {
    if (pair.receive(status) != MPI_SUCCESS) return;
    PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  } while (bytes > 0 && (bytes == unanswered || pair.send(bytes) == MPI_SUCCESS));
}

}  // namespace

MeasuredNetwork probe_network(MPI_Comm comm, Rank rank, Rank partner) {
  MeasuredNetwork network;
  Pair pair(comm, rank == 0 ? partner : 0);
  if (rank == partner) answer(pair);
  if (rank == 0) {
    network = known_network.get();
    if (!network.known()) known_network.set(network = measure(pair));
    pair.send(0);
  }
  std::array numbers{network.start_us, network.message_us, network.byte_ns,
                     network.piece_us, network.copy_ns,    network.took_us};
  if (broadcast(numbers.data(), sizeof numbers, 0, comm) != MPI_SUCCESS) return {};
  return {numbers[0], numbers[1], numbers[2], numbers[3], numbers[4], numbers[5]};
}

}  // namespace swapmeet
