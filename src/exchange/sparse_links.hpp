/// The fabric of sparse exchanges over MPI (sparse/fabric.hpp). Messages go through the team and are distinguished by
/// their tags. Collective calls of the host MPI use the application's communicator; they begin and end within the call.
#pragma once

#include <vector>

#include "buffers/blocks.hpp"
#include "exchange/lost_data.hpp"
#include "team/messages.hpp"
#include "team/tags.hpp"
#include "sparse/fabric.hpp"

namespace swapmeet {

class SparseLinks {
 public:
  /// `blocks`: the messages of this rank. `call`: the number of sparse exchanges of `team` so far. Between two ranks
  /// only two consecutive exchanges can overlap, because an exchange ends only after all ranks have begun it. A message
  /// whose header was lost may stay longer, so tags use more bits of the number. `counts`:
  /// room for one number per rank and the result, for census(). After give_up() it is empty if MPI may still use it.
  SparseLinks(const Blocks& blocks, std::span<const SparseSend> sends, Team& team, std::uint16_t call,
              std::vector<int>& counts)
      : blocks_(blocks), sends_(sends), team_(team),
        tags_{team.tags().of(MessageKind::sparse, call, call / Tags::calls),
              team.tags().of(MessageKind::sparse_hop, call)},
        counts_(counts) {}
  SparseLinks(const SparseLinks&) = delete;
  SparseLinks& operator=(const SparseLinks&) = delete;

  /// Reserves memory for the sends of this rank's messages. Returns false if there is none; then sends() is empty.
  bool make_room();
  std::span<const SparseSend> sends() const { return sends_; }

  int send_own(std::size_t number, bool synchronous);
  int send_hop(Rank to, const char* memory, std::int64_t bytes);
  int sends_left(Channel channel, std::size_t& left) { return over(under_way_[index(channel)], left); }
  int look(Channel channel, Rank from, FoundMessage& found);
  bool found_all(int looks);
  int receive(char* room, std::int64_t bytes);
  int receives_left(std::size_t& left) { return over(receives_, left); }
  int begin_barrier();
  int barrier_over(bool& over);
  int census(std::int64_t& expected, bool& over);
  int copy_own(std::size_t number, char* room) const;

  /// Gives up the exchange after an error. Nothing is waited for any more.
  void give_up();

 private:
  /// Requests, of which those before `first` are complete. They are tested in order, the oldest first, so that each
  /// poll tests at most one request that is still under way. The list begins anew when all of them are complete.
  struct Requests {
    std::vector<MPI_Request> all;
    std::size_t first = 0;
    MPI_Request* add() { return &all.emplace_back(MPI_REQUEST_NULL); }
  };

  static std::size_t index(Channel channel) { return static_cast<std::size_t>(channel); }
  int over(Requests& requests, std::size_t& left);
  int receive_at_once(const Part& part);

  const Blocks& blocks_;
  std::span<const SparseSend> sends_;
  Team& team_;
  int tags_[2];
  std::vector<int>& counts_;
  Requests under_way_[2], receives_;
  MPI_Request collective_ = MPI_REQUEST_NULL;  ///< of the barrier, or of the reduction in census()
  MPI_Message found_ = MPI_MESSAGE_NULL;
  double looks_since_s_ = 0;  ///< time of the first of the looks of found_all()
  bool counting_ = false;     ///< the reduction has been started
  LostData lost_;
};

}  // namespace swapmeet
