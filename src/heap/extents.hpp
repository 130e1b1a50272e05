/// The allocation state of the pages of a range. Adjacent free pages form one extent. An allocation takes a free extent
/// of suitable size, or else pages behind all pages ever used. The data about an extent are kept in a separate table,
/// in the entries of its first and last page, so that free memory is not touched.
///
/// Cost   allocation and release look at a bounded number of extents
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace swapmeet::heap {

class Extents {
 public:
  /// The table entry of a page. It is valid for the first page of an extent; `pages` and `state` also for the last
  /// page.
  struct Entry {
    /// dirty and clean: free, and clean pages are all zero; unknown: no extent begins at this page, and no free extent
    /// ends there
    enum class State : std::uint32_t { unknown, used, dirty, clean };
    std::uint32_t pages;
    State state;
    std::uint32_t next, previous;  ///< free extents of the same bin; `none`: there is none
  };
  using State = Entry::State;
  static constexpr std::uint32_t none = UINT32_MAX;

  struct Extent {
    std::uint32_t first = none, pages = 0;
    bool clean = false;
  };

  /// Initialises the state. `table` has one entry for each of `pages` pages, all zero.
  void begin(Entry* table, std::uint32_t pages) {
    table_ = table;
    pages_ = pages;
    top_ = 0;
    dirty_pages_ = 0;
    std::ranges::fill(bins_, none);
    std::ranges::fill(filled_, 0);
  }

  /// Allocates `pages` pages. If there are not enough, `first` is `none`.
  Extent take(std::uint32_t pages) {
    Extent found = find(pages);
    if (found.first == none) return found;
    if (found.pages > pages) insert({found.first + pages, found.pages - pages, found.clean});
    return use({found.first, pages, found.clean});
  }

  /// Extends the used extent at `first` by `pages` pages behind it. Returns false, without a change, if these are not
  /// free.
  bool extend(std::uint32_t first, std::uint32_t pages) {
    const std::uint32_t had = table_[first].pages, end = first + had;
    const bool free = end < top_ && is_free(end);
    const std::uint32_t room = free ? table_[end].pages : 0;
    const bool last = end + room == top_;
    if (room < pages && (!last || pages_ - end < pages)) return false;
    if (free) {
      const bool clean = remove(end).clean;
      if (room > pages) insert({end + pages, room - pages, clean});
    }
    top_ = std::max(top_, end + pages);
    use({first, had + pages});
    return true;
  }

  /// Shrinks the used extent at `first` to `pages` pages. The others are merged with adjacent free extents into one,
  /// which is returned.
  Extent keep(std::uint32_t first, std::uint32_t pages) {
    const std::uint32_t had = table_[first].pages;
    if (had == pages) return {};
    table_[first].state = State::unknown;
    if (pages > 0) use({first, pages});
    return join({first + pages, had - pages, false});
  }

  /// Frees the first `pages` pages of the used extent at `first`. Returns the new beginning of that extent.
  std::uint32_t split(std::uint32_t first, std::uint32_t pages) {
    const std::uint32_t had = table_[first].pages;
    table_[first].state = State::unknown;
    use({first + pages, had - pages});
    join({first, pages, false});
    return first + pages;
  }

  /// Records that the pages of a free extent were given back to the system, and are zero now.
  void cleaned(const Extent& free) {
    remove(free.first);
    insert({free.first, free.pages, true});
  }

  bool is_used(std::uint32_t first) const { return first < top_ && table_[first].state == State::used; }
  std::uint32_t pages_of(std::uint32_t first) const { return table_[first].pages; }

  std::uint32_t top() const { return top_; }                  ///< pages from here on were never used
  std::uint64_t dirty_pages() const { return dirty_pages_; }  ///< number of free pages that may not be zero

  /// Calls act(first, pages) for each used extent.
  template <class Act>
  void for_used(Act&& act) const {
    for (std::uint32_t first = 0; first < top_; first += table_[first].pages)
      if (table_[first].state == State::used) act(first, table_[first].pages);
  }

 private:
  static constexpr std::uint32_t per_octave = 4, bins = 32 * per_octave, most_looks = 8;

  /// The bin for extents of this size. An extent has at least as many pages as any extent in an earlier bin.
  static std::uint32_t bin(std::uint32_t pages) {
    const auto octave = static_cast<std::uint32_t>(std::bit_width(pages) - 1);
    const std::uint32_t within = octave < 2 ? 0 : (pages >> (octave - 2)) & 3;
    return octave * per_octave + within;
  }

  bool is_free(std::uint32_t page) const {
    return table_[page].state == State::dirty || table_[page].state == State::clean;
  }

  /// Takes a free extent of at least `pages` pages out of its bin, or new pages.
  Extent find(std::uint32_t pages) {
    std::uint32_t number = bin(pages), looks = 0;
    for (std::uint32_t first = bins_[number]; first != none && looks < most_looks; first = table_[first].next, ++looks)
      if (table_[first].pages >= pages) return remove(first);
    for (++number; number < bins; number = (number / 64 + 1) * 64)
      if (const std::uint64_t left = filled_[number / 64] >> number % 64)
        return remove(bins_[number + static_cast<std::uint32_t>(std::countr_zero(left))]);
    const bool free = top_ > 0 && is_free(top_ - 1);
    const std::uint32_t begin = free ? top_ - table_[top_ - 1].pages : top_;
    if (pages_ - begin < pages) return {};
    if (free && table_[begin].pages >= pages) return remove(begin);
    const bool clean = !free || remove(begin).clean;
    top_ = begin + pages;
    return {begin, pages, clean};
  }

  Extent use(const Extent& extent) {
    write(extent, State::used);
    return extent;
  }

  void write(const Extent& extent, State state) {
    Entry& last = table_[extent.first + extent.pages - 1];
    last.pages = table_[extent.first].pages = extent.pages;
    last.state = state == State::used ? State::unknown : state;
    table_[extent.first].state = state;
  }

  /// Adds an extent to the free ones, merged with adjacent free extents.
  Extent join(Extent extent) {
    if (extent.first > 0 && is_free(extent.first - 1)) {
      const Extent before = remove(extent.first - table_[extent.first - 1].pages);
      extent = {before.first, before.pages + extent.pages, extent.clean && before.clean};
    }
    if (const std::uint32_t end = extent.first + extent.pages; end < top_ && is_free(end)) {
      const Extent behind = remove(end);
      extent.pages += behind.pages;
      extent.clean = extent.clean && behind.clean;
    }
    insert(extent);
    return extent;
  }

  void insert(const Extent& extent) {
    write(extent, extent.clean ? State::clean : State::dirty);
    const std::uint32_t number = bin(extent.pages), next = bins_[number];
    table_[extent.first].next = next;
    table_[extent.first].previous = none;
    if (next != none) table_[next].previous = extent.first;
    bins_[number] = extent.first;
    filled_[number / 64] |= std::uint64_t{1} << number % 64;
    if (!extent.clean) dirty_pages_ += extent.pages;
  }

  Extent remove(std::uint32_t first) {
    const Entry& entry = table_[first];
    const std::uint32_t number = bin(entry.pages);
    if (entry.next != none) table_[entry.next].previous = entry.previous;
    if (entry.previous != none) table_[entry.previous].next = entry.next;
    else if ((bins_[number] = entry.next) == none) filled_[number / 64] &= ~(std::uint64_t{1} << number % 64);
    const bool clean = entry.state == State::clean;
    if (!clean) dirty_pages_ -= entry.pages;
    return {first, entry.pages, clean};
  }

  Entry* table_ = nullptr;
  std::uint32_t pages_ = 0, top_ = 0;
  std::uint64_t dirty_pages_ = 0;
  std::uint32_t bins_[bins]{};
  std::uint64_t filled_[bins / 64]{};
};

}  // namespace swapmeet::heap
