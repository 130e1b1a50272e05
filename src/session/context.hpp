/// All mutable state of the library that does not hang off a communicator, behind one accessor: so that where several
/// ranks live in one process, each can be given its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "mpi/mpi.hpp"
#include "mpi/report.hpp"
#include "observe/record.hpp"
#include "observe/statistics.hpp"
#include "options/options.hpp"
#include "node/regions.hpp"

namespace swapmeet {

class Communicator;
class UnderWay;

/// The communicator of the last call. Its handle may be used again for another communicator only after it was freed,
/// which counts as a death.
struct Recent {
  MPI_Comm comm;
  Communicator* communicator;
  std::uint64_t deaths;
};

struct Context {
  Context();
  ~Context();

  Options options;
  Statistics statistics;
  Recorder recorder;
  std::unique_ptr<UnderWay> under_way;  ///< planned exchanges

  Regions regions;                           ///< shared memory that the application asked for
  std::atomic<std::int64_t> share_bytes{0};  ///< of shared memory, that count for this rank

  /// A number that no other communicator in the job has, for one of which this rank is the first.
  std::uint64_t number_of_communicator() {
    return std::uint64_t{static_cast<std::uint32_t>(said.world_rank)} << 32 | named.fetch_add(1);
  }
  std::atomic<std::uint32_t> named{0};

  Said said;

  std::atomic<bool> traced{false};  ///< the call that the options ask to trace

  std::atomic<bool> attached{false};  ///< keyvals exist, options were read, the exit hook is set

  std::mutex mutex;                          ///< guards what follows
  int keyval = MPI_KEYVAL_INVALID;           ///< of the attribute that holds a Communicator
  std::vector<Communicator*> communicators;  ///< alive
  std::atomic<std::uint64_t> deaths{0};      ///< communicators deleted so far
  int world_ranks = 1;
  bool reported = false;
  int process = 0;  ///< its number, to tell a forked child, which has nothing to report

  // What each thread has of its own, where ranks are no threads (simulation.hpp):
  Recent recent{};
  std::string failure;
};

/// Of the process; in a simulation, where processes are simulated too, of the calling rank.
Context& context();

/// Reads the options and prepares for MPI_Finalize, once. Local; requires that MPI is initialised.
void attach_to_mpi();

/// What we keep for `comm`; made on the first call, which is then collective over `comm`. nullptr: MPI would not let us
/// (the caller uses the host MPI; all ranks get nullptr alike).
Communicator* communicator_of(MPI_Comm comm);

/// Prints or writes the statistics, once.
void report_statistics(Context& all);

}  // namespace swapmeet
