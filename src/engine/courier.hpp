/// The messages of an exchange of unequal blocks that are under way: by MPI, or within the node by a transport of our
/// own.
#pragma once

#include <vector>

#include "node/neighbours.hpp"
#include "mpi/outcome.hpp"
#include "observe/phases.hpp"
#include "buffers/pool.hpp"
#include "engine/waiting.hpp"

namespace swapmeet {

/// The memory of a message: `waiting` blocks of it are still to be passed on.
struct Landing {
  char* memory = nullptr;
  std::int64_t bytes = 0;
  std::uint32_t waiting = 0;
};

class Courier {
 public:
  /// Messages that are waited for together. Those of a round come and go while those that go straight are under way.
  enum Group : std::uint8_t { straight, round };

  /// `neighbours`: nullptr if all messages go by MPI. Within the node, messages are offered for a `single_copy` as it
  /// says. `pool`: for messages whose size only their sender knows.
  Courier(Neighbours* neighbours, const SingleCopy& single_copy, Pool& pool)
      : neighbours_(neighbours), single_copy_(single_copy), pool_(pool) {}

  /// Room for so many messages each way.
  void make_room(Group group, std::size_t messages);

  /// Whether an exchange may begin.
  bool ready() const { return !neighbours_ || !neighbours_->broken(); }

  /// Before an exchange over `comm`, which is told of errors by `outcome`.
  void begin(MPI_Comm comm, Outcome& outcome, const Watch& watch);

  /// Whether messages with `peer` stay within the node. These have one order, whatever their tags; and those whose size
  /// only their sender knows can be received all the same.
  bool local(Rank peer) const { return neighbours_ && neighbours_->link(peer); }

  /// Messages of bytes, not empty. The memory stays as it is until wait(group).
  int receive(Group group, const Part& part, Rank from, int tag);
  int send(Group group, const Part& part, Rank to, int tag);

  /// A message of a round from a local peer, of whatever size; `landing` gets memory of the pool for it.
  void receive_any(Rank from, Landing& landing, int tag);

  /// The request of a message of the round, of so many bytes, that is received from MPI in some other way.
  MPI_Request* request(Rank from, std::int64_t bytes, int tag);

  /// Finishes all messages of `group`; others go on meanwhile. `Waiting`: Blocking, or Nonblocking where there are no
  /// neighbours; then it may return `unfinished`.
  template <class Waiting>
  int finish(Group group) {
    Requests& requests = requests_[group];
    if constexpr (Waiting::waits)
      if (pending(straight) || pending(round))
        if (const int error = wait_for_both(requests, group)) return error;
    return finish<Waiting>(requests, group);
  }

  /// After an error: nothing arrives any more. `touched`: whether anything was sent.
  void abandon(bool touched);

 private:
  /// Within the node.
  struct Parcel {
    Transfer transfer;
    Piece piece;
    Landing* landing;  ///< that gets memory when the size is known, or nullptr
  };

  struct Requests {
    std::vector<MPI_Request> all;  ///< receives, then sends
    std::size_t in = 0, out = 0;
    MPI_Request* next_in() { return next(all.data(), in); }
    MPI_Request* next_out() { return next(all.data() + all.size() / 2, out); }
    std::span<MPI_Request> receives() { return {all.data(), in}; }
    std::span<MPI_Request> sends() { return {all.data() + all.size() / 2, out}; }

   private:
    static MPI_Request* next(MPI_Request* first, std::size_t& count) { return &(first[count++] = MPI_REQUEST_NULL); }
  };

  void add(Group group, const Transfer& transfer, const Part& part, Landing* landing, Rank peer, int tag);
  /// Returns whether anything has moved.
  bool advance(Parcel& parcel);
  int test(std::span<MPI_Request> requests, bool receives, bool& moved, bool& none);
  int wait_for_both(Requests& requests, Group group);
  template <class Waiting>
  int finish(Requests& requests, Group group);
  bool pending(Group group) const;

  Neighbours* neighbours_;
  SingleCopy single_copy_;
  Pool& pool_;
  MPI_Comm comm_ = MPI_COMM_NULL;
  Outcome* outcome_ = nullptr;
  Watch watch_;
  Requests requests_[2];
  std::vector<Parcel> parcels_[2];
  std::vector<MPI_Status> statuses_;
  bool out_of_memory_ = false;
};

}  // namespace swapmeet
