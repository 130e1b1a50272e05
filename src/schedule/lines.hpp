/// Lines splits a text written by people or tools into lines and words, and reports the position of problems.
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

  /// Goes to the next line that has words; false at the end of the text. If `comments`, text from # to the end of a
  /// line is ignored.
  bool next(bool comments = true);
  const std::vector<std::string_view>& words() const { return words_; }
  std::string_view line() const { return line_; }
  int number() const { return number_; }
  /// Returns a problem located at a word of the line. A `word` beyond the last one means the end of the line.
  Problem at(std::size_t word, std::string what) const;
  /// Returns a problem located at the beginning of the line.
  Problem here(std::string what) const { return {std::move(what), number_, 1}; }

 private:
  std::string_view rest_, line_;
  std::vector<std::string_view> words_;
  int number_ = 0;
};

}  // namespace swapmeet
