/// Counters of intercepted calls: their number, sizes, times and algorithms. They are printed or written at exit.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "observe/observer.hpp"
#include "observe/traffic.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

class JsonMembers;

/// The counters of one collective, on communicators of one size, by one algorithm, for one reason. Reasons that differ
/// only in measured numbers count as one, since each communicator that measures has its own numbers; the first reason
/// is shown.
struct Tally {
  Collective collective;
  std::int32_t ranks;
  std::string algorithm;
  std::string reason;
  std::string key;  ///< the reason without measured numbers

  static constexpr std::size_t classes = 42;
  /// Calls by the size of their mean block: class 0 is 0 bytes, class k is [2^(k-1), 2^k) bytes.
  std::array<std::atomic<std::uint64_t>, classes> histogram{};
  std::atomic<std::uint64_t> calls{0}, bytes{0}, nanoseconds{0};
  /// For unequal blocks: messages sent, bytes in them, and the most working memory at a time.
  std::atomic<std::uint64_t> messages{0}, message_bytes{0}, working_bytes{0};
  /// For a choice by online tuning: median seconds of a call by this algorithm and by the host MPI, and the number of
  /// trials. 0: none.
  std::atomic<double> trial_s{0}, host_trial_s{0};
  std::atomic<int> trials{0};
  /// By phase; all 0 unless phases are measured.
  std::array<std::atomic<std::uint64_t>, SWAPMEET_PHASES> phase_nanoseconds{};

  Tally(Collective c, std::int32_t r, std::string a, std::string why, std::string k)
      : collective(c), ranks(r), algorithm(std::move(a)), reason(std::move(why)), key(std::move(k)) {}
  /// `blocks`: number of blocks that a rank sends; -1: one for each rank.
  void add(std::uint64_t sent_bytes, std::chrono::nanoseconds time, std::int32_t blocks = -1);
  void add_phases(const PhaseTimes& times);
  void add_traffic(const SentTraffic& sent, std::int64_t most_working_bytes);
};

/// All counters of the process. Thread-safe.
class Statistics {
 public:
  /// Returns the counters of these calls, which are created if needed. The reference stays valid.
  Tally& tally(Collective collective, std::int32_t ranks, const std::string& algorithm, const std::string& reason);

  /// Returns a table for people.
  std::string table() const;
  /// Returns a JSON object of several lines (schema: docs/statistics.md). `job`: additional members; nullptr: none.
  std::string json(int rank, int world_ranks, const JsonMembers* job = nullptr) const;

  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Tally>> tallies_;
};

/// Returns the counters of the process (session/context.hpp).
Statistics& statistics();

}  // namespace swapmeet
