#include "heap/heap.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "heap/overcommit.hpp"

namespace swapmeet::heap {

constinit PageFile detail::pages;

namespace {

using detail::pages;

constexpr std::size_t most_bytes = std::size_t{256} << 30;  // of addresses, so that 128 ranks can map all their heaps

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
std::atomic<bool> forking{false};  ///< set while a thread forks, which holds the lock until the fork is over
pthread_t forking_thread;
int copied_pipe[2] = {-1, -1};  ///< pipe by which the parent learns that its child has copied all pages
bool closed = false;            ///< there is no heap, or this process is the child of a fork

/// Holds the lock, unless this thread is in the middle of a fork.
class Locked {
 public:
  Locked() : own_(!forking.load(std::memory_order_relaxed) || !pthread_equal(forking_thread, pthread_self())) {
    if (own_) pthread_mutex_lock(&mutex);
  }
  ~Locked() {
    if (own_) pthread_mutex_unlock(&mutex);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
  bool own() const { return own_; }

 private:
  bool own_;
};

void before_fork() {
  pthread_mutex_lock(&mutex);
  forking_thread = pthread_self();
  forking = true;
  if (pages.made() && !closed && !pages.empty() && pipe2(copied_pipe, O_CLOEXEC) != 0)
    copied_pipe[0] = copied_pipe[1] = -1;
}

void close_both() {
  for (int& end : copied_pipe) {
    if (end >= 0) close(end);
    end = -1;
  }
}

void after_fork() {
  forking = false;
  pthread_mutex_unlock(&mutex);
}

void in_parent() {
  const int before = errno;
  if (copied_pipe[0] >= 0) {
    close(copied_pipe[1]);
    copied_pipe[1] = -1;
    char nothing;
    while (read(copied_pipe[0], &nothing, 1) < 0 && errno == EINTR) continue;  // until the child closes its end
  }
  close_both();
  errno = before;
  after_fork();
}

void in_child() {
  if (pages.made() && !closed) {
    if (pages.empty()) pages.remove();
    else if (copied_pipe[0] < 0 || !pages.part()) {
      constexpr char text[] =
          "swapmeet: error: a child of fork() cannot have separate memory for the blocks of its parent; it ends\n";
      static_cast<void>(!write(STDERR_FILENO, text, sizeof text - 1));
      _exit(127);
    }
  }
  closed = true;
  close_both();
  after_fork();
}

bool is_limited(__rlimit_resource what) {
  rlimit most{};
  return getrlimit(what, &most) != 0 || most.rlim_cur != RLIM_INFINITY;
}

const char* why_not() {
  if (is_limited(RLIMIT_AS)) return "the addresses of the process are limited (ulimit -v)";
  if (is_limited(RLIMIT_FSIZE)) return "the size of files is limited (ulimit -f)";
  if (kernel_counts_promises()) return "the kernel counts the memory that it promises (vm.overcommit_memory=2)";
  return nullptr;
}

/// The size of the machine's memory in bytes, rounded down to MiB.
std::size_t memory_bytes() {
  struct sysinfo machine;
  if (sysinfo(&machine) != 0) return 0;
  constexpr std::size_t whole = 1 << 20;
  return std::min<std::size_t>(std::size_t{machine.totalram} * machine.mem_unit, most_bytes) / whole * whole;
}

bool make() {
  if (closed) return false;
  const std::size_t bytes = why_not() ? 0 : memory_bytes();
  closed = bytes == 0 || pthread_atfork(before_fork, in_parent, in_child) != 0 || !pages.make(bytes);
  return !closed;
}

}  // namespace

void* take(std::size_t bytes, std::size_t alignment, bool zero) {
  if (bytes > most_bytes || alignment > most_bytes) return nullptr;
  const int before = errno;
  bool clean = false;
  void* block = nullptr;
  {
    const Locked locked;
    if (locked.own() && !closed && (pages.made() || make())) block = pages.take(bytes, alignment, clean);
  }
  if (block && zero && !clean) std::memset(block, 0, bytes);
  errno = before;
  return block;
}

bool give(void* block) {
  const int before = errno;
  const Locked locked;
  const bool given = pages.give(block);
  errno = before;
  return given;
}

bool resize(void* block, std::size_t bytes) {
  const int before = errno;
  const Locked locked;
  const bool resized = locked.own() && bytes <= most_bytes && pages.resize(block, bytes);
  errno = before;
  return resized;
}

std::size_t bytes_of(const void* block) {
  const Locked locked;
  return pages.bytes_of(block);
}

bool find(const void* address, Place& place, std::uint64_t& bytes) {
  return holds(address) && pages.find(place, bytes);
}

const char* problem() {
  const Locked locked;
  if (pages.made() && !closed) return nullptr;
  const char* const why = why_not();
  return why || !closed ? why : "the process cannot map shared memory";
}

}  // namespace swapmeet::heap
