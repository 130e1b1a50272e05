/// The memory of a message, as the parts of the fabric take it. A payload describes each of its messages by an object
/// with these functions:
///
///   lost()          of a send: this rank has no data for the message; its receiver must learn that
///                   of a receive: this rank has no memory for the message, which is received and discarded
///   part()          the memory as MPI takes it; not called if lost() is true
///   pieces(list)    the memory as transfers within the node take it: fills `list` and returns the part of it in use
///   bytes()         the size of the message
///   room()          called if lost() is true: memory for the first bytes of a receive, which are kept
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mpi/mpi.hpp"
#include "node/single_copy.hpp"

namespace swapmeet {

struct Place {
  std::span<const Piece> pieces;
  std::size_t bytes;  ///< of all pieces together; 0: there is no message
};

/// The memory of a message of contiguous bytes.
struct ContiguousMemory {
  char* address;
  std::int64_t size;
  bool is_lost = false;
  Piece kept{};  ///< room()

  bool lost() const { return is_lost; }
  std::int64_t bytes() const { return size; }
  Piece room() const { return kept; }
  Part part() const { return {address, size, MPI_BYTE}; }
  Place pieces(Piece* list) const {
    *list = {address, static_cast<std::size_t>(size)};
    return {{list, 1}, list->bytes};
  }
};

}  // namespace swapmeet
