#include "interpose/progressed.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "interpose/requests.hpp"
#include "team/agreement.hpp"
#include "mpi/outcome.hpp"
#include "session/context.hpp"

namespace swapmeet {

/// A plan and the request of the application by which it is started.
class Progressed final : public Persistent {
 public:
  Progressed(MPI_Comm self_comm, int tag) : self_comm_(self_comm), tag_(tag) {}

  void plan(std::unique_ptr<Planned> planned) {
    planned_ = std::move(planned);
    planned_->tell(complete_request, this);
  }

  int start() override {
    const int error = context().under_way.start(*planned_, [this] { return planned_->start(); });
    if (error) complete_request(this, error);
    return MPI_SUCCESS;
  }

  void finish() override { context().under_way.finish(*planned_); }
  void close() override {
    struct Last {
      std::atomic<bool>& closed;
      ~Last() { closed = true; }
    } const last{closed_};  // is set last, even if a callback throws: another thread may destroy this object then
    if (planned_ && !OngoingExchanges::has(*planned_)) planned_->free_types();
  }
  /// Whether the application has freed the request and the exchange is complete.
  bool needless() { return closed_ && !(planned_ && OngoingExchanges::has(*planned_)); }
  Planned& planned() { return *planned_; }
  int tag() const { return tag_; }

 private:
  /// Completes the application's request, a receive of zero bytes, by a message of this rank to itself. In case of an
  /// error the message has one byte, which the host MPI reports as a truncated message.
  static void complete_request(void* self, int error) {
    const char too_much = 0;
    const auto* const request = static_cast<Progressed*>(self);
    again(PMPI_Send, &too_much, error ? 1 : 0, MPI_BYTE, 0, request->tag_, request->self_comm_);
  }

  std::unique_ptr<Planned> planned_;  ///< nullptr until it is made, or if it could not be made
  MPI_Comm self_comm_;
  int tag_;
  std::atomic<bool> closed_{false};
};

namespace {

/// All persistent exchanges of the process. Never destroyed.
struct All {
  std::mutex mutex;
  std::vector<std::unique_ptr<Progressed>> alive;
  std::uint64_t made = 0;
  int tags = 0;  ///< number of usable tags; 0 before the first request is made
};
All& all() {
  static All* const only = new All;
  return *only;
}

/// Removes the first element for which `needless` is true and returns it, for the caller to destroy; nullptr if there is
/// none. It must not be destroyed under the mutex: freeing its types may call the application, which may plan other
/// exchanges. Allocates nothing, because the other ranks may wait for this one.
std::unique_ptr<Progressed> taken_out(auto needless) {
  const std::lock_guard lock(all().mutex);
  auto& alive = all().alive;
  const auto found = std::ranges::find_if(alive, [&](const auto& one) { return needless(*one); });
  if (found == alive.end()) return nullptr;
  std::unique_ptr<Progressed> taken = std::move(*found);
  alive.erase(found);
  return taken;
}

/// Finishes and destroys all persistent exchanges before MPI ends, including those that are planned meanwhile.
void end_all() {
  while (const std::unique_ptr<Progressed> one = taken_out([](Progressed&) { return true; })) {
    context().under_way.finish(one->planned());
    unwatch_all();
  }
}

/// A tag that no other request has, or -1 if there is none.
int unused_tag() {
  const auto has = [](int tag) { return std::ranges::find(all().alive, tag, &Progressed::tag) != all().alive.end(); };
  const auto tags = static_cast<std::uint64_t>(all().tags);
  for (std::size_t attempt = 0; attempt <= all().alive.size(); ++attempt) {
    const auto tag = static_cast<int>(all().made % tags);
    if (all().made++ < tags || !has(tag)) return tag;
  }
  return -1;
}

void begin_all() {
  at_end(end_all);  // may throw, and is then called again for the next request
  all().tags = most_tag();
}

/// The communicator of this rank alone on which the request for an exchange on `user` is made. If errors are fatal on
/// `user`, or abort the process, they are fatal on it, too.
MPI_Comm self_comm_of(MPI_Comm user) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  bool fatal = false;
  if (PMPI_Comm_get_errhandler(user, &handler) == MPI_SUCCESS) {
    fatal = handler == MPI_ERRORS_ARE_FATAL;
#ifdef MPI_ERRORS_ABORT
    fatal = fatal || handler == MPI_ERRORS_ABORT;
#endif
    PMPI_Errhandler_free(&handler);
  }
  return context().job.alone(fatal ? Job::Errors::fatal : Job::Errors::returned);
}

}  // namespace

void end_freed_plans() {
  while (taken_out([](Progressed& one) { return one.needless(); })) {}
}

PersistentRequest::PersistentRequest(MPI_Comm user) {
  const std::lock_guard lock(all().mutex);
  if (all().tags == 0) begin_all();
  const int tag = unused_tag();
  if (tag < 0) return;
  const MPI_Comm self_comm = self_comm_of(user);
  auto made = std::make_unique<Progressed>(self_comm, tag);
  all().alive.reserve(all().alive.size() + 1);
  if (PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self_comm, &request_) != MPI_SUCCESS) return;
  try {
    watch(request_, *made);
  } catch (const std::bad_alloc&) {
    PMPI_Request_free(&request_);
    throw;
  }
  progressed_ = made.get();
  all().alive.push_back(std::move(made));
}

PersistentRequest::~PersistentRequest() {
  if (!progressed_) return;
  unwatch(request_);
  PMPI_Request_free(&request_);
  progressed_->close();
  end_freed_plans();
}

MPI_Request PersistentRequest::start_of(std::unique_ptr<Planned> planned) {
  std::exchange(progressed_, nullptr)->plan(std::move(planned));
  return request_;
}

}  // namespace swapmeet
