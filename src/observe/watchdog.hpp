/// A thread that reports calls in which nothing moves. It looks at what the calling threads publish (observe/post.hpp),
/// takes no part in exchanges and calls no MPI. Off by default: then nothing is published.
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
#include "observe/post.hpp"
#include "observe/stall.hpp"

namespace swapmeet {

class Watchdog {
 public:
  /// Who watches, and what for.
  struct Setting {
    double seconds = 0;       ///< that nothing has moved when it is reported
    std::string file;         ///< "": to standard error
    int rank = 0, ranks = 1;  ///< of MPI_COMM_WORLD
    bool threads = false;     ///< several may call MPI at once
  };

  Watchdog() = default;
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Begins to watch. Returns "", or why it cannot.
  std::string start(Setting setting);
  bool on() const { return board_ != nullptr; }

  /// MPI_Finalize has been called.
  void finalizes();
  /// The process ends.
  void stop();

  /// A post for the calls on a communicator, until it is given back; nullptr: none is left, or nobody watches.
  Post* take(Party party);
  void give_back(Post* post);

  /// The process of a rank of MPI_COMM_WORLD, on this node.
  void knows_process(int world_rank, const NodeRecord& process);

 private:
  using Clock = std::chrono::steady_clock;

  /// What the watchdog has seen of a post.
  struct Track {
    std::int64_t party = 0, moves = -1, looks = 0;
    std::chrono::duration<double> still{};  ///< nothing has moved for so long
    bool reported = false;
    std::int64_t number = PostCopy::no_number;  ///< as it was reported
  };

  void watch();
  void look(std::chrono::duration<double> passed);
  void report(const PostCopy& seen, double seconds);
  std::vector<OtherRank> neighbours_of(const Party& party);
  void report_no_call();
  void tell(const std::string& text, const std::string& record);
  void write(const std::string& record);
  PostCopy read(const Post& post) const;
  std::shared_ptr<const Party> party_of(const PostCopy& seen);

  Setting setting_;
  std::unique_ptr<Board> board_;
  int process_ = 0;  ///< that watches: not a child of it
  std::string file_;
  bool file_failed_ = false;
  std::thread thread_;
  std::vector<Track> tracks_;
  std::chrono::duration<double> no_call_{};
  std::int64_t moves_of_all_ = -1;
  bool no_call_reported_ = false;

  std::mutex mutex_;  ///< guards what follows; calling threads take it when they make and free a communicator, only
  std::condition_variable wakes_;
  bool ends_ = false;
  std::int64_t parties_made_ = 0;
  bool full_ = false;  ///< a communicator got no post
  std::unordered_map<std::int64_t, std::shared_ptr<const Party>> parties_;
  std::unordered_map<int, NodeRecord> processes_;  ///< by rank of MPI_COMM_WORLD
};

}  // namespace swapmeet
