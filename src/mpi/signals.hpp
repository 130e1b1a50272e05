/// Signals on the threads and stacks of the library.
#pragma once

#include <signal.h>

namespace swapmeet {

/// The signals that the library's threads and stacks block and leave to the application's threads. These are all
/// signals except those that an instruction of the thread itself causes: blocking such a signal would end the process,
/// and the application may handle a fault in its memory.
inline sigset_t left_to_application() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int caused_here : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&signals, caused_here);
  return signals;
}

}  // namespace swapmeet
