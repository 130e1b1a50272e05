/// The sharing of one Communicator object by the duplicates of a communicator, for blocking exchanges. A library
/// duplicates the communicator that it is given, and some programs do so for each exchange. Setting up takes many times
/// as long as a small exchange, and the ranks, shared-memory segments, plans and decisions are the same for all
/// duplicates.
///
/// A communicator and its duplicates have one Duplicates object as an attribute, which MPI_Comm_dup copies. The first
/// duplicate that calls an all-to-all is set up as any communicator is. If all its ranks share a node, its Communicator
/// then serves all duplicates, and lives as long as any of them. The communicator that was duplicated keeps its own. So
/// does a duplicate with non-blocking or planned exchanges, which may be under way while another duplicate exchanges.
///
/// Blocking calls on two communicators with the same ranks come in the same order on all these ranks (MPI 4.1, 6.14
/// "Correctness"), as long as no rank has several threads that call MPI at once. Nothing is shared if one has, or if
/// the host MPI survives faults.
#pragma once

#include <mpi.h>

namespace swapmeet {

class Communicator;

/// Makes the keyval, and the attribute of MPI_COMM_WORLD. To be called once, after MPI_Init; local.
void begin_to_share();

/// A mark that this thread is freeing `comm`, as long as the object lives. Delete callbacks of `comm` run during that
/// time; an exchange that one of them makes on `comm` shares nothing. (MPICH 5.0.2 searches endlessly for an attribute
/// of `comm` once one has been set in such a callback.)
class BeingFreed {
 public:
  explicit BeingFreed(MPI_Comm comm);
  ~BeingFreed();
  BeingFreed(const BeingFreed&) = delete;
  BeingFreed& operator=(const BeingFreed&) = delete;

 private:
  MPI_Comm comm_;
  const BeingFreed* before_;
  friend bool is_being_freed(MPI_Comm comm);
};

/// Whether this thread is freeing `comm`, and so is in a delete callback. All its ranks make the same calls there.
/// Local.
bool is_being_freed(MPI_Comm comm);

/// Lets duplicates of `comm` that are made from now on share a Communicator. No effect if they do already. Called when
/// the ranks of `comm` exchange their parameters, so at the same call on all of them. Local.
void share_with_duplicates(MPI_Comm comm);

/// Whether `comm` is a duplicate of another communicator. The same on all its ranks. Local.
bool is_duplicate(MPI_Comm comm);

/// The Communicator that serves the duplicates to which `comm` belongs; nullptr: none. The same on all its ranks.
/// Local.
Communicator* shared_by_duplicates(MPI_Comm comm);

/// Lets `made`, which was set up for `comm`, serve all duplicates. Returns false, on all ranks, if this is impossible;
/// `made` then serves `comm` alone. Local.
bool share_with_duplicates(MPI_Comm comm, Communicator& made);

}  // namespace swapmeet
