/// The error type of the core: a result is a value, or a description of the problem and its position.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace swapmeet {

/// A problem, usually in a text that a person wrote. `line` and `column` count from 1; 0: unknown.
struct Problem {
  std::string what;
  int line = 0;
  int column = 0;

  /// Returns "what (line L, column C)".
  std::string text() const {
    if (line > 0) return what + " (line " + std::to_string(line) + ", column " + std::to_string(column) + ")";
    if (column > 0) return what + " (column " + std::to_string(column) + ")";
    return what;
  }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Problem problem) : state_(std::move(problem)) {}

  explicit operator bool() const { return state_.index() == 0; }
  const T& operator*() const { return std::get<0>(state_); }
  T& operator*() { return std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Problem& problem() const { return std::get<1>(state_); }

 private:
  std::variant<T, Problem> state_;
};

}  // namespace swapmeet
