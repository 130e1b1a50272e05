/// Notification of sanitizers that a thread changes to another stack. Without it, AddressSanitizer reports variables on
/// the other stack as overflows, and ThreadSanitizer attributes calls there to the thread's own stack. Other builds do
/// nothing.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

/// Attribute of functions that begin on one stack and end on another, from the view of the sanitizers.
#define SWAPMEET_CHANGES_STACKS __attribute__((no_sanitize("thread", "address")))

namespace swapmeet {

/// The stack of one coroutine, and the stack of the thread that has resumed it.
class StackSwitch {
 public:
  StackSwitch(const void* lowest, std::size_t bytes) : inside_{lowest, bytes} {
#ifdef __SANITIZE_THREAD__
    inside_.fiber = __tsan_create_fiber(0);
#endif
  }
  ~StackSwitch() {
#ifdef __SANITIZE_ADDRESS__
    __asan_unpoison_memory_region(inside_.lowest, inside_.bytes);  // the body may not have ended
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_destroy_fiber(inside_.fiber);
#endif
  }
  StackSwitch(const StackSwitch&) = delete;
  StackSwitch& operator=(const StackSwitch&) = delete;

  /// Called immediately before the thread changes to the coroutine's stack, and immediately after it has come back.
  SWAPMEET_CHANGES_STACKS void before_resuming() {
#ifdef __SANITIZE_THREAD__
    outside_.fiber = __tsan_get_current_fiber();
#endif
    leave(&outside_.frames, inside_);
  }
  SWAPMEET_CHANGES_STACKS void after_resuming() { arrive(outside_.frames, nullptr); }

  /// Called on the coroutine's stack: at its beginning, before and after each suspension, and at its end.
  SWAPMEET_CHANGES_STACKS void begin() { arrive(nullptr, &outside_); }
  SWAPMEET_CHANGES_STACKS void before_suspending() { leave(&inside_.frames, outside_); }
  SWAPMEET_CHANGES_STACKS void after_suspending() { arrive(inside_.frames, &outside_); }
  SWAPMEET_CHANGES_STACKS void end() { leave(nullptr, outside_); }

 private:
  struct Stack {
    const void* lowest = nullptr;
    std::size_t bytes = 0;
    void* frames = nullptr;  ///< AddressSanitizer's copies of the stack's frames
    void* fiber = nullptr;   ///< ThreadSanitizer's identifier of the stack
  };

  SWAPMEET_CHANGES_STACKS static void leave([[maybe_unused]] void** frames, [[maybe_unused]] const Stack& for_which) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_start_switch_fiber(frames, for_which.lowest, for_which.bytes);
#endif
#ifdef __SANITIZE_THREAD__
    __tsan_switch_to_fiber(for_which.fiber, 0);
#endif
  }
  SWAPMEET_CHANGES_STACKS static void arrive([[maybe_unused]] void* frames, [[maybe_unused]] Stack* from) {
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(frames, from ? &from->lowest : nullptr, from ? &from->bytes : nullptr);
#endif
  }

  Stack inside_, outside_;
};

}  // namespace swapmeet
