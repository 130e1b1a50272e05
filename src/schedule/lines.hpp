/// Splits a text that people or tools wrote into lines and words, and says where they are.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "schedule/result.hpp"

namespace swapmeet {

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
