/// The file of memory that a process shares with others of its node: how it is made, named and kept.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "heap/place.hpp"

namespace swapmeet::heap {

/// Returns a new name of a file of this process, which other users cannot guess.
inline FileName new_file_name() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = reinterpret_cast<std::uintptr_t>(&random) ^ static_cast<std::uint64_t>(getpid()) << 32;
  return {getpid(), -1, random | 1};
}

/// The title of a file, by which other processes verify that it is the one its maker made.
struct Title {
  explicit Title(const FileName& name) {
    std::snprintf(text, sizeof text, "swapmeet-%d-%016llx", name.process, static_cast<unsigned long long>(name.random));
  }
  char text[64];
};

/// A file that this process keeps open, so that others find it. A program may close descriptors that it does not know,
/// and reuse their numbers: so the file is identified by its inode. Not closed on destruction, since the heap outlives
/// the destructors of the process.
class SharedFile {
 public:
  /// Makes an anonymous file of this process. Returns its descriptor, or -1 with errno set.
  static int make_anonymous(const Title& title) {
    const int descriptor = memfd_create(title.text, MFD_CLOEXEC);
    if (descriptor >= 0) fchmod(descriptor, 0600);  // the kernel creates it with permissions for all users
    return descriptor;
  }

  /// Keeps an open file; a negative number is none. Returns false, with errno set, if it cannot be kept.
  bool keep(int descriptor, struct stat& status) {
    if (descriptor < 0) return false;
    number_ = descriptor;
    if (fstat(descriptor, &status) != 0) return false;
    inode_ = status.st_ino;
    return true;
  }

  int number() const { return number_; }
  bool is_open() const {
    struct stat status;
    return number_ >= 0 && fstat(number_, &status) == 0 && status.st_ino == inode_;
  }
  void close() {
    if (is_open()) ::close(number_);
    number_ = -1;
  }

 private:
  int number_ = -1;
  ino_t inode_ = 0;
};

/// Calls madvise() for the pages of the system, of `page` bytes, that lie within the given bytes as a whole: the kernel
/// would round the length up, and a page may be larger than those that this library counts. Returns whether the call
/// succeeded for all the bytes.
inline bool advise_whole_pages(char* first, std::size_t bytes, int advice,
                               std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
  const std::size_t address = reinterpret_cast<std::uintptr_t>(first), before = (page - address % page) % page;
  const std::size_t behind = (address + bytes) % page;
  if (before + behind >= bytes) return false;
  return madvise(first + before, bytes - before - behind, advice) == 0 && before + behind == 0;
}

/// Maps `bytes` bytes of a shared file without access. If memory is locked, the kernel would otherwise allocate all of
/// it at once. Returns nullptr, with errno set, if that fails.
inline char* map_without_access(std::size_t bytes, const SharedFile& file) {
  void* const memory = mmap(nullptr, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file.number(), 0);
  return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

}  // namespace swapmeet::heap
