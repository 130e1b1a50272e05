#include "exchange/links.hpp"

namespace swapmeet {

void Slots::make_room(std::uint32_t window, bool local, bool heads, std::size_t most_pieces, bool grants) {
  const std::size_t count = std::size_t{heads || grants ? 3u : 2u} * window;
  requests.assign(count, MPI_REQUEST_NULL);
  statuses.resize(count);
  if (grants) ungranted.resize(window);
  if (heads) {
    messages.assign(count, none);
    probes.reserve(window);
  }
  if (!local) return;
  transfers.resize(2 * std::size_t{window});
  pieces.resize(transfers.size() * most_pieces);
  pieces_each = most_pieces;
}

}  // namespace swapmeet
