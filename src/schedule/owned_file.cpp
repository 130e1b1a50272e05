#include "schedule/owned_file.hpp"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>

#include "schedule/output_file.hpp"

namespace swapmeet {

namespace {

constexpr std::chrono::milliseconds longest_wait{500};
constexpr std::time_t abandoned_after_s = 60;

/// A file descriptor, closed on destruction.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Closes the descriptor. Returns false if data could not be stored: network file systems and full file systems may
  /// report this only now.
  bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

 private:
  int number_;
};

Problem failure() { return {std::strerror(errno), errno == ENOENT || errno == ENOTDIR || errno == ESTALE ? -1 : 0}; }

bool others_write(const struct stat& status) { return (status.st_mode & S_IWOTH) != 0; }

/// The folder of a file, opened, and the file's name in it.
struct Place {
  explicit Place(const std::string& file)
      : name(file.substr(file.rfind('/') + 1)),
        folder(open((file.substr(0, file.rfind('/') + 1) + '.').c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {
    struct stat status{};
    if (!folder || fstat(folder.number(), &status) != 0) problem = failure();
    else if (others_write(status) && !(status.st_mode & S_ISVTX)) problem.what = "others may write to its folder";
    else if (name.empty()) problem.what = "not a file";
  }

  std::string name;
  Descriptor folder;
  Problem problem;  ///< an empty text means no problem
};

/// Returns the contents of a regular file. Devices and pipes, which might never end, are a problem, and so are more than
/// `most_bytes` bytes.
Result<std::string> contents(const Descriptor& file, const struct stat& status, std::size_t most_bytes) {
  if (!S_ISREG(status.st_mode)) return Problem{"not a file"};
  if (status.st_size > static_cast<off_t>(most_bytes)) {
    const bool mebibytes = most_bytes >= 1 << 20;
    return Problem{"more than " + std::to_string(most_bytes >> (mebibytes ? 20 : 10)) + (mebibytes ? " MiB" : " KiB")};
  }
  std::string text(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = read(file.number(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failure();
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  text.resize(length);
  return text;
}

Result<std::string> read_at(const Place& place, std::size_t most_bytes, Owner owner) {
  const Descriptor file(
      openat(place.folder.number(), place.name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file) return errno == ELOOP ? Problem{"it is a symbolic link"} : failure();
  struct stat status{};
  if (fstat(file.number(), &status) != 0) return failure();
  if (S_ISREG(status.st_mode) && owner == Owner::user && status.st_uid != geteuid())
    return Problem{"it is another user's"};
  if (S_ISREG(status.st_mode) && others_write(status)) return Problem{"others may write to it"};
  return contents(file, status, most_bytes);
}

/// Removes a temporary file that a killed process left behind.
void remove_abandoned(const Place& place, const std::string& name) {
  struct stat status{};
  if (fstatat(place.folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (std::abs(std::time(nullptr) - status.st_mtime) > abandoned_after_s)
    unlinkat(place.folder.number(), name.c_str(), 0);
}

/// Creates `name` as soon as no other process has it. Returns the descriptor; or -1 with errno set if it cannot be
/// created.
int take_turn(const Place& place, const std::string& name) {
  const auto until = std::chrono::steady_clock::now() + longest_wait;
  for (long nanoseconds = 500'000 + getpid() % 64 * 10'000;;
       nanoseconds = nanoseconds < 8'000'000 ? nanoseconds * 3 / 2 : nanoseconds) {
    const int file =
        openat(place.folder.number(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0 || (errno != EEXIST && errno != EINTR)) return file;
    if (std::chrono::steady_clock::now() >= until) return errno = EBUSY, -1;
    remove_abandoned(place, name);
    const timespec pause{0, nanoseconds};
    nanosleep(&pause, nullptr);
  }
}

/// Whether `name` is still the file that this process made. Another process may have removed it as abandoned.
bool is_still(const Place& place, const std::string& name, const struct stat& made) {
  struct stat status{};
  return fstatat(place.folder.number(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 &&
         status.st_ino == made.st_ino && status.st_dev == made.st_dev;
}

}  // namespace

Result<std::string> text_of_file(const std::string& file, std::size_t most_bytes) {
  const Descriptor opened(open(file.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat status{};
  if (!opened || fstat(opened.number(), &status) != 0) return failure();
  return contents(opened, status, most_bytes);
}

Result<std::string> read_owned(const std::string& file, std::size_t most_bytes, Owner owner) {
  const Place place(file);
  if (!place.problem.what.empty()) return place.problem;
  return read_at(place, most_bytes, owner);
}

std::string replace_owned(const std::string& file, std::size_t most_bytes,
                          const std::function<Result<std::string>(const std::string&)>& change) {
  const Place place(file);
  if (!place.problem.what.empty()) return place.problem.what;
  const std::string next = place.name + ".new";
  Descriptor made(take_turn(place, next));
  if (!made) return std::strerror(errno);
  struct stat status{};
  const bool known = fstat(made.number(), &status) == 0;
  const auto replace = [&]() -> std::string {
    const Result<std::string> present = read_at(place, most_bytes, Owner::user);
    if (!present && present.problem().line >= 0) return present.problem().what;
    const Result<std::string> wanted = change(present ? *present : "");
    if (!wanted) return wanted.problem().text();
    if (std::string problem = write_all(made.number(), *wanted); !problem.empty()) return problem;
    if (!made.close()) return std::strerror(errno);
    if (!known || !is_still(place, next, status)) return std::strerror(EBUSY);
    const int folder = place.folder.number();
    return renameat(folder, next.c_str(), folder, place.name.c_str()) == 0 ? "" : std::strerror(errno);
  };
  std::string problem = replace();
  if (!problem.empty() && known && is_still(place, next, status)) unlinkat(place.folder.number(), next.c_str(), 0);
  return problem;
}

std::string make_folders(const std::string& folder) {
  for (std::size_t end = folder.find('/', 1);; end = folder.find('/', end + 1)) {
    const std::string part = folder.substr(0, end);
    if (!part.empty() && mkdir(part.c_str(), 0700) != 0 && access(part.c_str(), X_OK) != 0) return std::strerror(errno);
    if (end == folder.npos) break;
  }
  struct stat status{};
  for (const auto look : {lstat, stat}) {  // check both the link itself and its target
    if (look(folder.c_str(), &status) != 0) return std::strerror(errno);
    if (status.st_uid != geteuid()) return "the folder is another user's";
  }
  return "";
}

std::string folder_of(const char* variable) {
  const char* const value = secure_getenv(variable);
  return value && *value == '/' ? value : "";
}

bool has_elevated_rights() { return getauxval(AT_SECURE) != 0; }

}  // namespace swapmeet
