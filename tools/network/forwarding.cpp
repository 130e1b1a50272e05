#include "network/forwarding.hpp"

#include <algorithm>
#include <charconv>

namespace swapmeet {

namespace {

template <class Integer>
bool number(std::string_view text, int base, Integer& value) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size();
}

constexpr std::string_view digits = "0123456789";

}  // namespace

bool ForwardingTables::has(std::string_view first) {
  return first == "Unicast" || first == "Lid" || first == "Port" || first.starts_with("0x") ||
         first.find_first_not_of(digits) == first.npos;
}

/// Reads the current line of a table such as:
///   Unicast lids [0x0-0x12] of switch Lid 3 guid 0x0002c902004885a8 (leaf1):
///     Lid  Out   Destination
///          Port     Info
///   0x0001 016 : (Channel Adapter portguid 0x0002c903000ab6a1: 'node1 HCA-1')
///   12 valid lids dumped
std::optional<Problem> ForwardingTables::read(const Lines& lines) {
  const auto& words = lines.words();
  const std::string_view first = words[0];
  if (first == "Unicast") {
    const auto guid = std::ranges::find(words, "guid");
    std::uint64_t value = 0;
    if (guid == words.end() || guid + 1 == words.end() || !number(guid[1], 16, value))
      return lines.here("expected Unicast lids ... guid 0xGUID");
    std::string hexadecimal(guid[1].substr(guid[1].starts_with("0x") ? 2 : 0));
    here = "S-" + std::string(16 - std::min<std::size_t>(16, hexadecimal.size()), '0') + hexadecimal;
  } else if (first.starts_with("0x")) {
    Entry entry{here, 0, 0, lines.number()};
    if (here.empty()) return lines.here("a lid before any \"Unicast lids ... guid 0xGUID\"");
    if (!number(first, 16, entry.lid) || words.size() < 2 || !number(words[1], 10, entry.port) || entry.port < 0 ||
        entry.port > 255)
      return lines.here("expected LID PORT, as in 0x0001 016: the table is cut off");
    entries.push_back(std::move(entry));
  }
  return std::nullopt;
}

}  // namespace swapmeet
