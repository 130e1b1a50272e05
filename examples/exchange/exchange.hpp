/// All-to-all exchanges as the applications of this folder make them: by MPI; or, compiled with PLANNED, by Swapmeet's
/// interface (docs/plans.md). That is the only difference between the two programs that each source makes.
#pragma once

#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

#ifdef PLANNED
#include <swapmeet/swapmeet.h>
#endif

/// How many elements go to, or come from, each rank; they lie one rank after the other.
class Shares {
 public:
  explicit Shares(std::vector<int> counts) : counts_(std::move(counts)), begins_(counts_.size()) {
    std::exclusive_scan(counts_.begin(), counts_.end(), begins_.begin(), 0);
  }
  const int* counts() const { return counts_.data(); }
  const int* begins() const { return begins_.data(); }
  int begin(int rank) const { return begins_[static_cast<std::size_t>(rank)]; }
  int all() const { return counts_.empty() ? 0 : begins_.back() + counts_.back(); }

 private:
  std::vector<int> counts_, begins_;
};

/// Time spent in all-to-alls by this process, waiting for other ranks included.
inline double exchange_seconds = 0;

class Timed {
 public:
  ~Timed() { exchange_seconds += MPI_Wtime() - begin_; }

 private:
  double begin_ = MPI_Wtime();
};

#ifdef PLANNED
inline void require(int status) {
  if (status == MPI_SUCCESS) return;
  std::fprintf(stderr, "swapmeet: %s\n", swapmeet_error_message());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
#endif

/// By which calls of MPI. Programs that call Swapmeet plan their exchanges instead, whatever this says.
enum class Calls { blocking, nonblocking, persistent };

#if MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
constexpr bool persistent_calls = true;
#else
constexpr bool persistent_calls = false;
#endif

/// An exchange of two buffers that is made again and again. The buffers must outlive it, and stay where they are.
class Exchange {
 public:
  /// `count` elements to and from each rank.
  Exchange(const void* send, void* receive, int count, MPI_Datatype type, MPI_Comm comm)
      : send_(send), receive_(receive), count_(count), type_(type), comm_(comm) {
#ifdef PLANNED
    require(swapmeet_plan_alltoall(send, count, type, receive, count, type, comm, nullptr, &plan_));
#endif
  }

  /// `calls`: persistent only where persistent_calls.
  Exchange(const void* send, Shares out, void* receive, Shares in, MPI_Datatype type, MPI_Comm comm,
           Calls calls = Calls::blocking)
      : send_(send), receive_(receive), out_(std::move(out)), in_(std::move(in)), type_(type), comm_(comm),
        calls_(calls) {
#ifdef PLANNED
    require(swapmeet_plan_alltoallv(send, out_.counts(), out_.begins(), type, receive, in_.counts(), in_.begins(), type,
                                    comm, nullptr, &plan_));
#elif MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5
    if (calls_ == Calls::persistent)
      MPI_Alltoallv_init(send, out_.counts(), out_.begins(), type, receive, in_.counts(), in_.begins(), type, comm,
                         MPI_INFO_NULL, &request_);
#endif
  }

  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  void run() { start(), wait(); }

#ifdef PLANNED
  ~Exchange() { swapmeet_plan_free(&plan_); }

  /// Several may be under way; all ranks start those of a communicator in the same order.
  void start() {
    const Timed timed;
    require(swapmeet_plan_start(plan_));
  }

  void wait() {
    const Timed timed;
    require(swapmeet_plan_wait(plan_));
  }
#else
  ~Exchange() {
    if (calls_ == Calls::persistent) MPI_Request_free(&request_);
  }

  /// Several may be under way; all ranks start those of a communicator in the same order.
  void start() {
    const Timed timed;
    if (calls_ == Calls::persistent) MPI_Start(&request_);
    else if (calls_ == Calls::nonblocking)
      MPI_Ialltoallv(send_, out_.counts(), out_.begins(), type_, receive_, in_.counts(), in_.begins(), type_, comm_,
                     &request_);
    else if (count_ >= 0) MPI_Alltoall(send_, count_, type_, receive_, count_, type_, comm_);
    else MPI_Alltoallv(send_, out_.counts(), out_.begins(), type_, receive_, in_.counts(), in_.begins(), type_, comm_);
  }

  void wait() {
    const Timed timed;
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
  }
#endif

 private:
  [[maybe_unused]] const void* send_;
  [[maybe_unused]] void* receive_;
  [[maybe_unused]] int count_ = -1;  ///< of each block; -1: they differ
  Shares out_{{}}, in_{{}};
  [[maybe_unused]] MPI_Datatype type_;
  [[maybe_unused]] MPI_Comm comm_;
  [[maybe_unused]] Calls calls_ = Calls::blocking;
#ifdef PLANNED
  swapmeet_plan* plan_ = nullptr;
#else
  MPI_Request request_ = MPI_REQUEST_NULL;
#endif
};

/// Once, with other sizes each time: a plan would not be used again.
inline void exchange_once(const void* send, const Shares& out, void* receive, const Shares& in, MPI_Datatype type,
                          MPI_Comm comm) {
  const Timed timed;
#ifdef PLANNED
  swapmeet_alltoallv(send, out.counts(), out.begins(), type, receive, in.counts(), in.begins(), type, comm);
#else
  MPI_Alltoallv(send, out.counts(), out.begins(), type, receive, in.counts(), in.begins(), type, comm);
#endif
}
