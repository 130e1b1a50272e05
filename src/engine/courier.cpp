#include "engine/courier.hpp"

#include <algorithm>

namespace swapmeet {

void Courier::make_room(Group group, std::size_t messages) {
  requests_[group].all.resize(2 * messages, MPI_REQUEST_NULL);
  statuses_.resize(std::max(statuses_.size(), messages));
  if (neighbours_) parcels_[group].reserve(2 * messages);  // transfers stay where they are
}

void Courier::begin(MPI_Comm comm, Outcome& outcome, const Watch& watch) {
  comm_ = comm;
  watch_ = watch;
  outcome_ = &outcome;
  out_of_memory_ = false;
  for (Group group : {straight, round}) {
    requests_[group].in = requests_[group].out = 0;
    parcels_[group].clear();
  }
}

void Courier::add(Group group, const Transfer& transfer, const Part& part, Landing* landing, Rank peer, int tag) {
  const Piece piece{static_cast<char*>(part.address), static_cast<std::size_t>(part.count)};
  Parcel& parcel = parcels_[group].emplace_back(transfer, piece, landing);
  if (!landing) parcel.transfer.pieces = {&parcel.piece, 1};
  watch_.begins(&parcel, transfer.outgoing ? Direction::send : Direction::receive, peer, landing ? 0 : transfer.bytes,
                tag);
  advance(parcel);
}

int Courier::receive(Group group, const Part& part, Rank from, int tag) {
  if (local(from)) {
    add(group, Transfer::receive(*neighbours_->link(from), {}, static_cast<std::size_t>(part.count)), part, nullptr,
        from, tag);
    return MPI_SUCCESS;
  }
  MPI_Request* const request = requests_[group].next_in();
  watch_.begins(request, Direction::receive, from, part, tag);
  return irecv(part, from, tag, comm_, request);
}

int Courier::send(Group group, const Part& part, Rank to, int tag) {
  if (local(to)) {
    const auto bytes = static_cast<std::size_t>(part.count);
    add(group, Transfer::send(*neighbours_->link(to), {}, bytes, single_copy_), part, nullptr, to, tag);
    return MPI_SUCCESS;
  }
  MPI_Request* const request = requests_[group].next_out();
  watch_.begins(request, Direction::send, to, part, tag);
  return isend(part, to, tag, comm_, request);
}

void Courier::receive_any(Rank from, Landing& landing, int tag) {
  add(round, Transfer::receive(*neighbours_->link(from), {}, Transfer::any_size), {}, &landing, from, tag);
}

MPI_Request* Courier::request(Rank from, std::int64_t bytes, int tag) {
  MPI_Request* const request = requests_[round].next_in();
  watch_.begins(request, Direction::receive, from, static_cast<std::size_t>(bytes), tag);
  return request;
}

bool Courier::advance(Parcel& parcel) {
  Transfer& transfer = parcel.transfer;
  if (transfer.done()) return false;
  bool moved = neighbours_->advance(transfer);
  if (transfer.wants_memory()) {
    Landing& landing = *parcel.landing;
    landing = {pool_.take(static_cast<std::int64_t>(transfer.bytes)), static_cast<std::int64_t>(transfer.bytes), 0};
    parcel.piece = {landing.memory, transfer.bytes};
    if (!landing.memory) out_of_memory_ = true;
    else transfer.pieces = {&parcel.piece, 1};
    moved |= neighbours_->advance(transfer);
  }
  if (transfer.done()) {
    if (transfer.cut) outcome_->noted(MPI_ERR_TRUNCATE);
    watch_.done(&parcel, static_cast<std::int64_t>(transfer.bytes));
  }
  return moved;
}

bool Courier::pending(Group group) const {
  return std::ranges::any_of(parcels_[group], [](const Parcel& parcel) { return !parcel.transfer.done(); });
}

int Courier::test(std::span<MPI_Request> requests, bool receives, bool& moved, bool& none) {
  if (requests.empty()) return MPI_SUCCESS;
  int index = MPI_UNDEFINED, flag = 0;
  MPI_Status status;
  int error = PMPI_Testany(static_cast<int>(requests.size()), requests.data(), &index, &flag, &status);
  if (error) error = outcome_->noted(error);
  const bool none_left = flag && index == MPI_UNDEFINED;
  if (flag && !none_left) {
    const auto done = requests.subspan(static_cast<std::size_t>(index), 1);
    receives ? watch_.received(done, &status) : watch_.done(done);
    moved = true;
  }
  none &= none_left;
  return error;
}

/// Messages within the node need this rank to go on; so MPI must not keep it.
int Courier::wait_for_both(Requests& requests, Group group) {
  while (true) {
    bool moved = false, done = true;
    for (auto& parcels : parcels_)
      for (Parcel& parcel : parcels) moved |= advance(parcel);
    if (out_of_memory_) return MPI_ERR_NO_MEM;
    for (const bool receives : {true, false})
      if (const int error = test(receives ? requests.receives() : requests.sends(), receives, moved, done))
        return error;
    if (done && !pending(group)) return MPI_SUCCESS;
    neighbours_->turn(moved);
    watch_.turned(moved);
  }
}

template <class Waiting>
int Courier::finish(Requests& requests, Group group) {
  if (const int error = Waiting::all(*outcome_, requests.receives(), statuses_.data())) return error;
  watch_.received(requests.receives(), statuses_.data());
  if (const int error = Waiting::all(*outcome_, requests.sends(), statuses_.data())) return error;
  watch_.done(requests.sends());
  requests.in = requests.out = 0;
  parcels_[group].clear();
  return MPI_SUCCESS;
}

template int Courier::finish<Blocking>(Requests&, Group);
template int Courier::finish<Nonblocking>(Requests&, Group);

void Courier::abandon(bool touched) {
  for (Requests& requests : requests_) swapmeet::abandon(requests.receives(), requests.sends());
  if (neighbours_) neighbours_->abandon(touched);
}

}  // namespace swapmeet
