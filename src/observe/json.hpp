/// Functions and a class that write JSON.
#pragma once

#include <concepts>
#include <functional>
#include <string>
#include <string_view>
#include <type_traits>

#include "schedule/names.hpp"

namespace swapmeet {

/// A value whose text is JSON already.
struct Json {
  std::string text;
};

/// Returns `text` as a JSON string, with a blank for each character that is not printable.
inline std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char c : printable(text, ' ')) {
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  return json + '"';
}

/// Returns a whole number as JSON.
inline std::string number(std::integral auto value) { return std::to_string(value); }

/// Returns a value as JSON: a Json, a boolean, a whole number or a text.
template <class Value>
std::string json_of_value(const Value& value) {
  if constexpr (std::is_same_v<Value, Json>) return value.text;
  else if constexpr (std::is_same_v<Value, bool>) return value ? "true" : "false";
  else if constexpr (std::integral<Value>) return number(value);
  else return json_text(value);
}

/// Returns the list of value(x) for each x of `all`, with `comma` between them.
template <class Value = std::identity>
Json json_list(const auto& all, const char* comma = ", ", Value value = {}) {
  std::string text = "[";
  for (const auto& one : all) {
    if (text.size() > 1) text += comma;
    text += json_of_value(value(one));
  }
  return {text + ']'};
}

/// The members of a JSON object, in the order of their addition. A compact object has no blanks between its parts.
class JsonMembers {
 public:
  explicit JsonMembers(bool compact = false) : compact_(compact) {}

  JsonMembers& add(std::string_view name, const auto& value) {
    if (!text_.empty()) text_ += compact_ ? "," : ", ";
    ((text_ += '"') += name) += compact_ ? "\":" : "\": ";
    text_ += json_of_value(value);
    return *this;
  }
  /// Adds the members of another object, which has some.
  JsonMembers& add(const JsonMembers& more) {
    if (!text_.empty()) text_ += compact_ ? "," : ", ";
    text_ += more.text_;
    return *this;
  }

  const std::string& text() const { return text_; }
  Json object() const { return {'{' + text_ + '}'}; }

 private:
  bool compact_;
  std::string text_;
};

}  // namespace swapmeet
