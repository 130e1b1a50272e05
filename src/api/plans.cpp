/// The functions swapmeet_plan_*().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include <memory>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "api/request.hpp"
#include "session/context.hpp"

using swapmeet::EqualSide;
using swapmeet::failed;
using swapmeet::guarded;
using swapmeet::guarded_call;
using swapmeet::Members;
using swapmeet::Mistake;
using swapmeet::Planned;
using swapmeet::Rank;
using swapmeet::Request;
using swapmeet::to_text;
using swapmeet::UnequalSide;

struct swapmeet_plan {
  std::unique_ptr<Planned> planned;
};

namespace {

/// Plans the request that `make(members, problem)` returns, unless it sets a problem. A rank with a problem, or without
/// memory, takes part in planning nevertheless and tells the other ranks, so that all stay in step.
template <class Make>
int plan_on(MPI_Comm comm, const char* spec, swapmeet_plan** plan, Make make) {
  swapmeet::Communicator* const communicator = swapmeet::known(comm);
  if (!communicator) return swapmeet::no_communicator();
  std::string problem;
  std::optional<swapmeet::Request> request;
  std::optional<swapmeet::Options> options;
  std::unique_ptr<swapmeet_plan> made;
  const auto prepare = [&] {
    made = std::make_unique<swapmeet_plan>();
    if (std::optional<Request> right = make(communicator->members(), problem)) request.emplace(*std::move(right));
    if (spec) {
      options = swapmeet::context().options;
      options->algorithm_from = "swapmeet_plan";
      const std::string wrong = swapmeet::read_algorithm(spec, *options);
      if (!wrong.empty()) problem = '"' + std::string(spec) + "\": " + wrong;
    }
    if (!plan) problem = "the address for the plan is NULL";
    return MPI_SUCCESS;
  };
  const auto lacks = [&](int error, const char* what) { return swapmeet::set_text(problem, what), error; };
  const int lacking = guarded(prepare, lacks);
  if (!problem.empty()) request.reset();
  int error = MPI_SUCCESS;
  std::unique_ptr<Planned> planned = communicator->planner().plan(std::move(request), options, problem, error);
  if (!planned) return failed(lacking ? lacking : error, problem);
  made->planned = std::move(planned);
  *plan = made.release();
  return MPI_SUCCESS;
}

template <class Count>
int plan_equal(const EqualSide<Count>& send, const EqualSide<Count>& receive, MPI_Comm comm, const char* spec,
               swapmeet_plan** plan) {
  return plan_on(comm, spec, plan, [&](const Members& members, std::string& problem) -> std::optional<Request> {
    problem = to_text(mistake_in(send, receive));
    if (problem.empty() && send.base == receive.base && send.base && send.count > 0)
      problem = to_text({Mistake::What::same_buffer});  // with every MPI, because equal blocks would overlap
    if (!problem.empty()) return std::nullopt;
    const Rank ranks = members.ranks();
    Request request = request_of(swapmeet::Collective::alltoall, send, receive, {ranks, ranks});
    // The groups of an intercommunicator may send blocks of different sizes.
    if (!members.inter && request.send && request.send->blocks().bytes(0) != request.receive.blocks().bytes(0))
      problem = "a block that is sent is not as large as one that is received";
    return request;
  });
}

template <class Side>
int plan_unequal(bool each, const Side& send, const Side& receive, MPI_Comm comm, const char* spec,
                 swapmeet_plan** plan) {
  return plan_on(comm, spec, plan, [&](const Members& members, std::string& problem) -> std::optional<Request> {
    const Rank ranks = members.ranks();
    problem = to_text(mistake_in(send, receive, each, ranks));
    if (!problem.empty()) return std::nullopt;
    return request_of(each ? swapmeet::Collective::alltoallw : swapmeet::Collective::alltoallv, send, receive,
                      {ranks, ranks});
  });
}

}  // namespace

#define SWAPMEET_PLAN(suffix, Count, Displacement)                                                                 \
  SWAPMEET_EXPORT int swapmeet_plan_alltoall##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,  \
                                                     void* recvbuf, Count recvcount, MPI_Datatype recvtype,        \
                                                     MPI_Comm comm, const char* spec, swapmeet_plan** plan) {      \
    return guarded_call([&]() -> int {                                                                             \
      return plan_equal<Count>({sendbuf, sendcount, sendtype}, {recvbuf, recvcount, recvtype}, comm, spec, plan);  \
    });                                                                                                            \
  }                                                                                                                \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallv##suffix(                                                             \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], MPI_Datatype sendtype,          \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm, \
      const char* spec, swapmeet_plan** plan) {                                                                    \
    return guarded_call([&]() -> int {                                                                             \
      using Side = UnequalSide<Count, Displacement>;                                                               \
      return plan_unequal(false, Side{sendbuf, sendcounts, sdispls, &sendtype},                                    \
                          Side{recvbuf, recvcounts, rdispls, &recvtype}, comm, spec, plan);                        \
    });                                                                                                            \
  }                                                                                                                \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallw##suffix(                                                             \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], const MPI_Datatype sendtypes[], \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], const MPI_Datatype recvtypes[],       \
      MPI_Comm comm, const char* spec, swapmeet_plan** plan) {                                                     \
    return guarded_call([&]() -> int {                                                                             \
      using Side = UnequalSide<Count, Displacement>;                                                               \
      return plan_unequal(true, Side{sendbuf, sendcounts, sdispls, sendtypes},                                     \
                          Side{recvbuf, recvcounts, rdispls, recvtypes}, comm, spec, plan);                        \
    });                                                                                                            \
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
    const int error = swapmeet::context().under_way->start(planned, begin);
    if (error == MPI_ERR_REQUEST) return failed(error, "the plan is under way already");
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_test(swapmeet_plan* plan, int* done) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  if (!done) return failed(MPI_ERR_ARG, "the address of `done` is NULL");
  return guarded_call([&]() -> int {
    *done = swapmeet::context().under_way->advance(*plan->planned);
    const int error = *done ? plan->planned->result() : MPI_SUCCESS;
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_wait(swapmeet_plan* plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  return guarded_call([&]() -> int {
    swapmeet::context().under_way->finish(*plan->planned);
    const int error = plan->planned->result();
    return error ? failed(error) : error;
  });
}

SWAPMEET_EXPORT int swapmeet_plan_free(swapmeet_plan** plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the address of the plan is NULL");
  if (!*plan) return MPI_SUCCESS;
  return guarded_call([&]() -> int {
    if (swapmeet::context().under_way->has(*(*plan)->planned))
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
