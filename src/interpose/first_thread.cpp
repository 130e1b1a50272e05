#include "interpose/first_thread.hpp"

#include <chrono>
#include <utility>

#include "mpi/report.hpp"
#include "mpi/thread.hpp"

namespace swapmeet {

int FirstThread::make(std::string late) {
  return make_thread(thread_, [this, late = std::move(late)] { return wait(late); });
}

int FirstThread::wait(const std::string& late) {
  std::unique_lock lock(mutex_);
  if (!wake_.wait_for(lock, std::chrono::seconds(20), [this] { return met_; })) say(late);
  wake_.wait(lock, [this] { return work_ || ends_; });
  const std::function<int()> work = std::exchange(work_, nullptr);
  lock.unlock();
  return work ? work() : MPI_SUCCESS;
}

void FirstThread::met() {
  const std::lock_guard lock(mutex_);
  met_ = true;
  wake_.notify_one();
}

std::thread FirstThread::take(std::function<int()> work) {
  if (!made()) return {};
  const std::lock_guard lock(mutex_);
  work_ = std::move(work);
  wake_.notify_one();
  return std::move(thread_);
}

void FirstThread::end() {
  if (!made()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = met_ = true;
    wake_.notify_one();
  }
  thread_.join();
}

}  // namespace swapmeet
