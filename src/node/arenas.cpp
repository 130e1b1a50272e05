#include "node/arenas.hpp"

#include <sys/resource.h>

#include <algorithm>

#include "engine/row_size.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t parts_at_a_time =
    4;  ///< in units of the largest part; parts become smaller once the ranks of the node are known
/// Bytes at the beginning of an arena that are never given back to the system. UCX, below MPICH, remembers each address
/// range that was given back until it next registers memory, which may be never.
constexpr std::size_t kept_bytes = std::size_t{16} << 20;

/// The largest size that a file may have.
std::size_t most_file_bytes() {
  rlimit most{};
  return getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY ? most.rlim_cur : SIZE_MAX;
}

}  // namespace

void Arenas::make(std::size_t most_bytes, bool counted) {
  const std::lock_guard lock(mutex_);
  counted_ = counted;  // needed for the arenas of others, too
  most_bytes = std::min(RowSize::aligned(most_bytes, arena_page_bytes),
                        most_file_bytes() / parts_at_a_time / arena_page_bytes * arena_page_bytes);
  if (most_bytes == 0 || !own_.make(parts_at_a_time * most_bytes, Segment::Naming::of_process).empty()) return;
  most_bytes_ = most_bytes;
}

/// Gives the memory of a part back to the system, except at the beginning of the arena, where the next parts will be.
void Arenas::release(const Taken& part) {
  const std::uint64_t end = part.first + part.bytes, first = std::max<std::uint64_t>(part.first, kept_bytes);
  if (first < end) own_.release(first, end - first);
}

/// Frees parts that no rank needs any more.
void Arenas::reclaim() {
  std::erase_if(taken_, [&](const Taken& part) {
    if (part.members == 0) return false;
    const auto* const header = reinterpret_cast<const PartHeader*>(own_.memory() + part.first);
    if (header->closed.load(std::memory_order_acquire) < part.members) return false;
    release(part);
    return true;
  });
}

ArenaPart Arenas::take() {
  const std::lock_guard lock(mutex_);
  if (most_bytes_ == 0) return {};
  reclaim();
  std::uint64_t first = 0;
  auto before = taken_.begin();
  for (; before != taken_.end() && before->first - first < most_bytes_; ++before) first = before->first + before->bytes;
  if (own_.bytes() - first < most_bytes_) return {};
  taken_.insert(before, {first, most_bytes_, ++parts_, 0});
  return {own_.name(), own_.bytes(), first, most_bytes_, parts_};
}

std::string Arenas::keep(const ArenaPart& part, std::size_t bytes, std::uint32_t members) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find(taken_, part.number, &Taken::number);
  if (found == taken_.end()) return "the first rank of the node has given back its shared memory";
  if (std::string problem = counted_ ? own_.reserve(part.first, arena_page_bytes) : ""; !problem.empty())
    return problem;
  new (own_.memory() + part.first) PartHeader{};
  *found = {part.first, RowSize::aligned(bytes, arena_page_bytes), part.number, members};
  return "";
}

void Arenas::give_back(const ArenaPart& part) {
  const std::lock_guard lock(mutex_);
  std::erase_if(taken_, [&](const Taken& taken) {
    if (taken.number != part.number) return false;
    if (taken.members > 0) release(taken);
    return true;
  });
}

Segment* Arenas::find(const SegmentName& name) {
  if (own_.memory() && own_.name() == name) return &own_;
  const auto found = std::ranges::find(others_, name, &Segment::name);
  return found == others_.end() ? nullptr : &*found;
}

char* Arenas::map(const ArenaPart& part, std::string& problem) {
  const std::lock_guard lock(mutex_);
  if (Segment* const known = find(part.arena)) return known->memory() + part.first;
  Segment segment;
  problem = segment.open(part.arena, part.arena_bytes);
  if (!problem.empty()) return nullptr;
  return others_.emplace_back(std::move(segment)).memory() + part.first;
}

std::string Arenas::reserve(const ArenaPart& part, std::size_t first, std::size_t bytes) {
  if (!counted_) return "";
  const std::lock_guard lock(mutex_);
  return find(part.arena)->reserve(part.first + first, bytes);
}

}  // namespace swapmeet
