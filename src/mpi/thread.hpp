/// Threads of our own.
#pragma once

#include <signal.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

#include "mpi/guard.hpp"
#include "mpi/signals.hpp"

namespace swapmeet {

/// Makes a thread that leaves the signals of the process to the application's. `work` returns an error, which nobody
/// gets. Returns 0, or why there can be no thread.
template <class Work>
int make_thread(std::thread& thread, Work work) {
  const sigset_t blocked = left_to_application();
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  int error = 0;
  try {
    thread = std::thread([work] { guarded(work); });
  } catch (const std::system_error& refused) { error = refused.code().value(); } catch (const std::bad_alloc&) {
    error = ENOMEM;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace swapmeet
