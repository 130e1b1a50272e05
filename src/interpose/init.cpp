/// The entry points MPI_Init, MPI_Init_thread and MPI_Finalize.
///
/// MPI_Init makes the state of the process. It is also the only call in which all ranks may agree before the first
/// non-blocking call, which must not wait for other ranks. MPI_Finalize ends the activities that must stop before the
/// host MPI begins to end; everything else ends with MPI_COMM_SELF (session/context.cpp). Each entry point calls the
/// next definition of its own name, because a tool that is loaded after this library begins there.
#include <atomic>

#include "api/export.hpp"
#include "interpose/foreign.hpp"
#include "interpose/job_agreement.hpp"
#include "mpi/guard.hpp"
#include "mpi/progress.hpp"
#include "session/context.hpp"

namespace {

void begin() {
  swapmeet::guarded([] {
    if (!swapmeet::mpi_suits()) return MPI_SUCCESS;
    static std::atomic<bool> called{false};  // a tool's MPI_Init calls PMPI_Init, which this library defines, too
    if (called.exchange(true) && !swapmeet::simulated) return MPI_SUCCESS;
    swapmeet::attach_to_mpi();
    swapmeet::context().job.make_alone();
    if (swapmeet::context().world_ranks > 1) swapmeet::context().job.begin(swapmeet::patience_s());
    swapmeet::agree_in_job();
    return MPI_SUCCESS;
  });
}

void end() {
  swapmeet::guarded([] {
    swapmeet::end_thread();
    swapmeet::end_progress();
    // Invalidates the caches of recent communicators. Communicators of sessions live on, and their calls are left to
    // the host MPI.
    swapmeet::forget_handles();
    return MPI_SUCCESS;
  });
}

}  // namespace

#define SWAPMEET_INIT(name, parameters, ...)                                                 \
  SWAPMEET_EXPORT int name parameters {                                                      \
    const auto next = reinterpret_cast<decltype(&name)>(swapmeet::needed_mpi_symbol(#name)); \
    const int error = next(__VA_ARGS__);                                                     \
    if (!error) begin();                                                                     \
    return error;                                                                            \
  }

SWAPMEET_INIT(MPI_Init, (int* argc, char*** argv), argc, argv)
SWAPMEET_INIT(PMPI_Init, (int* argc, char*** argv), argc, argv)
SWAPMEET_INIT(MPI_Init_thread, (int* argc, char*** argv, int required, int* provided), argc, argv, required, provided)
SWAPMEET_INIT(PMPI_Init_thread, (int* argc, char*** argv, int required, int* provided), argc, argv, required, provided)

#define SWAPMEET_FINALIZE(name)                                                              \
  SWAPMEET_EXPORT int name() {                                                               \
    const auto next = reinterpret_cast<decltype(&name)>(swapmeet::needed_mpi_symbol(#name)); \
    end();                                                                                   \
    return next();                                                                           \
  }

SWAPMEET_FINALIZE(MPI_Finalize)
SWAPMEET_FINALIZE(PMPI_Finalize)

// Communicators of sessions may be used after MPI_Finalize, in which this library ends. So it must know that there are
// sessions.
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define SWAPMEET_SESSION(name)                                                         \
  SWAPMEET_NAMED(name, (swapmeet::Handle a, swapmeet::Handle b, swapmeet::Handle c)) { \
    swapmeet::sessions_opened = true;                                                  \
    return swapmeet::pass_on(#name, a, b, c);                                          \
  }

SWAPMEET_SESSION(MPI_Session_init)
SWAPMEET_SESSION(PMPI_Session_init)
#endif
