/// The parsing of text lines (tuning rules, evidence) word by word.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "schedule/collective.hpp"
#include "schedule/result.hpp"

namespace swapmeet {

/// A line and the position up to which it has been read.
class Line {
 public:
  Line(std::string_view text, int number) : text_(text), number_(number) {}

  /// Returns the next word; "" at the end of the line.
  std::string_view word() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    begin_ = at_;
    while (at_ < text_.size() && text_[at_] != ' ') ++at_;
    return text_.substr(begin_, at_ - begin_);
  }
  /// Returns the rest of the line without blanks around it.
  std::string_view rest() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    begin_ = at_;
    std::string_view rest = text_.substr(at_);
    while (rest.ends_with(' ')) rest.remove_suffix(1);
    at_ = text_.size();
    return rest;
  }
  /// Returns a problem whose column is that of the last word read.
  Problem problem(std::string what) const { return {std::move(what), number_, static_cast<int>(begin_) + 1}; }

  int number() const { return number_; }

 private:
  std::string_view text_;
  int number_;
  std::size_t begin_ = 0, at_ = 0;
};

/// Returns the name in lower case, such as "alltoallv".
inline std::string lower_name(Collective collective) {
  std::string name(name_of(collective));
  name.front() = 'a';
  return name;
}

inline std::optional<Collective> collective_named(std::string_view name) {
  for (std::size_t k = 0; k < alltoalls; ++k)
    if (name == lower_name(static_cast<Collective>(k))) return static_cast<Collective>(k);
  return std::nullopt;
}

}  // namespace swapmeet
