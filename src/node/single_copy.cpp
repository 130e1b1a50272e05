#include "node/single_copy.hpp"

#include <sys/uio.h>

#include <algorithm>
#include <array>

namespace swapmeet {

bool read_from(pid_t process, std::span<const RemotePiece> from, std::span<const Piece> to) {
  constexpr std::size_t most_parts = 64;  // in one system call
  std::array<iovec, most_parts> remote, local;
  std::size_t parts = 0;
  const auto read_parts = [&] {
    for (std::size_t first = 0; first < parts;) {
      const ssize_t read = process_vm_readv(process, &local[first], parts - first, &remote[first], parts - first, 0);
      if (read <= 0) return false;
      for (auto left = static_cast<std::size_t>(read); left > 0;) {
        const std::size_t part = std::min(left, local[first].iov_len);
        left -= part;
        local[first] = {static_cast<char*>(local[first].iov_base) + part, local[first].iov_len - part};
        remote[first] = {static_cast<char*>(remote[first].iov_base) + part, remote[first].iov_len - part};
        if (local[first].iov_len == 0) ++first;
      }
    }
    parts = 0;
    return true;
  };
  const auto add = [&](const RemotePiece& source, std::size_t read, const Piece& target, std::size_t written,
                       std::size_t bytes) {
    if (bytes == 0) return true;
    remote[parts] = {reinterpret_cast<char*>(source.address) + read, bytes};
    local[parts] = {target.address + written, bytes};
    return ++parts < most_parts || read_parts();
  };
  return for_parts(from, to, add) && read_parts();
}

}  // namespace swapmeet
