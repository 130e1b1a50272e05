/// The options of the library, declared in one place. Each option is an environment variable. The table generates the
/// parser, `swapmeet options` and docs/options.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/file.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

/// The values of all options of a process.
struct Options {
  /// The requested algorithm; nullopt: the automatic choice.
  std::optional<Spec> algorithm;
  std::string algorithm_from = "SWAPMEET_ALGORITHM";  ///< option or function that requested it
  std::string tuning_file;                            ///< "": one of the standard places; "none": no file
  EvidenceFile tuning;         ///< measured rules; set by read_tuning_for(), once the MPI is known
  double trials_share = 0.01;  ///< share of the time of all-to-alls that online tuning may cost; 0: no online tuning
  std::string memory;          ///< memory of measurements: "" as usual, "off", "read" (read only), or the file
  bool explain = false;
  bool statistics = false;        ///< count calls
  bool statistics_table = false;  ///< print the counts to standard error
  std::string statistics_file;    ///< "": none
  std::string statistics_log;     ///< file to which the job appends a line; "": none
  std::string record_file;        ///< file for recordings of all-to-alls; "": none
  bool phases = false;            ///< measure phases, for the statistics
  bool check = false;             ///< compare the arguments of all ranks before each exchange
  struct TracedCall {
    std::string file;  ///< "": none
    std::int64_t call = 1;
  } trace;
  struct Watched {
    double seconds = 0;  ///< time without any event after which a call is reported; 0: off
    std::string file;    ///< "": standard error
  } watchdog;
  Rank world_ranks = 1;  ///< number of ranks in MPI_COMM_WORLD, for node maps
  std::string nodes;     ///< node map as text (topology/node_map.hpp); "": ask MPI
  /// result of parsing it; on a problem, algorithms that need nodes use the host MPI
  Result<Hierarchy> hierarchy{Hierarchy{}};
  std::int64_t scratch_limit_bytes = std::int64_t{1} << 30;
  std::int64_t shm_limit_bytes = std::int64_t{64} << 20;  ///< per node, for all communicators
  std::int64_t request_limit = 4096;                      ///< outstanding requests of a rank
  /// per rank, for messages that arrive before their receives are posted
  std::int64_t unexpected_limit_bytes = std::int64_t{128} << 20;
  /// The implementation of MPI's non-blocking and persistent all-to-alls.
  enum class Nonblocking : std::uint8_t { in_progress, threads, host } nonblocking = Nonblocking::in_progress;
  std::int64_t heap_block_bytes = 0;  ///< least size of blocks in memory that node peers can map; 0: none
  bool heap_of_malloc = false;        ///< also for malloc(), not only for MPI_Alloc_mem
  /// Limits on the size of communicators for two features of their set-up.
  struct Gathered {
    Rank ranks = 512;       ///< each rank receives the parameters (records) of all others up to this many ranks
    Rank with_blocks = 64;  ///< blocks of the first call are piggybacked on the records up to this many ranks
  } gathered;

  /// Number of blocking calls that are left to the host MPI before a communicator is set up; nullopt: a number that
  /// depends on the host MPI.
  std::optional<int> first_calls;
  bool devices_through_host = false;  ///< serve calls whose buffers may be memory of a device, through host memory

  /// One complete sentence for each value that cannot be used: variable, value, problem, and the value used instead.
  std::vector<std::string> problems;

  bool recording() const { return !record_file.empty(); }

  /// A setting that all ranks must share: ranks with equal settings make equal choices. The list has the same length
  /// and order on every rank.
  struct Shared {
    std::string_view variable;  ///< "": problems of several variables
    std::string text;
  };
  std::vector<Shared> shared() const;

  /// Returns a hash of shared().
  std::uint64_t fingerprint() const;
};

/// An entry of the table of options.
struct Option {
  std::string_view name;      ///< of the environment variable
  std::string_view type;      ///< permitted values, for users
  std::string_view standard;  ///< default, as a user would write it
  std::string_view meaning;
  std::string_view fallback;                        ///< consequence of a value that cannot be used
  std::string (*read)(std::string_view, Options&);  ///< parser; returns "" or the problem
};

/// Sets the algorithm from a text such as SWAPMEET_ALGORITHM has. Returns "" or the problem; then the algorithm is
/// native.
std::string read_algorithm(std::string_view text, Options& options);

const std::vector<Option>& option_table();

/// Reads `environment` (a null-terminated array of "NAME=value", like `environ`). Variables that begin with SWAPMEET_
/// but are no option are reported as problems, since they are probably misspelt.
Options read_options(const char* const* environment, Rank world_ranks);

/// Finds the tuning file for an MPI (mpi_signature()) and reads it into `options`. Problems are added to theirs.
void read_tuning_for(const std::string& mpi, Options& options);

}  // namespace swapmeet
