#include "mpi/slow_wait.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <map>
#include <mutex>
#include <thread>

#include "mpi/guard.hpp"
#include "mpi/job_processes.hpp"
#include "mpi/progress.hpp"
#include "mpi/report.hpp"
#include "mpi/thread.hpp"
#include "mpi/world_ranks.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

std::atomic<bool> all_came{false};  ///< whether all ranks of the job are known to have the library

std::mutex slow_wait_mutex;                    ///< guards watched_wait and thread_looks
std::atomic<SlowWait*> watched_wait{nullptr};  ///< the watched wait, or nullptr
bool thread_looks = false;                     ///< whether a thread checks the time

constexpr int looks_each_limit = 10;  ///< checks of the thread within one limit
constexpr int limits_of_last = 3;     ///< limits until the second call of report(), the late one

/// Returns, for example, "rank 3 (process 4711) runs without the library".
std::string text_of(const JobProcess& one) {
  return "rank " + std::to_string(one.world_rank) + " (process " + std::to_string(one.process) + ") " +
         (one.instead.empty() ? "runs without the library" : "has loaded " + one.instead);
}

}  // namespace

SlowWait::SlowWait(MPI_Comm comm, const char* where, double limit_s) : where_(where), limit_(limit_s) {
  if (simulated || all_came.load(std::memory_order_relaxed)) return;
  world_ranks_ = world_ranks_of(comm);
  PMPI_Comm_rank(comm, &rank_);
  world_rank_ = world_ranks_[static_cast<std::size_t>(rank_)];
  looked_ = Clock::now();
  const std::lock_guard lock(slow_wait_mutex);
  if (watched_wait) return;
  watched_wait = this;
  watched_ = true;
  if (begin_looking(look_at_current) || thread_looks) return;
  std::thread thread;
  thread_looks = make_thread(thread, look_now_and_then) == 0;
  if (thread_looks) thread.detach();
}

SlowWait::~SlowWait() {
  if (!watched_) return;
  end_looking();
  const std::lock_guard lock(slow_wait_mutex);
  watched_wait = nullptr;
}

void SlowWait::all_ranks_came() { all_came.store(true, std::memory_order_relaxed); }

/// The callback in the host MPI's progress, called by any thread that waits in it. Returns whether it is still needed.
bool SlowWait::look_at_current() {
  constexpr unsigned looks_between = 16;  ///< calls for each reading of the clock
  static std::atomic<unsigned> looks{0};
  const unsigned number = looks.load(std::memory_order_relaxed);
  looks.store(number + 1, std::memory_order_relaxed);
  if (number % looks_between != 0) return watched_wait != nullptr;
  const std::unique_lock lock(slow_wait_mutex, std::try_to_lock);
  SlowWait* const wait = lock ? watched_wait.load() : nullptr;
  if (wait) wait->look();
  return watched_wait != nullptr;
}

/// The body of the thread that checks the time if the host MPI has no callbacks.
int SlowWait::look_now_and_then() {
  std::unique_lock lock(slow_wait_mutex);
  while (SlowWait* const wait = watched_wait) {
    wait->look();
    const std::chrono::duration<double> pause = wait->limit_ / looks_each_limit;
    lock.unlock();
    std::this_thread::sleep_for(pause);
    lock.lock();
  }
  return thread_looks = false, MPI_SUCCESS;
}

/// Adds up the time in which the host MPI makes progress, and calls report() when it exceeds the limit. Each interval
/// counts for at most a quarter of the limit, because a rank that computes meanwhile does not wait.
void SlowWait::look() {
  const Clock::time_point now = Clock::now();
  waited_ += std::min<std::chrono::duration<double>>(now - looked_, limit_ / 4);
  looked_ = now;
  const bool due = waited_ > limit_ * (asked_ == 0 ? 1 : limits_of_last);
  if (asked_ < 2 && due) guarded([this] { return report(asked_++ > 0), MPI_SUCCESS; });
}

/// Prints the line, if this rank is the one to do so. If ranks of this node lack the library, the first rank of the
/// node that has it prints. If only ranks of other nodes may lack it, rank 0 of the communicator prints. Rank 0 itself
/// may lack the library. So later (`late`) the first rank with the library on the node of the last rank prints, whether
/// or not rank 0 has done so: it cannot know.
void SlowWait::report(bool late) {
  std::map<int, JobProcess> here;
  for (JobProcess& one : job_processes(world_rank_)) here.emplace(one.world_rank, std::move(one));
  std::vector<const JobProcess*> without;
  bool all_here = true;
  for (std::size_t i = 0; i < world_ranks_.size(); ++i) {
    const auto found = here.find(world_ranks_[i]);
    const bool on_node = found != here.end();
    if (on_node && found->second.has_ours && static_cast<int>(i) < rank_) return;
    if (on_node && !found->second.has_ours) without.push_back(&found->second);
    all_here &= on_node;
  }
  const bool last_here = rank_ + 1 == static_cast<int>(world_ranks_.size()) || here.contains(world_ranks_.back());
  const std::string waits =
      "rank " + std::to_string(world_rank_) + " has waited for " + fixed_text(waited_.count(), 0) + " s in " + where_;
  if (!without.empty()) {
    const std::size_t more = without.size() - 1;
    asked_ = 2;
    warn(waits + ": " + text_of(*without.front()) + (more > 0 ? ", and " + std::to_string(more) + " more" : "") + ". " +
         how_to_preload());
  } else if (!all_here && (late ? last_here : rank_ == 0)) {
    asked_ = 2;
    warn(waits + ": ranks " + (here.empty() ? "" : "on other nodes ") +
         "are late or, more likely, run without the library. " + how_to_preload());
  }
}

std::string how_to_preload() {
  const char* const by_mpi = host_is_mpich ? "MPICH: mpiexec -genv LD_PRELOAD FILE" : "Open MPI: mpirun -x LD_PRELOAD";
  return std::string("LD_PRELOAD must reach all ranks (") + by_mpi +
         "; Slurm: srun --export=ALL; `swapmeet run` sees to it). To check, launch `env` instead of the program: each "
         "rank "
         "must print LD_PRELOAD, and no rank that it cannot be preloaded";
}

}  // namespace swapmeet
