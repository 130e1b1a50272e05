/// A type map says where the bytes of the elements of a datatype lie (MPI's term). Here it consists of loops around
/// contiguous runs of bytes, in the order in which the bytes are sent.
///
///   loop   has `count` repetitions, `stride` bytes apart. Its body is a run of bytes, or further loops in order.
///
/// The loops are stored in an array, and each loop names the loops inside it by their index. A map can therefore be
/// copied as bytes, even into the memory of another process.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace swapmeet {

struct TypeLoop {
  std::int64_t offset = 0;             ///< of the first repetition, relative to the loop around it
  std::int64_t count = 1, stride = 0;  ///< stride: in bytes
  std::int64_t bytes = 0;              ///< bytes of data in one repetition
  std::int64_t before = 0;             ///< bytes of data of earlier loops in the same body
  std::uint32_t first = 0, parts = 0;  ///< indices of the loops inside it; parts = 0: its body is a run of bytes

  bool is_run() const { return parts == 0; }
  std::int64_t total() const { return count * bytes; }
};

/// A type map whose loops are stored elsewhere, the outermost loop first.
struct TypeMapView {
  const TypeLoop* loops = nullptr;
  std::uint64_t loop_count = 0;
  std::int64_t extent = 0;          ///< bytes from one element to the next
  std::int64_t mean_run_bytes = 0;  ///< average bytes of data in a run
  std::int64_t begin = 0, end = 0;  ///< of the data of an element: offset of the first byte, and behind the last

  std::int64_t size() const { return loops->total(); }  ///< bytes of data in one element; not 0
};

/// Offsets of the first byte of some data, and of the byte behind the last, relative to the address of the first
/// element.
struct ByteRange {
  std::int64_t begin, end;
};

/// The range of `bytes` bytes of data of consecutive elements.
inline ByteRange range_of(const TypeMapView& map, std::int64_t bytes) {
  const std::int64_t last = ((bytes - 1) / map.size()) * map.extent;
  return {map.begin + std::min<std::int64_t>(0, last), map.end + std::max<std::int64_t>(0, last)};
}

/// A type map with its loops. Immutable.
class TypeMap {
 public:
  TypeMap(std::vector<TypeLoop> loops, std::int64_t extent);
  TypeMap(const TypeMap&) = delete;
  TypeMap& operator=(const TypeMap&) = delete;

  const TypeMapView& view() const { return view_; }

  /// Whether the data of an element are its bytes in memory, in order and without gaps.
  bool contiguous() const;

 private:
  std::vector<TypeLoop> loops_;
  TypeMapView view_;
};

namespace typemap {

/// Visits bytes [begin, end) of the data of `loop`, a loop of runs whose first run is at `at`.
template <class Use>
void visit_runs(const TypeLoop& loop, char* at, std::int64_t begin, std::int64_t end, Use& use) {
  if (begin > 0) {
    const std::int64_t whole = begin / loop.bytes, cut = begin - whole * loop.bytes;
    at += whole * loop.stride;
    end -= begin - cut;
    if (cut > 0) {
      use(at + cut, std::int64_t{0}, std::int64_t{1}, std::min(end, loop.bytes) - cut);
      if (end <= loop.bytes) return;
      at += loop.stride;
      end -= loop.bytes;
    }
  }
  const std::int64_t runs = end == loop.total() ? loop.count : end / loop.bytes;
  if (runs > 0) use(at, loop.stride, runs, loop.bytes);
  if (const std::int64_t rest = end - runs * loop.bytes; rest > 0)
    use(at + runs * loop.stride, std::int64_t{0}, std::int64_t{1}, rest);
}

template <class Use>
void visit_loop(const TypeLoop* all, const TypeLoop& loop, char* at, std::int64_t begin, std::int64_t end, Use& use);

/// Visits bytes [begin, end) of the data of one repetition of `loop`, which is at `at`.
template <class Use>
void visit_parts(const TypeLoop* all, const TypeLoop& loop, char* at, std::int64_t begin, std::int64_t end, Use& use) {
  const TypeLoop *part = all + loop.first, *const last = part + loop.parts;
  if (begin > 0 && loop.parts > 1)
    part =
        std::prev(std::upper_bound(part, last, begin, [](std::int64_t b, const TypeLoop& p) { return b < p.before; }));
  for (; part != last && part->before < end; ++part) {
    const std::int64_t from = begin - part->before, to = end - part->before, total = part->total();
    if (part->is_run() && from <= 0 && to >= total) [[likely]]
      use(at + part->offset, part->stride, part->count, part->bytes);
    else visit_loop(all, *part, at, std::max<std::int64_t>(0, from), std::min(to, total), use);
  }
}

template <class Use>
void visit_loop(const TypeLoop* all, const TypeLoop& loop, char* at, std::int64_t begin, std::int64_t end, Use& use) {
  at += loop.offset;
  if (loop.is_run()) return visit_runs(loop, at, begin, end, use);
  if (begin >= loop.bytes) {
    const std::int64_t over = begin / loop.bytes;
    at += over * loop.stride;
    begin -= over * loop.bytes;
    end -= over * loop.bytes;
  }
  for (; end > 0; at += loop.stride, begin = 0, end -= loop.bytes)
    visit_parts(all, loop, at, begin, std::min(end, loop.bytes), use);
}

}  // namespace typemap

/// Calls use(address, stride, runs, bytes), in order, for groups of runs that together are bytes [begin, end) of the
/// data of elements at `address`. A group is `runs` runs of `bytes` bytes each, `stride` bytes apart.
template <class Use>
void visit(const TypeMapView& map, char* address, std::int64_t begin, std::int64_t end, Use&& use) {
  const TypeLoop& loop = *map.loops;
  const std::int64_t size = loop.total();
  if (loop.is_run() && (loop.count == 1 || map.extent == loop.count * loop.stride)) {  // the elements continue the loop
    const TypeLoop all{0, end / loop.bytes + 1, loop.count == 1 ? map.extent : loop.stride, loop.bytes};
    return typemap::visit_runs(all, address + loop.offset, begin, end, use);
  }
  if (begin >= size) {
    const std::int64_t over = begin / size;
    address += over * map.extent;
    begin -= over * size;
    end -= over * size;
  }
  for (; end > 0; address += map.extent, begin = 0, end -= size)
    typemap::visit_loop(map.loops, loop, address, begin, std::min(end, size), use);
}

}  // namespace swapmeet
