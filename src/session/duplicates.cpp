#include "session/duplicates.hpp"

#include <atomic>
#include <memory>
#include <utility>

#include "mpi/faults.hpp"
#include "mpi/guard.hpp"
#include "mpi/simulation.hpp"
#include "session/communicator.hpp"
#include "session/context.hpp"

namespace swapmeet {

namespace {

/// The attribute that a communicator and its duplicates have in common.
struct Duplicates {
  std::atomic<int> members{1};  ///< number of communicators with this attribute
  std::atomic<MPI_Comm> first;  ///< the communicator that was duplicated; MPI_COMM_NULL: it is freed
  MPI_Group ranks = MPI_GROUP_NULL;
  Communicator* shared = nullptr;  ///< owned; nullptr: none so far
};

int keyval = MPI_KEYVAL_INVALID;
thread_local const BeingFreed* innermost = nullptr;

/// Copy callback: MPI calls it when a communicator is duplicated.
int share_identity(MPI_Comm, int, void*, void* attribute, void* copy, int* copied) {
  static_cast<Duplicates*>(attribute)->members.fetch_add(1);
  *static_cast<void**>(copy) = attribute;
  *copied = 1;
  return MPI_SUCCESS;
}

/// Delete callback: MPI calls it when one of the communicators is freed.
int leave(MPI_Comm comm, int, void* attribute, void*) {
  return guarded([&]() -> int {
    auto* const all = static_cast<Duplicates*>(attribute);
    if (comm == all->first) all->first = MPI_COMM_NULL;
    if (all->members.fetch_sub(1) > 1) return MPI_SUCCESS;
    if (all->shared) context().end(all->shared);
    PMPI_Group_free(&all->ranks);
    delete all;
    return MPI_SUCCESS;
  });
}

Duplicates* duplicates_of(MPI_Comm comm) { return static_cast<Duplicates*>(attribute_of(comm, keyval)); }

/// Whether `comm` is a duplicate, and not a Cartesian or graph topology of some or all of its ranks: Open MPI copies
/// attributes to these as well.
bool is_member_of(MPI_Comm comm, const Duplicates& all) {
  int topology = MPI_UNDEFINED, ranks = 0, size = 0, same = MPI_UNEQUAL;
  PMPI_Topo_test(comm, &topology);
  PMPI_Comm_size(comm, &ranks);
  PMPI_Group_size(all.ranks, &size);
  MPI_Group group = MPI_GROUP_NULL;
  if (comm == all.first || topology != MPI_UNDEFINED || ranks != size || PMPI_Comm_group(comm, &group) != MPI_SUCCESS)
    return false;
  PMPI_Group_compare(group, all.ranks, &same);
  PMPI_Group_free(&group);
  return same == MPI_IDENT;
}

}  // namespace

// In a simulation the list is not kept, since ranks that share a thread free communicators at the same time. Nothing is
// shared there.
BeingFreed::BeingFreed(MPI_Comm comm) : comm_(comm), before_(simulated ? nullptr : std::exchange(innermost, this)) {
  forget_handles();  // so that every rank looks its communicators up again
}

BeingFreed::~BeingFreed() {
  if (!simulated) innermost = before_;
  forget_handles();
}

bool is_being_freed(MPI_Comm comm) {
  for (const BeingFreed* one = innermost; one; one = one->before_)
    if (one->comm_ == comm) return true;
  return false;
}

void begin_to_share() {
  if (simulated || survives_faults) return;  // in a simulation, all ranks would have one keyval
  if (PMPI_Comm_create_keyval(share_identity, leave, &keyval, nullptr) == MPI_SUCCESS)
    share_with_duplicates(MPI_COMM_WORLD);
}

void share_with_duplicates(MPI_Comm comm) {
  if (is_being_freed(comm) || keyval == MPI_KEYVAL_INVALID || duplicates_of(comm)) return;
  auto all = std::make_unique<Duplicates>();  // if this throws, nothing has been changed
  all->first = comm;
  if (PMPI_Comm_group(comm, &all->ranks) != MPI_SUCCESS) return;
  if (PMPI_Comm_set_attr(comm, keyval, all.get()) == MPI_SUCCESS) all.release();
  else PMPI_Group_free(&all->ranks);
}

bool is_duplicate(MPI_Comm comm) {
  const Duplicates* const all = duplicates_of(comm);
  return all && is_member_of(comm, *all);
}

Communicator* shared_by_duplicates(MPI_Comm comm) {
  const Duplicates* const all = duplicates_of(comm);
  return all && all->shared && is_member_of(comm, *all) ? all->shared : nullptr;
}

bool share_with_duplicates(MPI_Comm comm, Communicator& made) {
  Duplicates* const all = is_being_freed(comm) ? nullptr : duplicates_of(comm);
  if (!all || all->shared || !is_member_of(comm, *all) || !made.can_serve_duplicates()) return false;
  all->shared = &made;
  made.share();
  return true;
}

}  // namespace swapmeet
