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

void Regions::add(const heap::Functions& functions) {
  const std::lock_guard lock(mutex_);
  for (const heap::Functions*& heap : own_heaps_) {
    if (heap) continue;
    heap = &functions;
    return;
  }
}

namespace {

/// The bytes that a piece covers, relative to its address.
ByteRange range_of_piece(std::uint64_t bytes, const TypeMapView* map) {
  return map ? range_of(*map, static_cast<std::int64_t>(bytes)) : ByteRange{0, static_cast<std::int64_t>(bytes)};
}

/// Whether a piece at `address` lies entirely in a region of `region_bytes` bytes that begins at `base`.
bool holds(std::uint64_t base, std::uint64_t region_bytes, std::uint64_t address, std::uint64_t bytes,
           const TypeMapView* map) {
  const ByteRange range = range_of_piece(bytes, map);
  const std::uint64_t offset = address - base + static_cast<std::uint64_t>(range.begin);
  const auto length = static_cast<std::uint64_t>(range.end - range.begin);
  return offset <= region_bytes && length <= region_bytes - offset;
}

bool holds(std::uint64_t base, std::uint64_t region_bytes, std::span<const Piece> pieces) {
  return std::ranges::all_of(pieces, [&](const Piece& piece) {
    return holds(base, region_bytes, reinterpret_cast<std::uintptr_t>(piece.address), piece.bytes, piece.map);
  });
}

}  // namespace

RegionPlace Regions::find_in_heaps(std::span<const Piece> pieces) const {
  if (!own_heaps_.front()) return {};
  const Piece& first = pieces.front();
  const char* const begin = first.address + range_of_piece(first.bytes, first.map).begin;
  for (const heap::Functions* const heap : own_heaps_) {
    heap::Place place;
    if (!heap) break;
    if (heap->find(begin, place) && holds(place.base, place.bytes, pieces))
      return {place.id, place.base, place.process, place.file};
  }
  return {};
}

RegionPlace Regions::find(std::span<const Piece> pieces) const {
  if (const RegionPlace place = find_in_heaps(pieces); place.id != 0) return place;
  if (count_ == 0) return {};
  const std::shared_lock lock(mutex_);
  for (const Region& region : regions_)
    if (holds(region.base(), region.segment.bytes(), pieces)) return {region.id, region.base()};
  return {};
}

const Segment* Regions::known(std::uint64_t id) const {
  const auto region = std::ranges::find(regions_, id, &Region::id);
  if (region != regions_.end()) return &region->segment;
  const auto heap = std::ranges::find(heaps_, id, [](const Segment& segment) { return segment.name().random; });
  return heap != heaps_.end() ? &*heap : nullptr;
}

/// Maps the heap of another process, and unmaps heaps of which the process has ended or closed the file.
void Regions::map(const RegionPlace& place) {
  const std::lock_guard lock(mutex_);
  if (known(place.id)) return;  // another thread has mapped it
  std::erase_if(heaps_, [](const Segment& segment) { return !segment.is_kept(); });
  Segment segment;
  const SegmentName name{place.process, place.file, place.id};
  if (!segment.open_to_read(name).empty()) segment = Segment::missing(name);
  heaps_.push_back(std::move(segment));
}

bool Regions::copy(const RegionPlace& place, const RemoteData& from, std::span<const Piece> to) {
  std::shared_lock lock(mutex_);
  const Segment* segment = known(place.id);
  if (!segment && place.file >= 0) {
    lock.unlock();
    map(place);
    lock.lock();
    segment = known(place.id);
  }
  if (!segment || !segment->memory()) return false;
  for (const RemotePiece& piece : from.pieces)
    if (!holds(place.base, segment->bytes(), piece.address, piece.bytes, from.map)) return false;
  std::size_t source = 0, target = 0, read = 0, written = 0;  // indices of pieces, and bytes within them
  while (source < from.pieces.size() && target < to.size()) {
    const RemotePiece& remote = from.pieces[source];
    const std::size_t bytes = std::min<std::size_t>(remote.bytes - read, to[target].bytes - written);
    copy_elements({segment->memory() + (remote.address - place.base), from.map}, static_cast<std::int64_t>(read),
                  to[target].elements(), static_cast<std::int64_t>(written), static_cast<std::int64_t>(bytes));
    if ((read += bytes) == remote.bytes) ++source, read = 0;
    if ((written += bytes) == to[target].bytes) ++target, written = 0;
  }
  return true;
}

}  // namespace swapmeet
