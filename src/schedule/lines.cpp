#include "schedule/lines.hpp"

#include <algorithm>

namespace swapmeet {

bool Lines::next(bool comments) {
  while (!rest_.empty()) {
    const std::size_t end = rest_.find('\n');
    line_ = rest_.substr(0, end);
    rest_.remove_prefix(end == std::string_view::npos ? rest_.size() : end + 1);
    ++number_;
    if (comments) line_ = line_.substr(0, line_.find('#'));
    words_.clear();
    for (std::size_t at = 0; (at = line_.find_first_not_of(" \t\r", at)) != std::string_view::npos;) {
      const std::size_t stop = std::min(line_.find_first_of(" \t\r", at), line_.size());
      words_.push_back(line_.substr(at, stop - at));
      at = stop;
    }
    if (!words_.empty()) return true;
  }
  return false;
}

Problem Lines::at(std::size_t word, std::string what) const {
  const std::size_t column =
      word < words_.size() ? static_cast<std::size_t>(words_[word].data() - line_.data()) : line_.size();
  return {std::move(what), number_, static_cast<int>(column) + 1};
}

}  // namespace swapmeet
