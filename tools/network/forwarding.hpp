/// Forwarding tables of InfiniBand switches, as `ibroute` prints them (dump_lfts.sh: those of all switches), to be read
/// with a dump of ibnetdiscover, which says what lids and ports are.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/text.hpp"

namespace swapmeet {

struct ForwardingTables {
  struct Entry {
    std::string at;  ///< the switch, "S-0002c902..."
    std::uint32_t lid = 0;
    int port = 0;  ///< 0: the switch itself
    int line = 0;
  };
  std::vector<Entry> entries;
  std::string here;  ///< whose table is being read; "": none is

  /// Whether a line that begins with this word is one of a table.
  static bool has(std::string_view first);

  /// Reads it.
  std::optional<Problem> read(const Lines& lines);
};

}  // namespace swapmeet
