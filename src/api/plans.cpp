/// swapmeet_plan_*().
#include <mpi.h>

#include <sched.h>

#include <swapmeet/swapmeet.h>

#include <memory>
#include <new>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "session/context.hpp"

using swapmeet::Collective;
using swapmeet::failed;
using swapmeet::OwnedBlocks;
using swapmeet::Planned;

struct swapmeet_plan {
  std::unique_ptr<Planned> planned;
};

namespace {

/// Why the counts and types of one side cannot be right; "" if they can.
template <class Count>
std::string wrong(const char* side, const Count* counts, const MPI_Datatype* types, int ranks, bool each) {
  for (int i = 0; i < ranks; ++i) {
    if (counts[i] < 0) return std::string(side) + " count " + std::to_string(i) + " is negative";
    if (types[each ? i : 0] == MPI_DATATYPE_NULL && (counts[i] > 0 || !each))
      return std::string(side) + " type " + std::to_string(each ? i : 0) + " is MPI_DATATYPE_NULL";
  }
  return "";
}

/// Plans `request`, unless there is a `problem`.
int plan_on(swapmeet::Communicator& communicator, std::optional<swapmeet::Request> request, const char* spec,
            swapmeet_plan** plan, std::string problem) {
  std::optional<swapmeet::Options> options;
  if (!plan) problem = "the address for the plan is NULL";
  if (spec) {
    options = swapmeet::context().options;
    options->algorithm_from = "swapmeet_plan";
    const std::string wrong = swapmeet::read_algorithm(spec, *options);
    if (!wrong.empty()) problem = '"' + std::string(spec) + "\": " + wrong;
  }
  if (!problem.empty()) request.reset();
  int error = MPI_SUCCESS;
  std::unique_ptr<Planned> planned = communicator.plan(std::move(request), options, problem, error);
  if (!planned) return failed(error, problem);
  *plan = new swapmeet_plan{std::move(planned)};
  return MPI_SUCCESS;
}

template <class Count>
int plan_equal(const void* send, Count send_count, MPI_Datatype send_type, void* receive, Count receive_count,
               MPI_Datatype receive_type, MPI_Comm comm, const char* spec, swapmeet_plan** plan) {
  swapmeet::Communicator* const communicator = swapmeet::known(comm);
  if (!communicator) return swapmeet::no_communicator();
  const bool in_place = send == MPI_IN_PLACE;
  std::string problem = receive == MPI_IN_PLACE ? "the receive buffer is MPI_IN_PLACE"
                                                : wrong("receive", &receive_count, &receive_type, 1, false);
  if (problem.empty() && !in_place) problem = wrong("send", &send_count, &send_type, 1, false);
  if (problem.empty() && !in_place && send == receive && send && send_count > 0)
    problem = "the buffers are the same; give MPI_IN_PLACE";
  if (!problem.empty()) return plan_on(*communicator, std::nullopt, spec, plan, problem);
  swapmeet::Request request{Collective::alltoall, std::nullopt, {receive, std::int64_t{receive_count}, receive_type}};
  if (!in_place) request.send.emplace(send, std::int64_t{send_count}, send_type);
  if (!in_place && request.send->blocks().bytes(0) != request.receive.blocks().bytes(0))
    problem = "a block that is sent is not as large as one that is received";
  return plan_on(*communicator, std::move(request), spec, plan, problem);
}

/// Types: one for all (Alltoallv), or one for each rank.
template <class Count, class Displacement>
int plan_unequal(Collective collective, const void* send, const Count* send_counts,
                 const Displacement* send_displacements, const MPI_Datatype* send_types, void* receive,
                 const Count* receive_counts, const Displacement* receive_displacements,
                 const MPI_Datatype* receive_types, MPI_Comm comm, const char* spec, swapmeet_plan** plan) {
  swapmeet::Communicator* const communicator = swapmeet::known(comm);
  if (!communicator) return swapmeet::no_communicator();
  const bool in_place = send == MPI_IN_PLACE, each = collective == Collective::alltoallw;
  const int ranks = communicator->ranks();
  std::string problem;
  if (receive == MPI_IN_PLACE) problem = "the receive buffer is MPI_IN_PLACE";
  else if (!receive_counts || !receive_displacements || !receive_types)
    problem = "an array of the receive side is NULL";
  else if (!in_place && (!send_counts || !send_displacements || !send_types))
    problem = "an array of the send side is NULL";
  else problem = wrong("receive", receive_counts, receive_types, ranks, each);
  if (problem.empty() && !in_place) problem = wrong("send", send_counts, send_types, ranks, each);
  if (!problem.empty()) return plan_on(*communicator, std::nullopt, spec, plan, problem);
  swapmeet::Request request{
      collective, std::nullopt, {receive, receive_counts, receive_displacements, receive_types, each, ranks}};
  if (!in_place) request.send.emplace(send, send_counts, send_displacements, send_types, each, ranks);
  return plan_on(*communicator, std::move(request), spec, plan, problem);
}

}  // namespace

#define SWAPMEET_PLAN(suffix, Count, Displacement)                                                                    \
  SWAPMEET_EXPORT int swapmeet_plan_alltoall##suffix(const void* sendbuf, Count sendcount, MPI_Datatype sendtype,     \
                                                     void* recvbuf, Count recvcount, MPI_Datatype recvtype,           \
                                                     MPI_Comm comm, const char* spec, swapmeet_plan** plan) {         \
    return plan_equal(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm, spec, plan);                  \
  }                                                                                                                   \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallv##suffix(                                                                \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], MPI_Datatype sendtype,             \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], MPI_Datatype recvtype, MPI_Comm comm,    \
      const char* spec, swapmeet_plan** plan) {                                                                       \
    return plan_unequal(Collective::alltoallv, sendbuf, sendcounts, sdispls, &sendtype, recvbuf, recvcounts, rdispls, \
                        &recvtype, comm, spec, plan);                                                                 \
  }                                                                                                                   \
  SWAPMEET_EXPORT int swapmeet_plan_alltoallw##suffix(                                                                \
      const void* sendbuf, const Count sendcounts[], const Displacement sdispls[], const MPI_Datatype sendtypes[],    \
      void* recvbuf, const Count recvcounts[], const Displacement rdispls[], const MPI_Datatype recvtypes[],          \
      MPI_Comm comm, const char* spec, swapmeet_plan** plan) {                                                        \
    return plan_unequal(Collective::alltoallw, sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts, rdispls, \
                        recvtypes, comm, spec, plan);                                                                 \
  }

SWAPMEET_PLAN(, int, int)
#if MPI_VERSION >= 4
SWAPMEET_PLAN(_c, MPI_Count, MPI_Aint)
#endif

SWAPMEET_EXPORT int swapmeet_plan_start(swapmeet_plan* plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  const int error = swapmeet::context().under_way.start(*plan->planned);
  if (error == MPI_ERR_REQUEST) return failed(error, "the plan is under way already");
  return error ? failed(error) : error;
}

SWAPMEET_EXPORT int swapmeet_plan_test(swapmeet_plan* plan, int* done) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  if (!done) return failed(MPI_ERR_ARG, "the address of `done` is NULL");
  int error = MPI_SUCCESS;
  *done = swapmeet::context().under_way.advance(*plan->planned, error);
  return error ? failed(error) : error;
}

SWAPMEET_EXPORT int swapmeet_plan_wait(swapmeet_plan* plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the plan is NULL");
  constexpr int patience = 64;  // polls before others may have the core
  int error = MPI_SUCCESS;
  for (int polls = 0; !swapmeet::context().under_way.advance(*plan->planned, error); ++polls)
    if (polls >= patience) sched_yield();
  return error ? failed(error) : error;
}

SWAPMEET_EXPORT int swapmeet_plan_free(swapmeet_plan** plan) {
  if (!plan) return failed(MPI_ERR_REQUEST, "the address of the plan is NULL");
  if (!*plan) return MPI_SUCCESS;
  if (swapmeet::context().under_way.has(*(*plan)->planned))
    return failed(MPI_ERR_REQUEST, "the plan is under way: wait for it first");
  delete *plan;
  *plan = nullptr;
  return MPI_SUCCESS;
}

SWAPMEET_EXPORT int swapmeet_plan_describe(const swapmeet_plan* plan, swapmeet_plan_description* description) {
  if (!plan || !description) return failed(MPI_ERR_ARG, "the plan, or the address of its description, is NULL");
  const Planned& planned = *plan->planned;
  const std::optional<swapmeet::Traffic> sent = planned.traffic();
  *description = {planned.spec().c_str(),  planned.reason().c_str(), sent ? sent->messages : -1,
                  sent ? sent->bytes : -1, planned.scratch_bytes(),  planned.expected_seconds()};
  return MPI_SUCCESS;
}
