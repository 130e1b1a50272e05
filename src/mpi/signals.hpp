/// Signals on threads and stacks of our own.
#pragma once

#include <signal.h>

namespace swapmeet {

/// The signals that are left to the application's threads and their stacks: all but those that an instruction of the thread itself
/// causes, for it would end the process to block these, and the application may handle a fault in its memory.
inline sigset_t left_to_application() {
  sigset_t signals;
  sigfillset(&signals);
  for (const int caused_here : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT})
    sigdelset(&signals, caused_here);
  return signals;
}

}  // namespace swapmeet
