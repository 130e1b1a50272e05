/// The functions swapmeet_plan_*().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include <memory>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "api/given_arguments.hpp"
#include "session/context.hpp"

using swapmeet::Arguments;
using swapmeet::call_of;
using swapmeet::Collective;
using swapmeet::failed;
using swapmeet::guarded_call;
using swapmeet::KeptCall;
using swapmeet::Members;
using swapmeet::Mistake;
using swapmeet::Planned;

struct swapmeet_plan {
  std::unique_ptr<Planned> planned;
};

namespace {

/// The problem of a call of equal blocks that mistake_in() does not find; "" if there is none.
std::string problem_of_equal(const Arguments& call, const Members& members) {
  if (!call.in_place && call.send.base() == call.receive.base() && call.send.base() && call.send.count(0) > 0)
    return to_text(Mistake{Mistake::What::same_buffer});  // with every MPI, because equal blocks would overlap
  // The groups of an intercommunicator may send blocks of different sizes.
  if (!members.inter && call.send.bytes(0) != call.receive.bytes(0))
    return "a block that is sent is not as large as one that is received";
  return "";
}

/// Plans the exchange of `given`. A rank with a problem, or without memory, takes part in planning nevertheless and tells
/// the other ranks, so that all stay in step.
template <class Given>
int plan_on(MPI_Comm comm, const char* spec, swapmeet_plan** plan, const Given& given) {
  return swapmeet::call_on(comm, [&](swapmeet::Communicator& communicator) -> int {
    std::string problem;
    std::unique_ptr<KeptCall> call;
    std::optional<swapmeet::Options> options;
    std::unique_ptr<swapmeet_plan> made;
    const int lacking = swapmeet::prepared(problem, [&] {
      made = std::make_unique<swapmeet_plan>();
      const swapmeet::Degrees blocks{communicator.ranks(), communicator.ranks()};
      problem = to_text(given.mistake(blocks));
      if (problem.empty()) {
        const Arguments arguments = given.arguments(communicator, blocks);
        if (Given::collective == Collective::alltoall) problem = problem_of_equal(arguments, communicator.members());
        call = std::make_unique<KeptCall>(arguments);
      }
      options = swapmeet::options_by(spec, "swapmeet_plan", problem);
      if (!plan) problem = "the address for the plan is NULL";
    });
    if (!problem.empty()) call.reset();
    int error = MPI_SUCCESS;
    std::unique_ptr<Planned> planned = communicator.planner().plan(std::move(call), options, problem, error);
    if (!planned) return failed(lacking ? lacking : error, problem);
    made->planned = std::move(planned);
    *plan = made.release();
    return MPI_SUCCESS;
  });
}

}  // namespace

#define SWAPMEET_PLAN(suffix, Count, Displacement)                                                                    \
  SWAPMEET_EXPORT int swapmeet_plan_alltoall##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,     \
                                                     void* recvbuf, Count recvcount, MPI_Datatype recvtype,           \
                                                     MPI_Comm comm, const char* spec, swapmeet_plan** plan) {         \
    return plan_on(comm, spec, plan, call_of<false>(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));     \
  }                                                                                                                   \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallv##suffix(                                                                \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], MPI_Datatype sendtype,             \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm,    \
      const char* spec, swapmeet_plan** plan) {                                                                       \
    return plan_on(comm, spec, plan,                                                                                  \
                   call_of<false>(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts, rdispls, recvtype));   \
  }                                                                                                                   \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallw##suffix(                                                                \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], const MPI_Datatype sendtypes[],    \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], const MPI_Datatype recvtypes[],          \
      MPI_Comm comm, const char* spec, swapmeet_plan** plan) {                                                        \
    return plan_on(comm, spec, plan,                                                                                  \
                   call_of<false>(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, recvtypes)); \
  }

SWAPMEET_PLAN(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_PLAN(_c, MPI_Count, MPI_Aint)
#endif

SWAPMEET_EXPORT int swapmeet_plan_start(swapmeet_plan* plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  return guarded_call([&]() -> int {
    Planned& planned = *plan->planned;
    const auto begin = [&] { return planned.under_way() ? MPI_ERR_REQUEST : planned.start(); };
    const int error = swapmeet::context().under_way.start(planned, begin);
    if (error == MPI_ERR_REQUEST) return failed(error, "the plan is under way already");
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_test(swapmeet_plan* plan, int* done) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  if (!done) return failed(MPI_ERR_ARG, "the address of `done` is NULL");
  return guarded_call([&]() -> int {
    *done = swapmeet::context().under_way.advance(*plan->planned);
    const int error = *done ? plan->planned->result() : MPI_SUCCESS;
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_wait(swapmeet_plan* plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  return guarded_call([&]() -> int {
    swapmeet::context().under_way.finish(*plan->planned);
    const int error = plan->planned->result();
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_free(swapmeet_plan** plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the address of the plan is NULL");
  if (!*plan) return MPI_SUCCESS;
  return guarded_call([&]() -> int {
    if (swapmeet::context().under_way.has(*(*plan)->planned))
      return failed(MPI_ERR_REQUEST, "the plan is under way: wait for it first");
    delete *plan;
    *plan = nullptr;
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_describe(const swapmeet_plan* plan, swapmeet_plan_description* description) {
  if (!plan || !description) return failed(MPI_ERR_ARG, "the plan, or the address of its description, is NULL");
  return guarded_call([&]() -> int {
    const Planned& planned = *plan->planned;
    const auto sent = planned.traffic();
    *description = {planned.spec().c_str(),  planned.reason().c_str(), sent ? sent->messages : -1,
                    sent ? sent->bytes : -1, planned.scratch_bytes(),  planned.expected_seconds()};
    return MPI_SUCCESS;
  });
}
