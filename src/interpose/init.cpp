/// MPI_Init and MPI_Init_thread: where what belongs to the process is made, and the one moment that all ranks share
/// before a call that must not wait for others. MPI_Finalize: where what must be over before the host MPI begins to end is
/// ended (the rest ends with MPI_COMM_SELF, session/context.cpp). Each goes on to the next of its own name, for a tool that is
/// loaded behind us begins there.
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
    static std::atomic<bool> called{false};  // MPI_Init of a tool behind us calls PMPI_Init, which is ours too
    if (called.exchange(true) && !swapmeet::simulated) return MPI_SUCCESS;
    swapmeet::attach_to_mpi();
    if (swapmeet::context().world_ranks > 1) swapmeet::context().job.begin(swapmeet::patience_s());
    swapmeet::agree_in_job();
    return MPI_SUCCESS;
  });
}

void end() {
  swapmeet::guarded([] {
    swapmeet::end_thread();
    swapmeet::end_progress();
    swapmeet::deaths.fetch_add(1);  // those of sessions live on, and are the host MPI's
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

// What sessions make may be used after MPI_Finalize, by which we end.
#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
#define SWAPMEET_SESSION(name)                                                         \
  SWAPMEET_NAMED(name, (swapmeet::Handle a, swapmeet::Handle b, swapmeet::Handle c)) { \
    swapmeet::sessions_opened = true;                                                  \
    return swapmeet::pass_on(#name, a, b, c);                                          \
  }

SWAPMEET_SESSION(MPI_Session_init)
SWAPMEET_SESSION(PMPI_Session_init)
#endif
