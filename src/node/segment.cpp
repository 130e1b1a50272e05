#include "node/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <utility>

namespace swapmeet {

namespace {

std::string failed(const std::string& what, int error) { return what + ": " + std::strerror(error); }

std::string amount(std::size_t bytes) { return std::to_string(bytes) + " B of shared memory (/dev/shm)"; }

/// Nobody guesses it.
std::string random_text() {
  std::uint64_t random = 0;
  if (getrandom(&random, sizeof random, GRND_NONBLOCK) != sizeof random)
    random = reinterpret_cast<std::uintptr_t>(&random) ^ static_cast<std::uint64_t>(getpid());
  char text[24];
  std::snprintf(text, sizeof text, "-%016llx", static_cast<unsigned long long>(random));
  return text;
}

/// What a link of /proc says; "": nothing.
std::string target_of(const std::string& link) {
  char text[128];
  const ssize_t length = readlink(link.c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "";
}

constexpr std::string_view process_files = "/proc/";
constexpr char separator = ' ';

/// Opens /proc/PROCESS/fd/FILE, if it is what its maker saw there: another process may have that number here. -1: not.
int open_file_of(const std::string& name) {
  const std::size_t end = name.find(separator);
  const std::string link = name.substr(0, end), target = name.substr(end + 1, name.rfind('-') - end - 1);
  if (target_of(link) != target) return errno = ENOENT, -1;
  return ::open(link.c_str(), O_RDWR | O_CLOEXEC);
}

/// Why a file of so many bytes cannot be had; 0: it can. The limit is asked, for who exceeds it gets a signal; and the
/// room, for others may need it while we find out.
int no_room_for(std::size_t bytes, int file) {
  rlimit most{};
  struct statvfs room{};
  if (getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY && bytes > most.rlim_cur) return EFBIG;
  if (fstatvfs(file, &room) == 0 && room.f_blocks > 0 && bytes / room.f_frsize >= room.f_bavail) return ENOSPC;
  return 0;
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

std::string Segment::make(std::size_t bytes, Naming naming) {
  if (!create(naming)) return failed("cannot make " + amount(bytes), errno);
  int error = no_room_for(bytes, file_);
  if (error == 0 && ftruncate(file_, static_cast<off_t>(bytes)) != 0) error = errno;
  return error == 0 ? map(bytes, MAP_SHARED) : failed("cannot make " + amount(bytes), error);
}

bool Segment::create(Naming naming) {
  const std::string process = std::to_string(getpid()), random = random_text();
  if (naming == Naming::of_process) {
    file_ = ::open("/dev/shm", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    const std::string link = std::string(process_files) + process + "/fd/" + std::to_string(file_);
    name_ = link + separator + target_of(link) + random;
  } else {
    name_ = "/swapmeet-" + process + random;
    file_ = shm_open(name_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
    named_ = file_ >= 0;
  }
  return file_ >= 0;
}

std::string Segment::make_private(std::size_t bytes) { return map(bytes, MAP_PRIVATE | MAP_ANONYMOUS); }

std::string Segment::open(const std::string& name, std::size_t bytes) {
  file_ = name.starts_with(process_files) ? open_file_of(name) : shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
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

std::uint64_t Segment::id() const { return std::stoull(name_.substr(name_.rfind('-') + 1), nullptr, 16) | 1; }

void Segment::unlink() {
  if (named_) shm_unlink(name_.c_str());
  named_ = false;
}

}  // namespace swapmeet
