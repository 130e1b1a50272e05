#include "exchange/mpi_messages.hpp"

namespace swapmeet {

void MpiMessages::make_room(std::uint32_t window, bool headers, bool grants) {
  const std::size_t count = std::size_t{headers || grants ? 3u : 2u} * window;
  requests_.assign(count, MPI_REQUEST_NULL);
  statuses_.resize(count);
  if (grants) ungranted_.resize(window);
  if (headers) expected_.reserve(window);
  has_headers_ = headers;
}

void MpiMessages::abandon() {
  expected_.clear();
  in_flight_ = 0;
  // The request in the slot of an ungranted send is the receive of its grant.
  for (std::size_t i = 0; i < ungranted_.size(); ++i)
    if (std::exchange(ungranted_[i].waits, false)) swapmeet::abandon({&requests_[window_ + i], 1}, {});
  swapmeet::abandon(std::span(requests_).first(window_), std::span(requests_).subspan(window_));
}

}  // namespace swapmeet
