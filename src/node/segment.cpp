#include "node/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace swapmeet {

namespace {

std::string failed(const std::string& what, int error) { return what + ": " + std::strerror(error); }

std::string amount(std::size_t bytes, bool of_system) {
  return std::to_string(bytes) + " B of shared memory" + (of_system ? " (/dev/shm)" : "");
}

/// The name of the file of a segment.
std::string title(const SegmentName& name) { return heap::Title(name).text; }
std::string system_name(const SegmentName& name) { return '/' + title(name); }

/// The target of a symbolic link in /proc; "" if it cannot be read.
std::string target_of(const std::string& link) {
  char text[128];
  const ssize_t length = readlink(link.c_str(), text, sizeof text);
  return length > 0 ? std::string(text, static_cast<std::size_t>(length)) : "";
}

std::string link_of(const SegmentName& name) {
  return "/proc/" + std::to_string(name.process) + "/fd/" + std::to_string(name.file);
}

/// Whether the file is the one that its maker made. In this PID namespace, another process may have the maker's number.
bool is_that_of(const SegmentName& name) { return target_of(link_of(name)).starts_with("/memfd:" + title(name)); }

/// Opens the anonymous file of the process that made it. Returns -1 if it does not exist.
int open_file_of(const SegmentName& name, int access) {
  if (!is_that_of(name)) return errno = ENOENT, -1;
  return ::open(link_of(name).c_str(), access | O_CLOEXEC);
}

std::string cannot_open() { return failed("cannot open the shared memory of another rank of the node", errno); }

/// The errno value for which a file of `bytes` bytes cannot be had; 0: it can. The limit is checked first because a
/// process that exceeds it gets a signal. The free space is checked first because other processes may need it while
/// this one tries.
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

void Segment::swap(Segment& other) noexcept {
  std::swap(name_, other.name_);
  std::swap(named_, other.named_);
  std::swap(file_, other.file_);
  std::swap(memory_, other.memory_);
  std::swap(bytes_, other.bytes_);
}

std::string Segment::make(std::size_t bytes, Naming naming) {
  const std::string what = "cannot make " + amount(bytes, naming == Naming::of_system);
  if (!create(naming)) return failed(what, errno);
  int error = no_room_for(bytes, file_.number());
  if (error == 0 && ftruncate(file_.number(), static_cast<off_t>(bytes)) != 0) error = errno;
  return error == 0 ? map(bytes) : failed(what, error);
}

bool Segment::create(Naming naming) {
  name_ = heap::new_file_name();
  struct stat status;
  if (naming == Naming::of_process) {
    name_.file = heap::SharedFile::make_anonymous(heap::Title(name_));
    return file_.keep(name_.file, status);
  }
  const int made = shm_open(system_name(name_).c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  named_ = made >= 0;
  return file_.keep(made, status);
}

std::string Segment::open(const SegmentName& name, std::size_t bytes) {
  struct stat status;
  const bool kept = file_.keep(
      name.file >= 0 ? open_file_of(name, O_RDWR) : shm_open(system_name(name).c_str(), O_RDWR | O_CLOEXEC, 0), status);
  if (!kept) return cannot_open();
  if (status.st_uid != geteuid() || static_cast<std::size_t>(status.st_size) != bytes)
    return close_file(), "the shared memory of another rank of the node is not what it announced";
  name_ = name;
  return map(bytes);
}

std::string Segment::open_to_read(const SegmentName& name) {
  struct stat status;
  if (!file_.keep(open_file_of(name, O_RDONLY), status)) return cannot_open();
  name_ = name;
  bytes_ = static_cast<std::size_t>(status.st_size);
  memory_ = heap::map_without_access(bytes_, file_);
  if (!memory_) return failed("cannot map " + std::to_string(bytes_) + " B", errno);
  if (mprotect(memory_, bytes_, PROT_READ) != 0) return failed("cannot read shared memory", errno);
  madvise(memory_, bytes_, MADV_DONTDUMP);  // its maker's core dump contains it
  close_file();
  return "";
}

Segment Segment::missing(const SegmentName& name) {
  Segment segment;
  segment.name_ = name;
  return segment;
}

bool Segment::is_kept() const { return name_.file >= 0 && is_that_of(name_); }

std::string Segment::map(std::size_t bytes) {
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_.number(), 0);
  if (memory == MAP_FAILED) return failed("cannot map " + std::to_string(bytes) + " B", errno);
  memory_ = static_cast<char*>(memory);
  bytes_ = bytes;
  return "";
}

std::string Segment::reserve(std::size_t first, std::size_t bytes) {
  constexpr std::size_t most = 1 << 20;  // per call: a signal undoes all of a call, and there may be many signals
  int error = bytes == 0 || file_.is_open() ? 0 : EBADF;
  for (std::size_t done = 0; done < bytes && (error == 0 || error == EINTR); done += error == 0 ? most : 0)
    error = posix_fallocate(file_.number(), static_cast<off_t>(first + done),
                            static_cast<off_t>(std::min(most, bytes - done)));
  return error == 0 ? "" : failed("cannot have " + amount(bytes, name_.file < 0), error);
}

void Segment::release(std::size_t first, std::size_t bytes) {
  heap::advise_whole_pages(memory_ + first, bytes, MADV_REMOVE);
}

void Segment::unlink() {
  if (named_) shm_unlink(system_name(name_).c_str());
  named_ = false;
}

}  // namespace swapmeet
