#include "node/single_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <memory>
#include <new>

namespace swapmeet {

namespace {

constexpr std::size_t most_pieces = 64;  // in one system call

/// Pieces from some byte on, as the kernel wants them.
template <class Any>
class Window {
 public:
  explicit Window(std::span<const Any> pieces) : pieces_(pieces) {}

  /// Fills `vector` with what comes next, `most` bytes of it at most. Returns how many entries that are; sets `bytes`.
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

bool read_pieces(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to) {
  Window source(from);
  Window target(to);
  std::array<iovec, most_pieces> remote, local;
  while (true) {
    std::size_t bytes = SIZE_MAX;
    std::size_t targets = target.look(local, bytes, bytes);
    const std::size_t sources = source.look(remote, bytes, bytes);
    targets = target.look(local, bytes, bytes);  // no more than the source has
    if (targets == 0 || sources == 0) return true;
    const ssize_t read = process_vm_readv(process, local.data(), targets, remote.data(), sources, 0);
    if (read <= 0) return false;
    source.advance(static_cast<std::size_t>(read));
    target.advance(static_cast<std::size_t>(read));
  }
}

/// What another process has, from its beginning to its end.
class Source {
 public:
  Source(pid_t process, const RemoteData& from) : process_(process), from_(from) {
    for (const RemotePiece& piece : from.pieces) left_ += piece.bytes;
  }

  std::size_t left() const { return left_; }

  /// The next bytes of it. False: the kernel refused.
  bool read(char* to, std::size_t bytes) {
    to_ = to;
    left_ -= bytes;
    if (from_.map) {
      const auto begin = static_cast<std::int64_t>(done_), end = static_cast<std::int64_t>(done_ += bytes);
      visit(*from_.map, nullptr, begin, end,
            [this](char* at, std::int64_t stride, std::int64_t runs, std::int64_t length) {
              // `at` is an offset, not of what is here: no pointer to count on with
              std::uintptr_t address = from_.pieces.front().address + reinterpret_cast<std::uintptr_t>(at);
              for (; runs > 0; --runs, address += static_cast<std::uintptr_t>(stride))
                add(address, static_cast<std::size_t>(length));
            });
    }
    for (; !from_.map && bytes > 0; done_ = 0, ++piece_) {
      const RemotePiece& piece = from_.pieces[piece_];
      const std::size_t part = std::min<std::size_t>(bytes, piece.bytes - done_);
      add(piece.address + done_, part);
      bytes -= part;
      if ((done_ += part) < piece.bytes) break;
    }
    flush();
    return !refused_;
  }

 private:
  void add(std::uint64_t address, std::size_t bytes) {
    batch_[count_++] = {address, bytes};
    bytes_ += bytes;
    if (count_ == batch_.size()) flush();
  }

  void flush() {
    const Piece room{to_, bytes_};
    refused_ = refused_ || !read_pieces(process_, std::span(batch_).first(count_), {&room, 1});
    to_ += bytes_;
    bytes_ = count_ = 0;
  }

  pid_t process_;
  RemoteData from_;
  std::size_t piece_ = 0, done_ = 0;  ///< bytes of the piece, or of the elements
  std::size_t left_ = 0;
  std::array<RemotePiece, most_pieces> batch_;
  std::size_t count_ = 0, bytes_ = 0;  ///< in the batch
  char* to_ = nullptr;
  bool refused_ = false;
};

/// The next `bytes` bytes of `source`, to elements.
bool read_elements(Source& source, const Piece& to, std::int64_t bytes) {
  if (worth_reading(to.map)) {
    bool read = true;
    visit(*to.map, to.address, 0, bytes, [&](char* at, std::int64_t stride, std::int64_t runs, std::int64_t length) {
      for (; runs > 0 && read; --runs, at += stride) read = source.read(at, static_cast<std::size_t>(length));
    });
    return read;
  }
  constexpr std::int64_t between_bytes = 32 << 10;  // which stay in the cache
  // not on the stack, which may be a small one (tests/mpi/stack_test.py)
  const std::unique_ptr<char[]> between(new (std::nothrow) char[between_bytes]);
  if (!between) return false;
  for (std::int64_t done = 0; done < bytes; done += between_bytes) {
    const std::int64_t part = std::min(between_bytes, bytes - done);
    if (!source.read(between.get(), static_cast<std::size_t>(part))) return false;
    scatter(to.elements(), done, part, between.get());
  }
  return true;
}

}  // namespace

bool read_from(pid_t process, const RemoteData& from, std::span<const Piece> to) {
  if (!from.map && std::ranges::none_of(to, &Piece::map)) return read_pieces(process, from.pieces, to);
  Source source(process, from);
  for (const Piece& piece : to) {
    const std::size_t bytes = std::min(piece.bytes, source.left());
    if (bytes == 0) break;
    if (!(piece.map ? read_elements(source, piece, static_cast<std::int64_t>(bytes))
                    : source.read(piece.address, bytes)))
      return false;
  }
  return true;
}

}  // namespace swapmeet
