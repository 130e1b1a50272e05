/// The watchdog: a thread that reports calls in which nothing moves. It reads what the calling threads publish
/// (observe/call_state.hpp), takes no part in exchanges and calls no MPI. Off by default; then nothing is published.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "node/node_peers.hpp"
#include "observe/call_state.hpp"
#include "observe/stall.hpp"

namespace swapmeet {

class JsonMembers;

class Watchdog {
 public:
  /// The settings of the watchdog.
  struct Setting {
    double seconds = 0;       ///< time without any event after which a call is reported
    std::string file;         ///< "": standard error
    int rank = 0, ranks = 1;  ///< in MPI_COMM_WORLD
    bool threads = false;     ///< whether several threads may call MPI at once
  };

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Starts the watchdog. Returns "" or the problem.
  std::string start(Setting setting);
  bool on() const { return published_ != nullptr; }

  /// Publishes that MPI_Finalize has been called.
  void finalizes();
  /// Stops the watchdog, at the end of the process.
  void stop();

  /// Returns a call state for a communicator; nullptr if none is free, or without a watchdog.
  OwnCallState take(WatchedCommunicator communicator);

  /// Registers the process of a node peer by its rank in MPI_COMM_WORLD.
  void knows_process(int world_rank, const NodeRecord& process);

 private:
  using Clock = std::chrono::steady_clock;

  /// How one call state has looked to the watchdog so far.
  struct Track {
    std::int64_t communicator = 0, moves = -1, looks = 0;
    std::chrono::duration<double> still{};  ///< time without any event
    bool reported = false;
    std::int64_t number = CallState::no_number;  ///< number of the communicator at the report
  };

  void give_back(CallState* state);
  void watch();
  void look(std::chrono::duration<double> passed);
  void report(const CallStateCopy& seen, double seconds);
  std::vector<OtherRank> node_peers_of(const WatchedCommunicator& communicator);
  void report_no_call();
  void tell(const std::string& text, const JsonMembers& record);
  void write(const JsonMembers& record);
  /// The communicator with this number in the process; nullptr if it has been freed, or for 0.
  std::shared_ptr<const WatchedCommunicator> watched_communicator(std::int64_t number);

  Setting setting_;
  std::unique_ptr<CallStates> published_;
  int process_ = 0;  ///< process that started the watchdog, not a child of it
  std::string file_;
  bool file_failed_ = false;
  std::thread thread_;
  std::vector<Track> tracks_;
  std::chrono::duration<double> no_call_{};
  std::int64_t moves_of_all_ = -1;
  bool no_call_reported_ = false;

  /// guards the members below; calling threads lock it only when they create and free a communicator
  std::mutex mutex_;
  std::condition_variable wakes_;
  bool ends_ = false;
  std::int64_t communicators_made_ = 0;
  bool full_ = false;  ///< some communicator got no call state
  std::unordered_map<std::int64_t, std::shared_ptr<const WatchedCommunicator>> communicators_;
  std::unordered_map<int, NodeRecord> processes_;  ///< by rank in MPI_COMM_WORLD
  std::vector<std::unique_ptr<CallState::Word[]>>
      lists_;  ///< of call states; they are kept, since a watchdog may be reading them
};

}  // namespace swapmeet
