#include "node/regions.hpp"

#include <algorithm>
#include <mutex>

namespace swapmeet {

void Regions::add(const heap::Functions& functions) {
  for (std::atomic<const heap::Functions*>& own : own_) {
    const heap::Functions* none = nullptr;
    if (own.compare_exchange_strong(none, &functions) || none == &functions) return;
  }
}

namespace {

/// The bytes that a piece covers, relative to its address.
ByteRange range_of_piece(std::uint64_t bytes, const TypeMapView* map) {
  return map ? range_of(*map, static_cast<std::int64_t>(bytes)) : ByteRange{0, static_cast<std::int64_t>(bytes)};
}

/// Whether a piece at `address` lies entirely in a heap of `heap_bytes` bytes that begins at `base`.
bool holds(std::uint64_t base, std::uint64_t heap_bytes, std::uint64_t address, std::uint64_t bytes,
           const TypeMapView* map) {
  const ByteRange range = range_of_piece(bytes, map);
  const std::uint64_t offset = address - base + static_cast<std::uint64_t>(range.begin);
  const auto length = static_cast<std::uint64_t>(range.end - range.begin);
  return offset <= heap_bytes && length <= heap_bytes - offset;
}

bool holds(std::uint64_t base, std::uint64_t heap_bytes, std::span<const Piece> pieces) {
  return std::ranges::all_of(pieces, [&](const Piece& piece) {
    return holds(base, heap_bytes, reinterpret_cast<std::uintptr_t>(piece.address), piece.bytes, piece.map);
  });
}

}  // namespace

heap::Place Regions::find(std::span<const Piece> pieces) const {
  const Piece& first = pieces.front();
  for (const std::atomic<const heap::Functions*>& one : own_) {
    const heap::Functions* const own = one.load(std::memory_order_acquire);
    if (!own) break;
    heap::Place place;
    std::uint64_t bytes = 0;
    if (own->find(first.address + range_of_piece(first.bytes, first.map).begin, place, bytes) &&
        holds(place.base, bytes, pieces))
      return place;
  }
  return {};
}

const Segment* Regions::known(const SegmentName& name) const {
  const auto found = std::ranges::find(others_, name, &Segment::name);
  return found != others_.end() ? &*found : nullptr;
}

/// Maps the heap of another process, and unmaps heaps of which the process has ended or closed the file.
void Regions::map(const SegmentName& name) {
  const std::lock_guard lock(mutex_);
  if (known(name)) return;  // another thread has mapped it
  std::erase_if(others_, [](const Segment& segment) { return !segment.is_kept(); });
  Segment segment;
  if (!segment.open_to_read(name).empty()) segment = Segment::missing(name);
  others_.push_back(std::move(segment));
}

bool Regions::copy(const heap::Place& place, const RemoteData& from, std::span<const Piece> to) {
  std::shared_lock lock(mutex_);
  const Segment* segment = known(place.file);
  if (!segment) {
    lock.unlock();
    map(place.file);
    lock.lock();
    segment = known(place.file);
  }
  if (!segment || !segment->memory()) return false;
  for (const RemotePiece& piece : from.pieces)
    if (!holds(place.base, segment->bytes(), piece.address, piece.bytes, from.map)) return false;
  return for_parts(
      from.pieces, to,
      [&](const RemotePiece& source, std::size_t read, const Piece& target, std::size_t written, std::size_t bytes) {
        copy_elements({segment->memory() + (source.address - place.base), from.map}, static_cast<std::int64_t>(read),
                      target.elements(), static_cast<std::int64_t>(written), static_cast<std::int64_t>(bytes));
        return true;
      });
}

}  // namespace swapmeet
