#include "interpose/progressed.hpp"

#include <algorithm>
#include <atomic>
#include <iterator>
#include <mutex>
#include <vector>

#include "interpose/requests.hpp"
#include "team/agreement.hpp"
#include "mpi/outcome.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

class Progressed;

/// All of the process. Never destroyed.
struct All {
  std::mutex mutex;
  std::vector<std::unique_ptr<Progressed>> alive;
  int made = 0, tags = 0;  ///< no tags: none was made yet
};
All& all() {
  static All* const only = new All;
  return *only;
}

class Progressed final : public Persistent {
 public:
  Progressed(std::unique_ptr<Planned> planned, MPI_Comm bell, int tag)
      : planned_(std::move(planned)), bell_(bell), tag_(tag) {
    planned_->tell(ring, this);
  }

  int start() override {
    const int error = context().under_way->start(*planned_, [this] { return planned_->start(); });
    if (error) ring(this, error);
    return MPI_SUCCESS;
  }

  void finish() override { context().under_way->finish(*planned_); }
  void close() override {
    struct Last {
      std::atomic<bool>& closed;
      ~Last() { closed = true; }
    } const last{closed_};  // also where a callback throws; another thread may destroy this then
    if (!UnderWay::has(*planned_)) planned_->free_types();
  }
  bool needless() { return closed_ && !UnderWay::has(*planned_); }
  Planned& planned() { return *planned_; }

 private:
  /// One byte is more than there is room for.
  static void ring(void* self, int error) {
    const char too_much = 0;
    const auto* const told = static_cast<Progressed*>(self);
    again(PMPI_Send, &too_much, error ? 1 : 0, MPI_BYTE, 0, told->tag_, told->bell_);
  }

  std::unique_ptr<Planned> planned_;
  MPI_Comm bell_;
  int tag_;
  std::atomic<bool> closed_{false};
};

/// Takes out which are `needless`, for the caller to destroy: what types then call of the application may plan others.
std::vector<std::unique_ptr<Progressed>> taken_out(auto needless) {
  const std::lock_guard lock(all().mutex);
  auto& alive = all().alive;
  std::vector<std::unique_ptr<Progressed>> taken;
  taken.reserve(alive.size());
  const auto rest = std::ranges::stable_partition(alive, [&](const auto& one) { return !needless(*one); });
  std::ranges::move(rest, std::back_inserter(taken));
  alive.erase(rest.begin(), rest.end());
  return taken;
}

void end_all() {
  const auto finish = [](Progressed& one) { return context().under_way->finish(one.planned()), true; };
  for (bool any = true; any;) {
    const auto ended = taken_out(finish);
    any = !ended.empty();
    unwatch_all();
  }
}

void begin_all() {
  all().tags = most_tag();
  at_end(end_all);
}

/// Of this rank alone: on it the application learns that an exchange of `user` is over. An error is the program's end where one
/// of `user` is.
MPI_Comm bell_of(MPI_Comm user) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  bool fatal = false;
  if (PMPI_Comm_get_errhandler(user, &handler) == MPI_SUCCESS) {
    fatal = handler == MPI_ERRORS_ARE_FATAL;
    PMPI_Errhandler_free(&handler);
  }
  return context().alone(fatal ? Context::Errors::fatal : Context::Errors::returned);
}

}  // namespace

void end_freed_plans() {
  taken_out([](Progressed& one) { return one.needless(); });
}

int make_persistent(std::unique_ptr<Planned> planned, MPI_Comm user, MPI_Request* request) {
  const std::lock_guard lock(all().mutex);
  if (all().tags == 0) begin_all();
  const int tag = all().made++ % all().tags;
  const MPI_Comm bell = bell_of(user);
  auto made = std::make_unique<Progressed>(std::move(planned), bell, tag);
  all().alive.reserve(all().alive.size() + 1);
  if (const int error = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, bell, request)) return error;
  watch(*request, *made);
  all().alive.push_back(std::move(made));
  return MPI_SUCCESS;
}

}  // namespace swapmeet
