#include "interpose/progressed.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <vector>

#include "interpose/requests.hpp"
#include "mpi/agreement.hpp"
#include "mpi/guard.hpp"
#include "mpi/outcome.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

class Progressed;

/// All of the process. Never destroyed.
struct All {
  std::mutex mutex;
  std::vector<std::unique_ptr<Progressed>> alive;
  MPI_Comm bell = MPI_COMM_NULL;  ///< this rank alone; by it the application is told that exchanges are over
  int made = 0, tags = 1;
};
All& all() {
  static All* const only = new All;
  return *only;
}

class Progressed final : public Persistent {
 public:
  Progressed(std::unique_ptr<Planned> planned, int tag) : planned_(std::move(planned)), tag_(tag) {
    planned_->tell(ring, this);
  }

  int start() override {
    const int error = context().under_way->start(*planned_, [this] { return planned_->start(); });
    if (error) ring(this, error);
    return MPI_SUCCESS;
  }

  void finish() override { context().under_way->finish(*planned_); }
  void close() override { closed_ = true; }
  bool needless() { return closed_ && !UnderWay::has(*planned_); }
  Planned& planned() { return *planned_; }

 private:
  /// One byte is more than there is room for.
  static void ring(void* self, int error) {
    const char too_much = 0;
    again(PMPI_Send, &too_much, error ? 1 : 0, MPI_BYTE, 0, static_cast<Progressed*>(self)->tag_, all().bell);
  }

  std::unique_ptr<Planned> planned_;
  int tag_;
  std::atomic<bool> closed_{false};
};

/// At the beginning of MPI_Finalize, as the delete callback of an attribute of MPI_COMM_SELF.
int end_all(MPI_Comm, int, void*, void*) {
  return guarded([]() -> int {
    const std::lock_guard lock(all().mutex);
    for (const auto& one : all().alive) context().under_way->finish(one->planned());
    unwatch_all();
    all().alive.clear();
    PMPI_Comm_free(&all().bell);
    return MPI_SUCCESS;
  });
}

void begin_all() {
  if (all().bell != MPI_COMM_NULL) return;
  all().bell = this_rank_alone();
  all().tags = most_tag();
  int keyval = MPI_KEYVAL_INVALID;
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, end_all, &keyval, nullptr);
  PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
}

}  // namespace

int make_persistent(std::unique_ptr<Planned> planned, MPI_Request* request) {
  const std::lock_guard lock(all().mutex);
  begin_all();
  std::erase_if(all().alive, [](const auto& one) { return one->needless(); });
  const int tag = all().made++ % all().tags;
  auto made = std::make_unique<Progressed>(std::move(planned), tag);
  all().alive.reserve(all().alive.size() + 1);
  if (const int error = PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, all().bell, request)) return error;
  watch(*request, *made);
  all().alive.push_back(std::move(made));
  return MPI_SUCCESS;
}

}  // namespace swapmeet
