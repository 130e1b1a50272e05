#include "interpose/worker.hpp"

#include <sched.h>
#include <sys/prctl.h>

#include <cstring>

#include "mpi/outcome.hpp"
#include "mpi/polling.hpp"
#include "session/native_start.hpp"
#include "interpose/workers.hpp"
#include "interpose/serve.hpp"

namespace swapmeet {

namespace {

constexpr int patience = 64;  ///< polls before others may have the core

int exchange(const Request& request, Communicator& communicator) {
  const Blocks receive = request.receive.blocks(), send = request.send ? request.send->blocks() : receive;
  const MPI_Comm comm = communicator.ours();
  Passed passed;
  int error = MPI_SUCCESS;
  const Call call{request.collective, !request.send, send, receive, comm, request.blocks, nullptr, true};
  if (serve(call, communicator, passed, error)) return error;
  MPI_Request native = MPI_REQUEST_NULL;
  error = start_native(request.collective, request.send ? &*request.send : nullptr, request.receive, comm, &native);
  if (!error) error = wait_by_polls(native, MPI_STATUS_IGNORE, 1, Naps());
  passed.done();
  return error;
}

}  // namespace

Worker::Worker(MPI_Comm user, int number) {
  const Workers& all = workers();
  int rank = 0;
  PMPI_Comm_rank(user, &rank);
  PMPI_Comm_size(user, &ranks_);
  PMPI_Comm_group(user, &group_);
  PMPI_Comm_get_errhandler(user, &handler_);
  tag_ = number % all.tags;
  if (rank == 0)
    meeting_.number = static_cast<int>((all.world_rank + std::int64_t{all.world_ranks} * number) % all.tags);
  thread_ = workers().first_thread.take([this] { return work(); });
  if (const int error = thread_.joinable() ? 0 : make_thread(thread_, [this] { return work(); })) {
    meeting_.lacks_thread = 1;
    say_once("error: no thread can be made for SWAPMEET_NONBLOCKING=thread (" + std::string(std::strerror(error)) +
             "). Set it to native.");
  }
  again(PMPI_Iallreduce, MPI_IN_PLACE, &meeting_, 2, MPI_INT, MPI_MAX, user, &arrival_);
  set(awaited_);
}

Worker::~Worker() {
  if (thread_.joinable()) thread_.join();
}

void Worker::set(bool& state) {
  const std::lock_guard lock(mutex_);
  state = true;
  wake_.notify_all();
}

void Worker::wait_for(const bool& state) {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return state; });
}

template <class Pause>
void Worker::wait_for_arrival(Pause pause) {
  if (wait_by_polls(arrival_, MPI_STATUS_IGNORE, patience, pause)) meeting_.lacks_thread = 1;
  set(arrived_);
}

bool Worker::wait_for_others() {
  if (!thread_.joinable()) wait_for_arrival(sched_yield);
  wait_for(arrived_);
  return !meeting_.lacks_thread;
}

int Worker::begin(Exchange exchange, MPI_Request* request) {
  if (!thread_.joinable()) return MPI_ERR_OTHER;
  const std::lock_guard lock(mutex_);
  started_.push_back(std::move(exchange));
  const int error = again(PMPI_Irecv, nullptr, 0, MPI_BYTE, 0, tag_, workers().bell, request);
  if (error) started_.pop_back();
  else wake_.notify_all();
  return error;
}

int Worker::plan(Exchange exchange, MPI_Request* request) {
  planned_ = std::move(exchange);
  return PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag_, workers().bell, request);
}

int Worker::start() {
  const std::lock_guard lock(mutex_);
  started_.push_back(planned_);
  wake_.notify_all();
  return MPI_SUCCESS;
}

void Worker::close() {
  if (!thread_.joinable() && !ended_) {
    wait_for_arrival(sched_yield);  // nobody else does
    PMPI_Group_free(&group_);
    PMPI_Errhandler_free(&handler_);
    ended_ = true;
  }
  set(closed_);
}

Worker::Exchange Worker::next() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [this] { return closed_ || !started_.empty(); });
  if (started_.empty()) return nullptr;
  Exchange first = std::move(started_.front());
  started_.pop_front();
  return first;
}

int Worker::work() {
  prctl(PR_SET_TIMERSLACK, 1000UL);  // nanoseconds; else naps are 50 us longer
  std::unique_ptr<Communicator> communicator;
  guarded([&] { return communicator = meet(), MPI_SUCCESS; });
  while (const Exchange exchange = next())
    ring(communicator ? guarded([&] { return swapmeet::exchange(*exchange, *communicator); }) : MPI_ERR_OTHER);
  communicator.reset();
  PMPI_Errhandler_free(&handler_);
  ended_ = true;
  return MPI_SUCCESS;
}

// An MPI may make communicators for one thread of a process at a time, while others wait, perhaps the application's. So
// it is not to be asked before the threads of all ranks are there; none of which then waits for the application.
std::unique_ptr<Communicator> Worker::meet() {
  MPI_Comm comm = MPI_COMM_NULL;
  wait_for(awaited_);
  wait_for_arrival(Naps());
  const bool all_there = !meeting_.lacks_thread;
  if (!all_there || again(PMPI_Comm_create_group, workers().job, group_, meeting_.number, &comm) != MPI_SUCCESS)
    comm = MPI_COMM_NULL;
  PMPI_Group_free(&group_);
  if (comm != MPI_COMM_NULL) {
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    return std::make_unique<Communicator>(comm, context().options, Meeting::now, comm);
  }
  say_once(all_there ? "error: MPI has no communicator left for SWAPMEET_NONBLOCKING=thread. Set it to native."
                     : "error: a rank has no thread for SWAPMEET_NONBLOCKING=thread. Set it to native.");
  return nullptr;
}

void Worker::ring(int error) {
  const char too_much = 0;
  if (error) PMPI_Comm_set_errhandler(workers().bell, handler_);
  again(PMPI_Send, &too_much, error ? 1 : 0, MPI_BYTE, 0, tag_, workers().bell);
}

}  // namespace swapmeet
