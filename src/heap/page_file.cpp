#include "heap/page_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace swapmeet::heap {

namespace {

/// The most free pages that are kept, as many as glibc's malloc keeps for later use. Larger blocks are given back at
/// once.
constexpr std::uint64_t most_dirty_pages = (64 << 20) / page_bytes;
constexpr std::size_t most_kept_bytes = 32 << 20;
constexpr std::size_t open_at_a_time = 32 << 20;
/// Programs may close descriptors that they do not know, and expect the lowest descriptors to be free.
constexpr int least_descriptor = 500;

constexpr std::size_t whole_pages(std::size_t bytes) { return (bytes + page_bytes - 1) / page_bytes; }

void* reserve(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

}  // namespace

bool PageFile::make(std::size_t bytes) {
  name_ = new_file_name();
  int descriptor = SharedFile::make_anonymous(Title(name_));
  if (descriptor < 0) return false;
  if (const int higher = fcntl(descriptor, F_DUPFD_CLOEXEC, least_descriptor); higher >= 0) {
    close(descriptor);
    descriptor = higher;
  }
  name_.file = descriptor;
  struct stat status;
  const bool kept = file_.keep(descriptor, status) && ftruncate(descriptor, static_cast<off_t>(bytes)) == 0;
  table_bytes_ = bytes / page_bytes * sizeof(Extents::Entry);
  table_ = static_cast<Extents::Entry*>(reserve(table_bytes_));
  char* const base = table_ && kept ? map_without_access(bytes, file_) : nullptr;
  if (!base) {
    if (table_) munmap(table_, table_bytes_);
    table_ = nullptr;
    file_.close();
    return false;
  }
  madvise(base, bytes, MADV_HUGEPAGE);  // huge pages for shared memory must be requested, if the kernel has them
  extents_.begin(table_, static_cast<std::uint32_t>(bytes / page_bytes));
  open_ = blocks_ = 0;
  base_.store(reinterpret_cast<std::uintptr_t>(base), std::memory_order_relaxed);
  bytes_.store(bytes, std::memory_order_release);
  return true;
}

void PageFile::remove() {
  char* const memory = base();
  const std::size_t bytes = bytes_.exchange(0);  // first, because others may get these addresses once they are free
  munmap(memory, bytes);
  munmap(table_, table_bytes_);
  file_.close();
  table_ = nullptr;
}

bool PageFile::find(Place& place, std::uint64_t& bytes) const {
  if (separated_.load(std::memory_order_relaxed)) return false;
  place = {name_, base_.load(std::memory_order_relaxed)};
  bytes = bytes_.load(std::memory_order_relaxed);
  return true;
}

bool PageFile::open_up(std::size_t end) {
  if (end <= open_) return true;
  const std::size_t wanted =
      std::min(bytes_.load(std::memory_order_relaxed), (end + open_at_a_time - 1) / open_at_a_time * open_at_a_time);
  if (mprotect(base() + open_, wanted - open_, PROT_READ | PROT_WRITE) != 0) return false;
  open_ = wanted;
  return true;
}

void* PageFile::take(std::size_t bytes, std::size_t alignment, bool& clean) {
  const std::size_t pages = whole_pages(bytes), apart = std::max<std::size_t>(alignment / page_bytes, 1);
  if (pages + apart > bytes_.load(std::memory_order_relaxed) / page_bytes) return nullptr;
  Extents::Extent block = extents_.take(static_cast<std::uint32_t>(pages + apart - 1));
  if (block.first == Extents::none) return nullptr;
  clean = block.clean;
  if (!open_up((std::size_t{block.first} + block.pages) * page_bytes)) {
    extents_.keep(block.first, 0);
    return nullptr;
  }
  // The base address, in pages, need not be a multiple of `apart`.
  const std::size_t first_page = base_.load(std::memory_order_relaxed) / page_bytes + block.first;
  if (const auto before = static_cast<std::uint32_t>((apart - first_page % apart) % apart); before > 0)
    block.first = extents_.split(block.first, before);
  extents_.keep(block.first, static_cast<std::uint32_t>(pages));
  ++blocks_;
  return base() + std::size_t{block.first} * page_bytes;
}

std::uint32_t PageFile::page_of(const void* block) const {
  const std::size_t offset = reinterpret_cast<std::uintptr_t>(block) - base_.load(std::memory_order_relaxed);
  const auto page = static_cast<std::uint32_t>(offset / page_bytes);
  return offset % page_bytes == 0 && extents_.is_used(page) ? page : Extents::none;
}

/// Gives the memory of `freed` back to the system if much memory is free. Pages [first, first + pages) were freed last
/// and are part of it.
void PageFile::let_go(const Extents::Extent& freed, std::uint32_t first, std::uint32_t pages) {
  if (separated_.load(std::memory_order_relaxed)) {
    advise_whole_pages(base() + std::size_t{first} * page_bytes, std::size_t{pages} * page_bytes, MADV_DONTNEED);
    return;
  }
  if (extents_.dirty_pages() <= most_dirty_pages && std::size_t{pages} * page_bytes <= most_kept_bytes) return;
  if (advise_whole_pages(base() + std::size_t{freed.first} * page_bytes, std::size_t{freed.pages} * page_bytes,
                         MADV_REMOVE))
    extents_.cleaned(freed);
}

bool PageFile::give(void* block) {
  const std::uint32_t first = page_of(block);
  if (first == Extents::none) return false;
  const std::uint32_t pages = extents_.pages_of(first);
  let_go(extents_.keep(first, 0), first, pages);
  --blocks_;
  return true;
}

bool PageFile::resize(void* block, std::size_t bytes) {
  const std::uint32_t first = page_of(block);
  if (first == Extents::none || whole_pages(bytes) >= Extents::none) return false;
  const std::uint32_t had = extents_.pages_of(first), pages = static_cast<std::uint32_t>(whole_pages(bytes));
  if (pages < had) {
    let_go(extents_.keep(first, pages), first + pages, had - pages);
    return true;
  }
  if (pages == had) return true;
  if (!extents_.extend(first, pages - had)) return false;
  if (open_up((std::size_t{first} + pages) * page_bytes)) return true;
  extents_.keep(first, had);
  return false;
}

std::size_t PageFile::bytes_of(const void* block) const {
  const std::uint32_t first = page_of(block);
  return first == Extents::none ? 0 : std::size_t{extents_.pages_of(first)} * page_bytes;
}

bool PageFile::part() {
  auto* const copy = static_cast<char*>(reserve(open_));
  if (!copy || !copy_to(copy)) return false;
  if (mremap(copy, open_, open_, MREMAP_MAYMOVE | MREMAP_FIXED, base()) == MAP_FAILED) return false;
  separated_ = true;
  file_.close();
  return true;
}

/// Copies from the file instead of from memory: that takes no time for pages that were never accessed, and it includes
/// pages that drivers withhold from child processes.
bool PageFile::copy_to(char* copy) const {
  if (!file_.is_open()) {
    extents_.for_used([&](std::uint32_t first, std::uint32_t pages) {
      const std::size_t offset = std::size_t{first} * page_bytes;
      std::memcpy(copy + offset, base() + offset, std::size_t{pages} * page_bytes);
    });
    return true;
  }
  const auto end = static_cast<off_t>(open_);
  off_t hole = 0;
  for (off_t data; (data = lseek(file_.number(), hole, SEEK_DATA)) >= 0 && data < end;) {
    hole = std::min(lseek(file_.number(), data, SEEK_HOLE), end);
    while (data < hole) {
      const ssize_t some = pread(file_.number(), copy + data, static_cast<std::size_t>(hole - data), data);
      if (some <= 0) return false;
      data += some;
    }
  }
  return true;
}

}  // namespace swapmeet::heap
