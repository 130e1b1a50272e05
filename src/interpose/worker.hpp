/// A thread, and a communicator of its own, for all-to-alls that the application starts and completes later.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

#include "interpose/requests.hpp"
#include "mpi/thread.hpp"
#include "session/planned.hpp"

namespace swapmeet {

class Communicator;

/// Executes exchanges one after the other, in the order of their starts, as the blocking calls do. No rank may start a
/// later one before an earlier one; then each is reached by all ranks, whatever else the application waits for.
///
/// Each exchange is seen by the application as a receive from itself, of nothing, which the thread ends by sending
/// nothing; or one byte, which does not fit, if there was an error.
class Worker final : public Persistent {
 public:
  using Exchange = std::shared_ptr<const Request>;

  /// For the ranks of `user`, all of which are to make one, in the same order as they call collectives of `user`.
  /// Local: the others may come later. `number`: of the worker in this process.
  Worker(MPI_Comm user, int number);
  ~Worker() override;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  Rank ranks() const { return ranks_; }

  /// Starts an exchange. Local. Returns as MPI does.
  int begin(Exchange exchange, MPI_Request* request);

  /// Keeps the only exchange that is ever started, and makes its persistent request; start() starts it. Local.
  int plan(Exchange exchange, MPI_Request* request);
  int start() override;

  /// Waits until all ranks have made it. False: one of them has no thread, so none executes anything.
  bool wait_for_others();

  /// Ends the thread after what was started. Local. Nothing may be started any more.
  void close() override;
  bool ended() const { return ended_; }

 private:
  int work();
  void set(bool& state);
  void wait_for(const bool& state);
  template <class Pause>
  void wait_for_arrival(Pause pause);
  /// Waits for the other ranks, and makes the communicator. nullptr: MPI has none left.
  std::unique_ptr<Communicator> meet();
  Exchange next();  ///< nullptr: closed
  void ring(int error);

  Rank ranks_ = 0;
  int tag_;  ///< of what ends its exchanges, which come in the order in which they were started
  /// What the ranks bring to their meeting; then, the most of any.
  struct {
    int number = -1;  ///< by which they find one another
    int lacks_thread = 0;
  } meeting_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;  ///< of all ranks
  MPI_Group group_ = MPI_GROUP_NULL;
  MPI_Errhandler handler_ = MPI_ERRHANDLER_NULL;
  Exchange planned_;
  std::mutex mutex_;              ///< guards what follows
  std::condition_variable wake_;  ///< signalled at each change
  bool awaited_ = false;          ///< arrival_ is there
  bool arrived_ = false;
  std::deque<Exchange> started_;
  bool closed_ = false;
  std::atomic<bool> ended_{false};
  std::thread thread_;
};

}  // namespace swapmeet
