#include "node/regions.hpp"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace swapmeet {

void Regions::add(std::uint64_t id, Segment segment, char* own) {
  const std::lock_guard lock(mutex_);
  regions_.push_back({id, std::move(segment), own});
  count_ = regions_.size();
}

bool Regions::remove(const void* own) {
  const std::lock_guard lock(mutex_);
  const bool found = std::erase_if(regions_, [&](const Region& region) { return region.own == own; }) > 0;
  count_ = regions_.size();
  return found;
}

RegionPlace Regions::find(std::span<const Piece> pieces) const {
  if (count_ == 0) return {};
  const std::shared_lock lock(mutex_);
  for (const Region& region : regions_)
    if (std::ranges::all_of(pieces, [&](const Piece& piece) {
          return region.holds(reinterpret_cast<std::uintptr_t>(piece.address) - region.base(), piece.bytes);
        }))
      return {region.id, region.base()};
  return {};
}

bool Regions::copy(const RegionPlace& place, std::span<const RemotePiece> from, std::span<const Piece> to) const {
  const std::shared_lock lock(mutex_);
  const auto region = std::ranges::find(regions_, place.id, &Region::id);
  if (region == regions_.end()) return false;
  for (const RemotePiece& piece : from)
    if (!region->holds(piece.address - place.base, piece.bytes)) return false;
  std::size_t source = 0, target = 0, read = 0, written = 0;  // pieces, and bytes of these
  while (source < from.size() && target < to.size()) {
    const std::size_t bytes = std::min<std::size_t>(from[source].bytes - read, to[target].bytes - written);
    std::memcpy(to[target].address + written, region->segment.memory() + (from[source].address - place.base) + read,
                bytes);
    if ((read += bytes) == from[source].bytes) ++source, read = 0;
    if ((written += bytes) == to[target].bytes) ++target, written = 0;
  }
  return true;
}

}  // namespace swapmeet
