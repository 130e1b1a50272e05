#include "node/single_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace swapmeet {

namespace {

constexpr std::size_t most_pieces = 64;  // in one system call

/// A position in a list of pieces, from which the next pieces are passed to the kernel.
template <class Any>
class Window {
 public:
  explicit Window(std::span<const Any> pieces) : pieces_(pieces) {}

  /// Fills `vector` with the next pieces, at most `most` bytes. Returns the number of entries, and their size in
  /// `bytes`.
  std::size_t look(std::array<iovec, most_pieces>& vector, std::size_t most, std::size_t& bytes) const {
    std::size_t count = 0, offset = offset_;
    bytes = 0;
    for (std::size_t i = next_; i < pieces_.size() && count < most_pieces && bytes < most; ++i, offset = 0) {
      const std::size_t length = std::min<std::size_t>(pieces_[i].bytes - offset, most - bytes);
      if (length == 0) continue;
      vector[count++] = {reinterpret_cast<char*>(pieces_[i].address) + offset, length};
      bytes += length;
    }
    return count;
  }

  void advance(std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t left = pieces_[next_].bytes - offset_;
      if (bytes < left) return void(offset_ += bytes);
      bytes -= left;
      ++next_;
      offset_ = 0;
    }
  }

 private:
  std::span<const Any> pieces_;
  std::size_t next_ = 0, offset_ = 0;
};

}  // namespace

bool read_from(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to) {
  Window source(from);
  Window target(to);
  std::array<iovec, most_pieces> remote, local;
  while (true) {
    std::size_t bytes = SIZE_MAX;
    std::size_t targets = target.look(local, bytes, bytes);
    const std::size_t sources = source.look(remote, bytes, bytes);
    targets = target.look(local, bytes, bytes);  // no more bytes than the source has
    if (targets == 0 || sources == 0) return true;
    const ssize_t read = process_vm_readv(process, local.data(), targets, remote.data(), sources, 0);
    if (read <= 0) return false;
    source.advance(static_cast<std::size_t>(read));
    target.advance(static_cast<std::size_t>(read));
  }
}

}  // namespace swapmeet
