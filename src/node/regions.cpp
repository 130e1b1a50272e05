#include "node/regions.hpp"

#include <algorithm>
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

namespace {

/// From the address of a piece on.
ByteRange range_of_piece(std::uint64_t bytes, const TypeMapView* map) {
  return map ? range_of(*map, static_cast<std::int64_t>(bytes)) : ByteRange{0, static_cast<std::int64_t>(bytes)};
}

}  // namespace

bool Regions::Region::holds(std::uint64_t address, std::uint64_t from_base, std::uint64_t bytes,
                            const TypeMapView* map) const {
  const ByteRange range = range_of_piece(bytes, map);
  const std::uint64_t offset = address - from_base + static_cast<std::uint64_t>(range.begin);
  const auto length = static_cast<std::uint64_t>(range.end - range.begin);
  return offset <= segment.bytes() && length <= segment.bytes() - offset;
}

RegionPlace Regions::find(std::span<const Piece> pieces) const {
  if (count_ == 0) return {};
  const std::shared_lock lock(mutex_);
  for (const Region& region : regions_)
    if (std::ranges::all_of(pieces, [&](const Piece& piece) {
          return region.holds(reinterpret_cast<std::uintptr_t>(piece.address), region.base(), piece.bytes, piece.map);
        }))
      return {region.id, region.base()};
  return {};
}

bool Regions::copy(const RegionPlace& place, const RemoteData& from, std::span<const Piece> to) const {
  const std::shared_lock lock(mutex_);
  const auto region = std::ranges::find(regions_, place.id, &Region::id);
  if (region == regions_.end()) return false;
  for (const RemotePiece& piece : from.pieces)
    if (!region->holds(piece.address, place.base, piece.bytes, from.map)) return false;
  std::size_t source = 0, target = 0, read = 0, written = 0;  // pieces, and bytes of these
  while (source < from.pieces.size() && target < to.size()) {
    const RemotePiece& remote = from.pieces[source];
    const std::size_t bytes = std::min<std::size_t>(remote.bytes - read, to[target].bytes - written);
    copy_elements({region->segment.memory() + (remote.address - place.base), from.map}, static_cast<std::int64_t>(read),
                  to[target].elements(), static_cast<std::int64_t>(written), static_cast<std::int64_t>(bytes));
    if ((read += bytes) == remote.bytes) ++source, read = 0;
    if ((written += bytes) == to[target].bytes) ++target, written = 0;
  }
  return true;
}

}  // namespace swapmeet
