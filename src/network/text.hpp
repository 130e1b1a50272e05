/// Networks as text: our own form (docs/networks.md), ibnetdiscover's dumps, Slurm's topology.conf.
#pragma once

#include <string>
#include <string_view>

#include "network/network.hpp"

namespace swapmeet {

/// Our text form. Reads back as the same network.
std::string to_text(const Network& network);

/// Whichever of the three it is. Every host can reach every other.
Result<Network> parse_network(std::string_view text);

Result<Network> parse_edges(std::string_view text);
Result<Network> parse_ibnetdiscover(std::string_view text);
Result<Network> parse_slurm(std::string_view text);

/// n[0-3,07] as n0 n1 n2 n3 n07; a problem names the column.
Result<std::vector<std::string>> expand_hosts(std::string_view list);

/// Splits a text into lines and words and says where they are.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  /// The next line that has words; comments left out if `comments`.
  bool next(bool comments = true);
  const std::vector<std::string_view>& words() const { return words_; }
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  /// A problem with a word of the line.
  Problem at(std::size_t word, std::string what) const;
  /// A problem with the line.
  Problem here(std::string what) const { return {std::move(what), number_, 1}; }

 private:
  std::string_view rest_, line_;
  std::vector<std::string_view> words_;
  int number_ = 0;
};

}  // namespace swapmeet
