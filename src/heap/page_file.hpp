/// Pages of a file that has no name (memfd_create): this process maps it, and others of the node can, through /proc.
///
/// A child of fork() would share them with its parent. So it copies what is in use, while its parent waits, and has memory
/// of its own from then on, which others cannot map.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/extents.hpp"
#include "heap/place.hpp"

namespace swapmeet::heap {

inline constexpr std::size_t page_bytes = 4096;

class PageFile {
 public:
  /// Reserves addresses for so many bytes, and makes a file; no memory is taken yet. False: that cannot be.
  bool make(std::size_t bytes);

  /// Gives all back. No block is in use any more.
  void remove();

  bool made() const { return bytes_.load(std::memory_order_relaxed) > 0; }

  /// Whether an address lies in it. Any thread, without a lock.
  bool holds(const void* address) const {
    return reinterpret_cast<std::uintptr_t>(address) - base_.load(std::memory_order_relaxed) <
           bytes_.load(std::memory_order_relaxed);
  }

  /// Where others find what lies at an address that it holds. False: they would not find it any more. Any thread, for a
  /// block that is in use.
  bool find(Place& place) const;

  /// A block of `bytes` bytes, at a multiple of `alignment`, a power of two; nullptr: there is no room. `clean`: it is all
  /// zero.
  void* take(std::size_t bytes, std::size_t alignment, bool& clean);
  /// Ends a block. False: none begins there.
  bool give(void* block);
  /// Gives a block another size where it is. False: it stays as it was.
  bool resize(void* block, std::size_t bytes);
  /// The bytes that a block has; 0: none begins there.
  std::size_t bytes_of(const void* block) const;

  bool empty() const { return blocks_ == 0; }

  /// In the child of a fork: what it has is its own from now on. False: it cannot have the memory.
  bool part();

 private:
  char* base() const { return reinterpret_cast<char*>(base_.load(std::memory_order_relaxed)); }
  bool has_its_file() const;
  bool open_up(std::size_t end);
  std::uint32_t page_of(const void* block) const;
  void let_go(const Extents::Extent& freed, std::uint32_t first, std::uint32_t pages);
  bool copy_to(char* copy) const;

  std::atomic<std::uintptr_t> base_{0};
  std::atomic<std::size_t> bytes_{0};  ///< of the addresses; 0: there are none
  std::atomic<bool> parted_{false};    ///< it is memory of this process alone
  int file_ = -1;
  ino_t inode_ = 0;
  std::uint64_t id_ = 0;
  pid_t process_ = 0;
  std::size_t open_ = 0;  ///< bytes that can be touched
  std::size_t blocks_ = 0;
  Extents extents_;
  Extents::Entry* table_ = nullptr;
  std::size_t table_bytes_ = 0;
};

}  // namespace swapmeet::heap
