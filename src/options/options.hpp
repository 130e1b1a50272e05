/// Every option of the library, once. An option is an environment variable; this table makes the parser,
/// `swapmeet options` and docs/options.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "options/tuning.hpp"
#include "schedule/spec.hpp"

namespace swapmeet {

struct Options {
  /// The algorithm asked for; nothing: the automatic choice.
  std::optional<Spec> algorithm;
  std::string algorithm_from = "SWAPMEET_ALGORITHM";  ///< who asked
  std::string tuning_file;                            ///< "": one of the standard places; "none": no file
  Tuning tuning;               ///< where rules come from; from read_tuning_for(), once the MPI is known
  double trials_share = 0.01;  ///< of the time of all-to-alls, that trying other algorithms may cost; 0: none is tried
  std::string memory;          ///< of earlier runs: "" as usual, "off", "read" (nothing is written), or the file
  bool explain = false;
  bool statistics = false;        ///< calls are counted
  bool statistics_table = false;  ///< printed to standard error
  std::string statistics_file;    ///< "": none
  std::string statistics_log;     ///< to which a line is added for the job; "": none
  std::string record_file;        ///< "": nothing is recorded
  bool phases = false;            ///< are measured, for the statistics
  bool check = false;             ///< what ranks pass, before each exchange
  struct TracedCall {
    std::string file;  ///< "": none
    std::int64_t call = 1;
  } trace;
  struct Watched {
    double seconds = 0;  ///< that a call may wait before it is reported; 0: none is
    std::string file;    ///< "": to standard error
  } watchdog;
  Rank world_ranks = 1;                      ///< in MPI_COMM_WORLD, which node maps are of
  std::string nodes;                         ///< a node map in words (topology/node_map.hpp); "": ask MPI
  Result<Hierarchy> hierarchy{Hierarchy{}};  ///< what it says; a problem: what needs nodes goes to the host MPI
  std::int64_t scratch_limit_bytes = std::int64_t{1} << 30;
  std::int64_t shm_limit_bytes = std::int64_t{64} << 20;          ///< on a node
  std::int64_t request_limit = 4096;                              ///< outstanding at a time, of a rank
  std::int64_t unexpected_limit_bytes = std::int64_t{128} << 20;  ///< that arrive before their receives, at a rank
  /// Who serves MPI's non-blocking and persistent all-to-alls.
  enum class Nonblocking : std::uint8_t { in_progress, threads, host } nonblocking = Nonblocking::in_progress;
  std::int64_t heap_block_bytes =
      0;                        ///< blocks of so many are to come from memory that the node's ranks map; 0: none is
  bool heap_of_malloc = false;  ///< also those of malloc, not of MPI_Alloc_mem alone
  /// Communicators of at most so many ranks gather what each rank tells the others when it is set up.
  struct Gathered {
    Rank ranks = 512;
    Rank with_blocks = 64;  ///< of these, communicators whose ranks send blocks of the first call along
  } gathered;

  /// Blocking calls of a communicator that are left to the host MPI before it is set up; nothing: as few as this host MPI earns.
  std::optional<int> first_calls;
  bool devices_through_host = false;  ///< calls are served where buffers may be memory of a device

  /// One ready sentence for each value that could not be used: variable, value, problem, what is done instead.
  std::vector<std::string> problems;

  bool recording() const { return !record_file.empty(); }

  /// What two ranks have alike exactly if their choices will be: as many on every rank, in the same order.
  struct Shared {
    std::string_view variable;  ///< "": of several
    std::string text;
  };
  std::vector<Shared> shared() const;

  /// A number for all of that.
  std::uint64_t fingerprint() const;
};

struct Option {
  std::string_view name;      ///< of the environment variable
  std::string_view type;      ///< for people: what may be written
  std::string_view standard;  ///< the default, as one would write it
  std::string_view meaning;
  std::string_view fallback;                        ///< what is done when the value cannot be used
  std::string (*read)(std::string_view, Options&);  ///< "" or what is wrong
};

/// Sets the algorithm by `text`, as SWAPMEET_ALGORITHM. Returns "" or what is wrong with it; it is native then.
std::string read_algorithm(std::string_view text, Options& options);

const std::vector<Option>& option_table();

/// Reads `environment` (a null-terminated array of "NAME=value", as `environ`). Variables that begin with SWAPMEET_ and
/// are no option are problems too: probably misspelt.
Options read_options(const char* const* environment, Rank world_ranks);

/// Finds the tuning file for an MPI (mpi_signature()), and reads it into `options`; what is wrong becomes a problem of
/// theirs.
void read_tuning_for(const std::string& mpi, Options& options);

}  // namespace swapmeet
