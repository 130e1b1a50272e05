#include "transport/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <utility>

namespace swapmeet {

namespace {

std::string failed(const std::string& what, int error) { return what + ": " + std::strerror(error); }

std::string amount(std::size_t bytes) { return std::to_string(bytes) + " B of shared memory (/dev/shm)"; }

/// Nobody guesses it: 64 random bits, beside the process.
std::string new_name() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = reinterpret_cast<std::uintptr_t>(&random) ^ static_cast<std::uint64_t>(getpid());
  char name[64];
  std::snprintf(name, sizeof name, "/swapmeet-%ld-%016llx", static_cast<long>(getpid()),
                static_cast<unsigned long long>(random));
  return name;
}

}  // namespace

Segment::~Segment() {
  unlink();
  if (memory_) munmap(memory_, bytes_);
  close_file();
}

void Segment::close_file() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

void Segment::swap(Segment& other) noexcept {
  name_.swap(other.name_);
  std::swap(named_, other.named_);
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
}

std::string Segment::make(std::size_t bytes) {
  for (int attempt = 0; attempt < 8 && file_ < 0; ++attempt) {
    name_ = new_name();
    file_ = shm_open(name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ < 0) return failed("cannot make " + amount(bytes), errno);
  named_ = true;
  if (ftruncate(file_, static_cast<off_t>(bytes)) != 0) return failed("cannot make " + amount(bytes), errno);
  return map(bytes, MAP_SHARED);
}

std::string Segment::make_private(std::size_t bytes) {
  return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS);
}

std::string Segment::open(const std::string& name, std::size_t bytes) {
  file_ = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (file_ < 0) return failed("cannot open the shared memory of another rank of the node", errno);
  struct stat status;
  if (fstat(file_, &status) != 0 || static_cast<std::size_t>(status.st_size) != bytes)
    return "the shared memory of another rank of the node is not what it said";
  name_ = name;
  return map(bytes, MAP_SHARED);
}

std::string Segment::map(std::size_t bytes, int flags) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file_, 0);
  if (memory == MAP_FAILED) return failed("cannot map " + std::to_string(bytes) + " B", errno);
  memory_ = static_cast<char*>(memory);
  bytes_ = bytes;
  return "";
}

std::string Segment::reserve(std::size_t first, std::size_t bytes) {
  constexpr std::size_t most = 1 << 20;  // at a time: a signal undoes all of it, and there may be many
  int error = 0;
  for (std::size_t done = 0; done < bytes && (error == 0 || error == EINTR); done += error == 0 ? most : 0)
    error = posix_fallocate(file_, static_cast<off_t>(first + done), static_cast<off_t>(std::min(most, bytes - done)));
  return error == 0 ? "" : failed("cannot have " + amount(bytes), error);
}

std::uint64_t Segment::id() const {
  return std::stoull(name_.substr(name_.rfind('-') + 1), nullptr, 16) | 1;
}

void Segment::unlink() {
  if (named_) shm_unlink(name_.c_str());
  named_ = false;
}

}  // namespace swapmeet
