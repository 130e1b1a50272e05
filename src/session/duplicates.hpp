/// Duplicates of a communicator that share what is set up for blocking exchanges. A library duplicates the communicator that it
/// is given, and some programs do so for each exchange: setting up takes many times as long as a small exchange, and ranks,
/// segments, plans and decisions are those of the other duplicates.
///
/// A communicator and its duplicates have one Duplicates as attribute, which MPI_Comm_dup copies. The first duplicate that
/// calls an all-to-all sets up as any communicator does; if all its ranks share a node, what it has then serves all duplicates,
/// whichever lives. The communicator that was duplicated keeps its own, and so does a duplicate with non-blocking or planned
/// exchanges, which may be under way while another exchanges. Blocking calls of two communicators with the same ranks come in the
/// same order on all of these (MPI 4.1, 6.14 "Correctness"), as long as no rank has several threads that call MPI
/// at once: then, and where the host MPI survives faults, nothing is shared.
#pragma once

#include <mpi.h>

namespace swapmeet {

class Communicator;

/// Makes the attribute, and gives it to MPI_COMM_WORLD. Once, after MPI_Init; local.
void begin_to_share();

/// While it lives, `comm` is being freed by this thread: its delete callbacks run, and what exchanges on it then shares
/// nothing any more. (MPICH 5.0.2 searches for ever for an attribute of it, once one has been set in such a callback.)
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

/// Whether this thread is freeing `comm`: in a delete callback, from which each of its ranks makes the same calls. Local.
bool is_being_freed(MPI_Comm comm);

/// From now on, duplicates of `comm` share. Nothing if they do already. Local.
void share_with_duplicates(MPI_Comm comm);

/// Whether `comm` is a duplicate of another communicator. The same on all its ranks. Local.
bool is_duplicate(MPI_Comm comm);

/// What serves the duplicates of which `comm` is one; nullptr: nothing does. The same on all its ranks. Local.
Communicator* shared_by_duplicates(MPI_Comm comm);

/// Has `made`, which was set up for `comm`, serve all duplicates, if it can. False, on all ranks: it cannot, and is of `comm`
/// alone. Local.
bool lend_to_duplicates(MPI_Comm comm, Communicator& made);

}  // namespace swapmeet
