/// What the application's all-to-alls are, written down for `swapmeet profile`: one file for each rank, whose format is
/// in docs/profile.md. Calls that are alike are described once and counted. Memory is bounded, whatever the application
/// does.
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
#include "team/peers.hpp"

namespace swapmeet {

/// A communicator of the application, as far as the recorder knows it.
struct RecordedCommunicator {
  int index = 0;  ///< in the file; -1: one of those beyond the limit
  Rank ranks = 0;
  std::uint64_t calls = 0;  ///< so far
  /// Of each collective, the exchange that stands for those beyond the limit, and for all of neighbours; -1: there is none yet.
  std::array<int, collective_names.size()> undescribed{-1, -1, -1, -1, -1, -1};
};

/// A call under way; or none.
struct RecordedCall {
  RecordedCommunicator* communicator = nullptr;
  std::uint32_t exchange = 0;
  std::uint64_t call = 0;
  std::chrono::steady_clock::time_point begin{};

  void done() const;
};

/// Thread-safe.
class Recorder {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t most_communicators = 4096;  ///< described; about 100 bytes each
  static constexpr std::size_t most_exchanges = 16384;     ///< described; about 200 bytes each
  /// numbers in their descriptions, in the file only
  static constexpr std::size_t most_sizes = std::size_t{1} << 21;
  static constexpr std::size_t most_samples = std::size_t{1} << 18;  ///< single calls, in the file only

  /// Begins the file that `pattern` names for `rank`. Local.
  void open(const std::string& pattern, int rank, int ranks, const std::string& algorithm);

  /// Describes the communicator of `peers`, whose blocks are `ranks`. `agreed`: all its ranks record, and it is no intercommunicator: it
  /// gets an identity that they share. Collective then; else local. The result stays valid; nullptr: nothing is
  /// recorded.
  RecordedCommunicator* add(const Peers& peers, Rank ranks, bool inter, bool agreed);

  /// A call that begins now, in which `sent` is what this rank sends.
  RecordedCall note(RecordedCommunicator& communicator, Collective collective, bool in_place, bool derived,
                    const Blocks& sent);

  /// That it is done.
  void done(const RecordedCall& noted);

  /// Writes what is left and how it `ended`. Nothing is recorded any more.
  void close(const char* ended);

  /// At the end of a process that used MPI but no all-to-all: leaves a file that says so, if `pattern` asks for one.
  static void leave_unused(const std::string& pattern);

 private:
  struct Exchange {
    std::uint64_t calls = 0, first = 0, last = 0;
    std::chrono::nanoseconds total{}, shortest{}, longest{};
    bool changed = false;  ///< since it was last written
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
  std::string identity(const Peers& peers, bool inter, bool agreed);
  void sample(const RecordedCall& noted, Clock::time_point end);
  void end_samples();
  void checkpoint(Clock::time_point now);
  void write();

  std::timed_mutex mutex_;  ///< guards everything; timed, for a process may exit from a signal handler
  int file_ = -1;
  std::string name_;
  int process_ = 0;  ///< a forked child writes nothing
  int rank_ = 0;
  std::int64_t identities_ = 0;                  ///< given so far
  std::map<std::string, int> inter_identities_;  ///< intercommunicators of the same groups so far
  std::vector<std::unique_ptr<RecordedCommunicator>> communicators_;
  std::unique_ptr<RecordedCommunicator> beyond_;
  std::vector<Exchange> exchanges_;
  std::unordered_map<Key, std::uint32_t, Hash> known_;
  std::size_t sizes_ = 0, samples_ = 0;
  std::string text_;  ///< not yet written
  /// the communicator of the line of samples that text_ ends with, and their number
  int samples_of_ = -1, line_samples_ = 0;
  Clock::time_point opened_{}, next_checkpoint_{};
};

/// Of the process (session/context.hpp).
Recorder& recorder();

}  // namespace swapmeet
