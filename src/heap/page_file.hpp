/// Pages of an anonymous file (memfd_create). This process maps the file, and other processes of the node can map it
/// through /proc.
///
/// A child of fork() would share the pages with its parent. Therefore the child copies all pages in use while its
/// parent waits. From then on the child has separate memory, which other processes cannot map.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/extents.hpp"
#include "heap/shared_file.hpp"

namespace swapmeet::heap {

inline constexpr std::size_t page_bytes = 4096;

class PageFile {
 public:
  /// Reserves addresses for `bytes` bytes, and makes a file. Takes no memory yet. Returns false if that is not
  /// possible.
  bool make(std::size_t bytes);

  /// Frees everything. Requires that no block is in use.
  void remove();

  bool made() const { return bytes_.load(std::memory_order_relaxed) > 0; }

  /// Whether an address lies in the pages. Any thread, without a lock. The size is read first, because it is set last:
  /// with the base address of before make(), 0, small addresses would lie in the pages.
  bool holds(const void* address) const {
    const std::size_t bytes = bytes_.load(std::memory_order_acquire);
    return reinterpret_cast<std::uintptr_t>(address) - base_.load(std::memory_order_relaxed) < bytes;
  }

  /// Sets `place` to that of the pages, and `bytes` to their size. Returns false if other processes cannot map them any
  /// more. Any thread; requires that a block is in use.
  bool find(Place& place, std::uint64_t& bytes) const;

  /// Allocates a block of `bytes` bytes, aligned to `alignment`, a power of two. Returns nullptr if there is no room.
  /// `clean` is set if the block is all zero.
  void* take(std::size_t bytes, std::size_t alignment, bool& clean);
  /// Frees a block. Returns false if no block begins at this address.
  bool give(void* block);
  /// Resizes a block in place. Returns false, without a change, if that is not possible.
  bool resize(void* block, std::size_t bytes);
  /// Size of a block in bytes; 0 if no block begins at this address.
  std::size_t bytes_of(const void* block) const;

  bool empty() const { return blocks_ == 0; }

  /// Separates the memory of this process, the child of a fork(), from that of its parent. Returns false if there is
  /// not enough memory.
  bool part();

 private:
  char* base() const { return reinterpret_cast<char*>(base_.load(std::memory_order_relaxed)); }
  bool open_up(std::size_t end);
  std::uint32_t page_of(const void* block) const;
  void let_go(const Extents::Extent& freed, std::uint32_t first, std::uint32_t pages);
  bool copy_to(char* copy) const;

  std::atomic<std::uintptr_t> base_{0};
  std::atomic<std::size_t> bytes_{0};   ///< bytes of the mapped addresses; 0: not made
  std::atomic<bool> separated_{false};  ///< whether the memory belongs to this process alone
  SharedFile file_;
  FileName name_;
  std::size_t open_ = 0;  ///< number of bytes, from the beginning, that may be accessed
  std::size_t blocks_ = 0;
  Extents extents_;
  Extents::Entry* table_ = nullptr;
  std::size_t table_bytes_ = 0;
};

}  // namespace swapmeet::heap
