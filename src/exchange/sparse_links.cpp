#include "exchange/sparse_links.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "buffers/staging.hpp"
#include "mpi/outcome.hpp"
#include "mpi/simulation.hpp"

namespace swapmeet {

bool SparseLinks::make_room() {
  try {
    under_way_[index(Channel::direct)].all.reserve(sends_.size());
    return true;
  } catch (const std::bad_alloc&) {
    sends_ = {};
    return false;
  }
}

int SparseLinks::send_own(std::size_t number, bool synchronous) {
  const Part part = blocks_.whole(static_cast<int>(number));
  const Rank to = sends_[number].destination;
  MPI_Request* const request = under_way_[index(Channel::direct)].add();
  const int tag = tags_[index(Channel::direct)];
  return again(synchronous ? issend : isend, part, team_.job_rank(to), team_.tag_to(to, tag), team_.comm(), request);
}

int SparseLinks::send_hop(Rank to, const char* memory, std::int64_t bytes) {
  MPI_Request* const request = under_way_[index(Channel::hop)].add();
  const Part part{const_cast<char*>(memory), bytes, MPI_BYTE};
  return again(isend, part, team_.job_rank(to), team_.tag_to(to, tags_[index(Channel::hop)]), team_.comm(), request);
}

int SparseLinks::look(Channel channel, Rank from, FoundMessage& found) {
  int flag = 0;
  MPI_Status status;
  found = {};
  const int source = from == any_source ? MPI_ANY_SOURCE : team_.job_rank(from);
  const int tag = team_.tag_here(tags_[index(channel)]);
  int error = again(PMPI_Improbe, source, tag, team_.comm(), &flag, &found_, &status);
  if (is_fault(error) && !team_.fault(true)) {  // a rank of the job that is not in this team
    acknowledge_failures(team_.comm());
    error = again(PMPI_Improbe, source, tag, team_.comm(), &flag, &found_, &status);
  }
  if (error) return error;
  if (!flag) return MPI_SUCCESS;
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  found = {true, team_.member(status.MPI_SOURCE), bytes};
  return MPI_SUCCESS;
}

int SparseLinks::receive(char* room, std::int64_t bytes) {
  const Part part = room || bytes == 0 ? Part{room, bytes, MPI_BYTE} : lost_.dropped(bytes);
  try {
    receives_.all.push_back(MPI_REQUEST_NULL);
  } catch (const std::bad_alloc&) { return receive_at_once(part); }
  return again(imrecv, part, &found_, &receives_.all.back());
}

/// Receives the message that was found last, without a request in a list. This waits for its sender only, which does not
/// wait for this rank in another way than by advancing its own messages.
int SparseLinks::receive_at_once(const Part& part) {
  MPI_Request request = MPI_REQUEST_NULL;
  int error = again(imrecv, part, &found_, &request);
  if (!error) error = wait(request, MPI_STATUS_IGNORE, team_);
  if (error) abandon({&request, 1}, {});
  return error;
}

int SparseLinks::over(Requests& requests, std::size_t& left) {
  int done = 1;
  while (requests.first < requests.all.size()) {
    MPI_Request& request = requests.all[requests.first];
    if (const int error = test_again(request, done, MPI_STATUS_IGNORE, team_)) return error;
    if (!done) break;
    ++requests.first;
  }
  left = requests.all.size() - requests.first;
  if (left == 0) requests.all.clear(), requests.first = 0;
  return MPI_SUCCESS;
}

/// A connection may have to be set up before the first message arrives, so looks go on for a second.
bool SparseLinks::found_all(int looks) {
  constexpr int most_looks = 300;
  constexpr double patience_s = 1;
  if (looks == 0) looks_since_s_ = PMPI_Wtime();
  return looks >= most_looks && (simulated || PMPI_Wtime() - looks_since_s_ >= patience_s);
}

int SparseLinks::begin_barrier() { return again(PMPI_Ibarrier, team_.user_comm(), &collective_); }

int SparseLinks::barrier_over(bool& over) {
  int done = 0;
  const int error = test_again(collective_, done);
  over = done != 0;
  return error;
}

int SparseLinks::census(std::int64_t& expected, bool& over) {
  if (!counting_) {
    counting_ = true;
    std::ranges::fill(counts_, 0);
    for (const SparseSend& send : sends_) ++counts_[static_cast<std::size_t>(send.destination)];
    if (const int error = again(PMPI_Ireduce_scatter_block, counts_.data(), &counts_.back(), 1, MPI_INT, MPI_SUM,
                                team_.user_comm(), &collective_))
      return error;
  }
  const int error = barrier_over(over);
  expected = counts_.back();  // the number of messages for this rank
  return error;
}

int SparseLinks::copy_own(std::size_t number, char* room) const {
  const auto message = static_cast<int>(number);
  const Datatype& type = blocks_.type(message);
  const Part part = blocks_.whole(message);
  const std::int64_t bytes = blocks_.bytes(message);
  if (!type.contiguous) return Staging::copy(part, type, {room, bytes, MPI_BYTE}, byte_type(), team_.alone(), false);
  std::memcpy(room, part.address, static_cast<std::size_t>(bytes));
  copied(bytes);
  return MPI_SUCCESS;
}

void SparseLinks::give_up() {
  team_.keep_number();
  const auto rest = [](Requests& requests) { return std::span(requests.all).subspan(requests.first); };
  for (Requests& requests : under_way_) abandon({}, rest(requests));
  abandon(rest(receives_), {});
  if (collective_ != MPI_REQUEST_NULL) static_cast<void>(new (std::nothrow) std::vector(std::move(counts_)));
}

}  // namespace swapmeet
