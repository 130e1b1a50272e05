/// Receives of messages whose length only their senders know. A receive by MPI needs memory of the right size, so this
/// rank probes for such a message, allocates memory when it has arrived, and receives it (MPI_Improbe, MPI_Imrecv).
#pragma once

#include <vector>

#include "exchange/mpi_messages.hpp"
#include "mpi/faults.hpp"

namespace swapmeet {

class ProbedReceives {
 public:
  void make_room(std::uint32_t window) { expected_.reserve(window); }

  bool none() const { return expected_.empty(); }
  void expect(std::uint32_t slot, Rank peer, int tag) { expected_.push_back({slot, peer, tag}); }
  void abandon() { expected_.clear(); }

  /// Probes for all expected messages, and starts to receive those that have arrived, as messages of `by_mpi`. Sets
  /// `moved` if there are any. `others`: whether anything else may move meanwhile.
  template <class Exchange>
  int probe(Exchange& exchange, MpiMessages& by_mpi, bool others, bool& moved) {
    constexpr std::uint32_t looks_between = 64;  // between looks for dead ranks, and for an exchange given up by others
                                                 // because of one
    if (survives_faults) [[unlikely]]
      if (const int fault = exchange.team().fault(++looks_ % looks_between == 0)) return fault;
    for (std::size_t i = 0; i < expected_.size();) {
      const Expected wanted = expected_[i];
      MPI_Message message = MPI_MESSAGE_NULL;
      MPI_Status status;
      int flag = 0;
      const auto once = [&]() -> int {
        const Team& all = exchange.team();
        if (!simulated || !exchange.call().waits || others)
          return PMPI_Improbe(all.job_rank(wanted.peer), wanted.tag, all.comm(), &flag, &message, &status);
        settle(), flag = 1;  // probing takes no simulated time, so time would not pass
        return PMPI_Mprobe(all.job_rank(wanted.peer), wanted.tag, all.comm(), &message, &status);
      };
      if (const int error = again(once)) return error;
      if (!flag) {
        ++i;
        continue;
      }
      MPI_Count bytes = 0;
      PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
      const Piece room = exchange.room_for(wanted.slot, static_cast<std::size_t>(bytes));
      const auto kept = static_cast<std::int64_t>(room.bytes);
      const Part part =
          kept == bytes ? Part{room.address, bytes, MPI_BYTE} : exchange.lost_data().dropped(bytes, room.address, kept);
      if (const int error = by_mpi.receive(exchange, wanted.slot, part, wanted.peer, MessageKind::passed_on, message))
        return error;
      moved = true;
      expected_.erase(expected_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return MPI_SUCCESS;
  }

 private:
  struct Expected {
    std::uint32_t slot;
    Rank peer;
    int tag;
  };

  std::vector<Expected> expected_;
  std::uint32_t looks_ = 0;  ///< number of calls of probe()
};

}  // namespace swapmeet
