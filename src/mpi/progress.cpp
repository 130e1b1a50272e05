#include "mpi/progress.hpp"

#include <atomic>

#include "mpi/mpi.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

namespace {

std::atomic<bool (*)()> advance_all{nullptr};
std::atomic<bool> ended{false};

#if defined(OMPI_MAJOR_VERSION)

using Register = int (*)(int (*)());

Register registrar() {
  static const auto found = reinterpret_cast<Register>(mpi_symbol("opal_progress_register"));
  return found;
}

int poll() { return !ended.load(std::memory_order_relaxed) && advance_all.load(std::memory_order_relaxed)(); }

bool register_poll() { return registrar()(poll) == 0; }
void deregister_poll() {}

#elif defined(MPICH_VERSION)

// As its mpi.h has them, which an older one has not.
enum : int { no_progress = 0, done = 1 };
constexpr int no_stream = 0x3c000000;
using Poll = int (*)(void* thing);
using Register = int (*)(Poll, void* state, int stream);

Register registrar() {
  static const auto found = reinterpret_cast<Register>(mpi_symbol("PMPIX_Async_start"));
  return found;
}

std::atomic<bool> registered{false};

int poll(void*) {
  if (ended.load(std::memory_order_relaxed)) return registered = false, done;
  advance_all.load(std::memory_order_relaxed)();
  return no_progress;
}

bool register_poll() {
  registered = registrar()(poll, nullptr, no_stream) == MPI_SUCCESS;
  return registered;
}

/// MPI_Finalize waits for what is registered, but does not call it.
void deregister_poll() {
  int flag = 0;
  while (registered) PMPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

#else

void* registrar() { return nullptr; }
bool register_poll() { return false; }
void deregister_poll() {}

#endif

}  // namespace

bool has_progress() { return !simulated && registrar() != nullptr; }

bool begin_progress(bool (*advance)()) {
  bool (*nobody)() = nullptr;
  if (!advance_all.compare_exchange_strong(nobody, advance)) return true;
  if (has_progress() && register_poll()) return true;
  advance_all = nullptr;
  return false;
}

void end_progress() {
  ended = true;
  deregister_poll();
}

}  // namespace swapmeet
