/// The forwarding tables of InfiniBand switches, as `ibroute` prints them (dump_lfts.sh: those of all switches). A dump
/// of ibnetdiscover is needed to know the hosts of lids and the links of ports.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "network/text.hpp"

namespace swapmeet {

struct ForwardingTables {
  struct Entry {
    std::string at;  ///< switch, "S-0002c902..."
    std::uint32_t lid = 0;
    int port = 0;  ///< output port; 0: the switch itself
    int line = 0;
  };
  std::vector<Entry> entries;
  std::string here;  ///< switch of the table being read; "": none

  /// Whether a line with this first word belongs to a table.
  static bool has(std::string_view first);

  /// Reads the current line.
  std::optional<Problem> read(const Lines& lines);
};

}  // namespace swapmeet
