/// Counters of intercepted calls: how many, how large, how long, by which algorithm. Printed or written at exit.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "observe/phases.hpp"
#include "observe/traffic.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// The calls of one collective on communicators of one size by one algorithm for one reason. Reasons that differ only in
/// what was measured are one: each communicator that measures has its own. The first one is shown.
struct Tally {
  Collective collective;
  std::int32_t ranks;
  std::string algorithm;
  std::string reason;
  std::string key;  ///< the reason without what was measured

  static constexpr std::size_t classes = 42;
  /// Calls by the size of their mean block: class 0 is 0 bytes, class k is [2^(k-1), 2^k) bytes.
  std::array<std::atomic<std::uint64_t>, classes> histogram{};
  std::atomic<std::uint64_t> calls{0}, bytes{0}, nanoseconds{0};
  /// Of exchanges of blocks of unequal size: messages sent, the bytes in them, and the most working memory at a time.
  std::atomic<std::uint64_t> messages{0}, message_bytes{0}, working_bytes{0};
  /// Of an online choice: seconds of a call by this algorithm and by the host MPI, medians of so many trials; 0: none.
  std::atomic<double> trial_s{0}, host_trial_s{0};
  std::atomic<int> trials{0};
  /// By phase; all 0 if nobody asked.
  std::array<std::atomic<std::uint64_t>, SWAPMEET_PHASES> phase_nanoseconds{};

  Tally(Collective c, std::int32_t r, std::string a, std::string why, std::string k)
      : collective(c), ranks(r), algorithm(std::move(a)), reason(std::move(why)), key(std::move(k)) {}
  /// `blocks`: that a rank sends; -1: one for each rank.
  void add(std::uint64_t sent_bytes, std::chrono::nanoseconds time, std::int32_t blocks = -1);
  void add_phases(const PhaseTimes& times);
  void add_traffic(const SentTraffic& sent, std::int64_t most_working_bytes);
};

/// All tallies of the process. Thread-safe.
class Statistics {
 public:
  /// The tally with these names, made if it is new. The reference stays valid.
  Tally& tally(Collective collective, std::int32_t ranks, const std::string& algorithm, const std::string& reason);

  /// A table for people.
  std::string table() const;
  /// A JSON object (schema: docs/statistics.md), in lines. `more`: other members of it, each with a comma before it.
  std::string json(int rank, int world_ranks, const std::string& more = "") const;

  bool empty() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<Tally>> tallies_;
};

/// Of the process (session/context.hpp).
Statistics& statistics();

}  // namespace swapmeet
