/// Threads of the library.
#pragma once

#include <signal.h>

#include <cerrno>
#include <new>
#include <system_error>
#include <thread>

#include "mpi/guard.hpp"
#include "mpi/signals.hpp"

namespace swapmeet {

/// Makes a thread that executes `work` and leaves the signals of the process to the application's threads. The error
/// that `work` returns is ignored. Returns 0, or the errno value of the failure.
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
