/// All mutable state of the library that does not hang off a communicator, behind one accessor: so that where several
/// ranks live in one process, each can be given its own.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
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
#include "algorithms/known_schedules.hpp"
#include "choose/known_choices.hpp"
#include "choose/memory_store.hpp"
#include "node/arenas.hpp"
#include "node/regions.hpp"
#include "team/job.hpp"

namespace swapmeet {

class Communicator;
struct FirstCall;
class UnderWay;

/// Communicators deleted so far in this process.
inline std::atomic<std::uint64_t> deaths{0};

/// MPI_Session_init was called, perhaps before there is a context.
inline std::atomic<bool> sessions_opened{false};

/// The communicators of the last calls of a thread. A handle may be used again for another communicator only after it
/// was freed, which counts as a death.
class Recent {
 public:
  /// nullptr: it is not among them.
  Communicator* find(MPI_Comm comm) const {
    const Entry& entry = entries_[place(comm)];
    return entry.comm == comm && entry.deaths == deaths.load(std::memory_order_acquire) ? entry.communicator : nullptr;
  }
  void note(MPI_Comm comm, Communicator* communicator, std::uint64_t deaths_before) {
    entries_[place(comm)] = {comm, communicator, deaths_before};
  }

 private:
  struct Entry {
    MPI_Comm comm;
    Communicator* communicator;
    std::uint64_t deaths;
  };
  static constexpr int bits = 2;
  static std::size_t place(MPI_Comm comm) {
    constexpr std::uint64_t golden = 0x9e3779b97f4a7c15;
    std::uint64_t handle = 0;
    std::memcpy(&handle, &comm, sizeof comm);
    return handle * golden >> (64 - bits);
  }
  Entry entries_[std::size_t{1} << bits];
};

struct Context {
  Context();
  ~Context();

  Options options;
  std::uint64_t fingerprint = 0;  ///< of the options
  std::string mpi;                ///< mpi_signature() of the host MPI
  Statistics statistics;
  Recorder recorder;
  MemoryStore memory;    ///< of earlier runs
  KnownChoices choices;  ///< by these options
  KnownSchedules schedules;
  std::unique_ptr<UnderWay> under_way;  ///< planned exchanges

  Job job;  ///< on whose communicator messages travel

  Watchdog watchdog;  ///< of calls in which nothing moves

  Arenas arenas;                             ///< shared memory of this process and of others
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
  std::atomic<bool> used{false};      ///< an all-to-all was called

  /// Deletes what was kept for a communicator that ends.
  void end(Communicator* communicator);

  /// Communicators of this rank alone, for as long as this, made in attach_to_mpi(): one whose errors return, to pack on, too, and one
  /// whose errors end the program.
  enum class Errors : std::uint8_t { returned, fatal };
  MPI_Comm alone(Errors errors = Errors::returned) const { return alone_[static_cast<std::size_t>(errors)]; }

  std::mutex mutex;                          ///< guards what follows
  std::vector<void (*)()> endings;           ///< as of at_end()
  int keyval = MPI_KEYVAL_INVALID;           ///< of the attribute that holds a Communicator
  std::vector<Communicator*> communicators;  ///< alive
  MPI_Comm alone_[2] = {MPI_COMM_NULL, MPI_COMM_NULL};
  int world_ranks = 1;
  bool reported = false;
  std::chrono::steady_clock::time_point begin;  ///< when options were read
  int process = 0;                              ///< its number, to tell a forked child, which has nothing to report

  // What each thread has of its own, where ranks are no threads (simulation.hpp):
  Recent recent{};
  std::string failure;
};

/// Of the process; in a simulation, where processes are simulated too, of the calling rank.
Context& context();

/// Makes what belongs to the process, once: reads the options, makes shared memory, and prepares for MPI_Finalize. Local;
/// requires that MPI is initialised.
void attach_to_mpi();

/// How long a rank waits for ranks that may lack the library before it says so: no longer than the watchdog waits.
double patience_s();

/// What these options say of this rank.
inline JobFacts facts_of(const Options& options) {
  JobFacts facts;
  facts.starts_on_host = options.nonblocking == Options::Nonblocking::host;
  facts.native = options.algorithm && options.algorithm->family == Family::native;
  facts.algorithm = options.algorithm.has_value();
  facts.gathered = options.gathered;
  return facts;
}

/// Has MPI_Finalize call `ending` after the delete callbacks of MPI_COMM_SELF that applications have set, before what we keep
/// for communicators is deleted; what was added last comes first. Requires attach_to_mpi().
void at_end(void (*ending)());

/// The same, and an all-to-all is called: warns of options that cannot be used, and begins to record, once. Local.
void begin_to_serve();

/// Of the calling thread; in a simulation, of the calling rank.
extern constinit thread_local Recent recent_of_thread __attribute__((tls_model("initial-exec")));
inline Recent& recent() {
  if constexpr (simulated) return context().recent;
  return recent_of_thread;
}

/// What we keep for `comm`; made on the first call, which is then collective over `comm`, but waits for no rank if they are
/// to meet `later`. nullptr: MPI would not let us (the caller uses the host MPI; all ranks get nullptr alike).
enum class Meeting : std::uint8_t {
  now,
  later,       ///< in another call
  after_some,  ///< now, unless this call can be left to the host MPI
};
Communicator* communicator_of(MPI_Comm comm, Meeting meeting = Meeting::now);

/// The same for a blocking call: it may be what all duplicates of a communicator share.
Communicator* serving(MPI_Comm comm, const FirstCall* first = nullptr);

/// Whether the host MPI knows `comm`: it is neither MPI_COMM_NULL nor freed. Calls no error handler, which other calls of MPI
/// do, each: an all-to-all on an invalid communicator is the host MPI's, which raises its error once. Local.
bool is_communicator(MPI_Comm comm);

/// What we keep for `comm` alone already; nullptr: nothing. Local.
Communicator* kept_for(MPI_Comm comm);

/// Raises an error of an exchange on `comm`, on this rank. Returns it, or what it comes to where a rank has died.
int raise(MPI_Comm comm, int error);

/// Says what is wrong with what is remembered, once in the whole job.
void warn_of_memory();

/// Prints or writes the statistics, once.
void report_statistics(Context& all);

}  // namespace swapmeet
