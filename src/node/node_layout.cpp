#include "node/node_layout.hpp"

#include <algorithm>
#include <cstring>

namespace swapmeet {

std::size_t NodeLayout::bulk(std::uint32_t member) const {
  const auto whole_pages = [](std::size_t bytes) { return RowSize::aligned(bytes, arena_page_bytes); };
  return whole_pages(acknowledgements(members)) + member * whole_pages(cell_bulk_bytes() + rows().bulks_bytes());
}

void NodeLayout::clear(char* memory) const {
  std::memset(memory + row_heads(0), 0, acknowledgements(members) - row_heads(0));
}

NodeLayout NodeLayout::within(std::uint32_t members, std::size_t most_bytes) {
  constexpr std::uint32_t line = 64, cells = 2, least_lines = 256, most_lines = 1024;
  constexpr std::uint32_t rank_bytes = 512 << 10;  // size of the cells that a rank fills, which should stay in its
                                                   // cache
  const std::uint32_t fit = rank_bytes / (members * cells * line);
  for (std::uint32_t lines = std::clamp(fit, least_lines, most_lines) | 1;; lines = (lines / 2) | 1) {
    const NodeLayout layout{
        members, {cells, lines * line}, members > 1 ? std::min(lines / 4 * line, RowSize::most_block_bytes) : 0};
    if (layout.bytes() <= most_bytes) return layout;
    if (lines == 1) return {members, {0, 0}};
  }
}

}  // namespace swapmeet
