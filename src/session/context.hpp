/// State of the library that belongs to no communicator, behind one accessor. In a simulation, where several ranks
/// share a process, each rank has a Context of its own.
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
#include "observe/watchdog.hpp"
#include "options/options.hpp"
#include "choose/known_choices.hpp"
#include "choose/memory_store.hpp"
#include "node/arenas.hpp"
#include "node/regions.hpp"
#include "session/kept_states.hpp"
#include "session/recent.hpp"
#include "session/under_way.hpp"
#include "team/job.hpp"

namespace swapmeet {

class Communicator;

/// Set by MPI_Session_init, which may come before there is a context.
inline std::atomic<bool> sessions_opened{false};

struct Context {
  Options options;
  std::uint64_t fingerprint = 0;  ///< of `options`
  std::string mpi;                ///< mpi_signature() of the host MPI
  Statistics statistics;
  Recorder recorder;
  MemoryStore memory;          ///< measurements of earlier runs
  KnownChoices choices;        ///< choices already made by `options`
  OngoingExchanges under_way;  ///< started and unfinished exchanges

  Job job;  ///< all ranks, with a communicator for the library's messages

  KeptStates kept_states;  ///< of freed communicators

  Watchdog watchdog;  ///< reports calls that make no progress

  Arenas arenas;                             ///< shared memory of this process and of node peers
  Regions regions;                           ///< shared memory allocated by the application
  std::atomic<std::int64_t> share_bytes{0};  ///< bytes of shared memory attributed to this rank

  /// A number for a communicator of which this rank is the first one: unique in the job.
  std::uint64_t number_of_communicator() {
    return std::uint64_t{static_cast<std::uint32_t>(reports.world_rank)} << 32 | named.fetch_add(1);
  }
  std::atomic<std::uint32_t> named{0};

  Reports reports;

  std::atomic<bool> traced{false};  ///< a call was chosen for SWAPMEET_TRACE, which traces one

  std::atomic<bool> attached{false};  ///< keyvals exist, options were read, and the exit hook is set
  std::atomic<bool> used{false};      ///< an all-to-all was called

  /// Keeps or deletes the state of a communicator that is being freed.
  void end(Communicator* communicator);

  std::mutex mutex;                          ///< guards the members below
  std::vector<void (*)()> endings;           ///< functions registered by at_end()
  int keyval = MPI_KEYVAL_INVALID;           ///< key of the attribute of a communicator (lookup.cpp)
  std::vector<Communicator*> communicators;  ///< not yet deleted
  int world_ranks = 1;
  bool reported = false;
  std::chrono::steady_clock::time_point begin;  ///< time at which options were read
  /// Process number, by which a forked child is recognised; a child reports nothing.
  int process = 0;

  // Per-thread state, for simulations, in which a rank is a fibre and not a thread (simulation.hpp):
  Recent recent{};
  std::string failure;
};

/// The context of the process; in a simulation, that of the calling rank.
Context& context();

/// Sets up the state of the process, once: reads the options, makes shared memory, and installs the hook of
/// MPI_Finalize. Requires MPI to be initialised. Local.
void attach_to_mpi();

/// Time in seconds after which a rank that waits for all ranks reports that some may lack the library. At most the
/// limit of the watchdog.
double patience_s();

/// Facts about this rank that follow from its options, for the agreement of the job.
inline JobFacts facts_of(const Options& options) {
  JobFacts facts;
  facts.starts_on_host = options.nonblocking == Options::Nonblocking::host;
  facts.native = options.algorithm && options.algorithm->family == Family::native;
  facts.algorithm = options.algorithm.has_value();
  facts.gathered = options.gathered;
  return facts;
}

/// Registers `ending`, which MPI_Finalize calls after the application's delete callbacks of MPI_COMM_SELF and before
/// the state of communicators is deleted. Functions are called in reverse order of registration. Requires
/// attach_to_mpi().
void at_end(void (*ending)());

/// Calls attach_to_mpi(), and at the first all-to-all of the process warns of unusable options and begins to record.
/// Local.
void begin_to_serve();

/// Warns of a problem with the store of measurements of earlier runs, context().memory, once in the whole job.
void warn_of_memory_store();

/// Prints or writes the statistics, once.
void report_statistics(Context& all);

}  // namespace swapmeet
