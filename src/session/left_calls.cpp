#include "session/left_calls.hpp"

#include <memory>
#include <new>

#include "session/context.hpp"
#include "session/duplicates.hpp"

namespace swapmeet {

namespace {

/// Delete callback: MPI calls it when the communicator is freed.
int forget_left_calls(MPI_Comm, int, void* attribute, void*) {
  forget_handles();  // caches name the counter
  delete static_cast<LeftCalls*>(attribute);
  return MPI_SUCCESS;
}

/// The counter of `comm`; nullptr if no call on it was left. It lives as long as `comm`.
LeftCalls* left_calls_of(MPI_Comm comm) {
  return static_cast<LeftCalls*>(attribute_of(comm, context().left_calls_keyval));
}

}  // namespace

void begin_to_leave_calls() {
  int& keyval = context().left_calls_keyval;
  if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget_left_calls, &keyval, nullptr) != MPI_SUCCESS)
    keyval = MPI_KEYVAL_INVALID;
}

// Setting up takes some 5 us on two ranks. A small call takes 1.4 us longer with MPICH than with this library, and 0.06
// us longer with Open MPI (docs/measurements/setup.md).
int first_calls_of(MPI_Comm comm, const Options& options) {
  if (!context().job.facts().alike || comm == MPI_COMM_WORLD || options.algorithm || !options.tuning.evidence.empty() ||
      options.check || options.recording() || !options.trace.file.empty())
    return 0;
  return options.first_calls.value_or(host_is_mpich ? 1 : 8);
}

LeftCalls* leaves_unobserved(MPI_Comm comm, const Options& options) {
  if (options.statistics || options.phases || context().watchdog.on()) return nullptr;
  const int most = first_calls_of(comm, options);
  if (most == 0) return nullptr;
  LeftCalls* left = left_calls_of(comm);
  if (!left) {
    if (is_being_freed(comm)) return nullptr;  // no attribute must be set then: see BeingFreed
    std::unique_ptr<LeftCalls> made(new (std::nothrow) LeftCalls{0, most});
    if (!made || PMPI_Comm_set_attr(comm, context().left_calls_keyval, made.get()) != MPI_SUCCESS) return nullptr;
    left = made.release();
  }
  return left->leaves() ? left : nullptr;
}

// Threads may still have the counter in their caches.
int end_leaving_unobserved(MPI_Comm comm) {
  LeftCalls* const left = left_calls_of(comm);
  if (!left) return 0;
  left->most = 0;
  return left->made;
}

}  // namespace swapmeet
