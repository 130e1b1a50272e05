/// The recorder of the application's all-to-alls, for `swapmeet profile`. It writes one file per rank, in the format of
/// docs/profile.md. Calls with equal arguments are described once and counted. Memory is bounded, whatever the
/// application does.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "buffers/blocks.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class JsonMembers;

/// The recorder's state of a communicator of the application.
struct RecordedCommunicator {
  int index = 0;  ///< in the file; -1: a communicator beyond the limit
  Rank ranks = 0;
  std::uint64_t calls = 0;  ///< made so far
  /// For each collective, the exchange that stands for all calls without a description of their own: calls beyond the
  /// limit, and neighbourhood collectives. -1: none yet.
  std::array<int, collective_names.size()> undescribed{-1, -1, -1, -1, -1, -1};
};

/// A call under way; empty if nothing is recorded.
struct RecordedCall {
  RecordedCommunicator* communicator = nullptr;
  std::uint32_t exchange = 0;
  std::uint64_t number = 0;  ///< of the call, on its communicator
  std::chrono::steady_clock::time_point begin{};

  void ends() const;
};

/// The recorder of a process. Thread-safe.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t most_communicators = 4096;  ///< with a description; about 100 bytes each
  static constexpr std::size_t most_exchanges = 16384;     ///< with a description; about 200 bytes each
  /// total number of block sizes in descriptions; they are kept in the file only
  static constexpr std::size_t most_sizes = std::size_t{1} << 21;
  /// calls recorded one by one; they are kept in the file only
  static constexpr std::size_t most_samples = std::size_t{1} << 18;

  /// Creates the file that `pattern` names for `rank`. Local.
  void open(const std::string& pattern, int rank, int ranks, const std::string& algorithm);

  /// Describes `comm`, where a rank has `ranks` blocks. `number`: of the communicator; `shared`: all its ranks have this
  /// number and record. An intercommunicator needs none. Local. The result stays valid; nullptr: nothing is recorded.
  RecordedCommunicator* add(MPI_Comm comm, Rank ranks, bool inter, std::uint64_t number, bool shared);

  /// Records the beginning of a call, in which this rank sends `sent`.
  RecordedCall call_begins(RecordedCommunicator& communicator, Collective collective, bool in_place, bool derived,
                           const Blocks& sent);

  /// Records the end of a call.
  void call_ends(const RecordedCall& call);

  /// Writes the remaining data and how the program `ended`, and stops recording.
  void close(const char* ended);

  /// Writes a file without calls, if `pattern` names one: for a process that used MPI and now exits without any
  /// all-to-all.
  static void leave_unused(const std::string& pattern);

 private:
  struct Exchange {
    std::uint64_t calls = 0, first = 0, last = 0;
    std::chrono::nanoseconds total{}, shortest{}, longest{};
    bool changed = false;  ///< since the last checkpoint
  };
  /// A call recorded by itself. Times are in nanoseconds, and the begin is counted from the start of the process.
  struct Sample {
    int communicator;
    std::array<std::int64_t, 5> row;  ///< number of the call, exchange, begin, time, and number of calls it represents
  };
  struct Key {
    std::uint64_t first, second;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return static_cast<std::size_t>(key.first); }
  };

  std::uint32_t exchange_of(RecordedCommunicator& communicator, Collective collective, bool in_place, bool derived,
                            const Blocks& sent);
  std::uint32_t describe(const RecordedCommunicator& communicator, Collective collective, bool in_place, bool derived,
                         const std::string& sizes);
  void checkpoint(Clock::time_point now);
  /// Adds a line to the text, and writes the text if it is long.
  void add(const JsonMembers& line);
  /// Adds the samples to the text.
  void add_samples();
  /// Writes the text and the samples.
  void write();

  std::timed_mutex mutex_;  ///< guards all members; timed, since a process may exit from a signal handler
  int file_ = -1;
  std::string name_;
  int process_ = 0;                              ///< process that opened the file; a forked child writes nothing
  std::map<std::string, int> inter_identities_;  ///< number of intercommunicators so far, by the groups' first ranks
  std::vector<std::unique_ptr<RecordedCommunicator>> communicators_;
  std::unique_ptr<RecordedCommunicator> beyond_;
  std::vector<Exchange> exchanges_;
  std::unordered_map<Key, std::uint32_t, Hash> known_;
  std::size_t sizes_ = 0, sampled_ = 0;
  std::string text_;             ///< not yet written
  std::vector<Sample> samples_;  ///< the last ones, which are not in the text yet
  Clock::time_point opened_{}, next_checkpoint_{};
};

/// Returns the recorder of the process (session/context.hpp).
Recorder& recorder();

}  // namespace swapmeet
