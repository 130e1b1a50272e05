#include "schedule/output_file.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

namespace swapmeet {

namespace {

/// The folder of an output file. open_output() uses it to check what the kernel checks if fs.protected_symlinks,
/// protected_fifos and protected_regular are set, because these may be off.
class Folder {
 public:
  explicit Folder(const std::string& file) {
    const std::string name = file.substr(0, file.rfind('/') + 1) + '.';
    there_ = stat(name.c_str(), &status_) == 0;
  }

  bool everybody_writes() const { return there_ && (status_.st_mode & S_IWOTH) != 0; }
  /// Whether the file belongs neither to the user nor to the owner of the folder, who is mostly root.
  bool is_anothers(const struct stat& one) const { return one.st_uid != geteuid() && one.st_uid != status_.st_uid; }

 private:
  struct stat status_{};
  bool there_;
};

int file_of(void* cookie) { return static_cast<int>(reinterpret_cast<std::uintptr_t>(cookie)); }

constexpr cookie_io_functions_t of_stream{
    .read = nullptr,
    .write = [](void* cookie, const char* text, std::size_t bytes) -> ssize_t {
      return write_all(file_of(cookie), {text, bytes}).empty() ? static_cast<ssize_t>(bytes) : 0;  // 0 reports an error
    },
    .seek = nullptr,
    .close = [](void* cookie) { return close(file_of(cookie)); },
};

Problem refused(const char* what) { return {std::string(what) + ", in a folder where everybody may write"}; }

}  // namespace

WritesWithoutSignals::WritesWithoutSignals() {
  sigset_t held;
  sigemptyset(&held);
  for (const int signal : signals) sigaddset(&held, signal);
  pthread_sigmask(SIG_BLOCK, &held, &before_);
  sigpending(&pending_);
}

WritesWithoutSignals::~WritesWithoutSignals() {
  const int error = errno;
  constexpr timespec at_once{};
  for (const int signal : signals) {
    if (sigismember(&pending_, signal)) continue;  // pending before: the application's signal
    sigset_t ours;
    sigemptyset(&ours);
    sigaddset(&ours, signal);
    sigtimedwait(&ours, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  errno = error;
}

std::string write_all(int file, std::string_view text) {
  const WritesWithoutSignals held;
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return std::strerror(written < 0 ? errno : ENOSPC);
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return "";
}

Result<int> open_output(const std::string& file, int how) {
  const Folder folder(file);
  int flags = O_WRONLY | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (how & ~O_TRUNC);
  struct stat status{};
  bool is_link = false;
  if (folder.everybody_writes()) {
    is_link = lstat(file.c_str(), &status) == 0 && S_ISLNK(status.st_mode);
    if (is_link && folder.is_anothers(status)) return refused("another user's link");
    if (!is_link) flags |= O_NOFOLLOW;  // fails for a link that was created after the check
  }
  const int made = open(file.c_str(), flags, 0666);
  if (made < 0 && errno == ENXIO && stat(file.c_str(), &status) == 0 && S_ISFIFO(status.st_mode))
    return Problem{"a pipe that no process reads"};
  if (made < 0) return Problem{std::strerror(errno)};
  const auto give_up = [made](Problem problem) { return close(made), problem; };
  if (fstat(made, &status) != 0) return give_up({std::strerror(errno)});
  const bool is_file = S_ISREG(status.st_mode);
  if (folder.everybody_writes() && !is_link) {
    if (folder.is_anothers(status)) return give_up(refused(is_file ? "another user's file" : "another user's pipe"));
    if (is_file && status.st_nlink > 1) return give_up(refused("a file that has another name, too"));
  }
  if ((how & O_TRUNC) && is_file && ftruncate(made, 0) != 0) return give_up({std::strerror(errno)});
  fcntl(made, F_SETFL, fcntl(made, F_GETFL) & ~O_NONBLOCK);
  return made;
}

Result<std::FILE*> open_output_stream(const std::string& file) {
  const Result<int> opened = open_output(file, O_TRUNC);
  if (!opened) return opened.problem();
  const auto number = static_cast<std::uintptr_t>(*opened);
  if (std::FILE* const stream = fopencookie(reinterpret_cast<void*>(number), "w", of_stream)) return stream;
  Problem problem{std::strerror(errno)};
  close(*opened);
  return problem;
}

}  // namespace swapmeet
