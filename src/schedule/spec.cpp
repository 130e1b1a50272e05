#include "schedule/spec.hpp"

#include <algorithm>
#include <bit>

namespace swapmeet {

namespace {

/// A part of a spec's text and the column at which it begins.
struct Word {
  std::string_view text;
  int column = 1;

  Word trimmed() const {
    Word word = *this;
    while (!word.text.empty() && word.text.front() == ' ') word.text.remove_prefix(1), ++word.column;
    while (!word.text.empty() && word.text.back() == ' ') word.text.remove_suffix(1);
    return word;
  }

  /// Returns `length` characters from `first` on, without blanks at both ends.
  Word part(std::size_t first, std::size_t length = std::string_view::npos) const {
    return Word{text.substr(first, length), column + static_cast<int>(first)}.trimmed();
  }
};

/// Returns the first position of `character` outside of all parentheses opened in `text`, or npos.
std::size_t outside(std::string_view text, char character) {
  std::size_t depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (depth == 0 && text[i] == character) return i;
    if (text[i] == '(') ++depth;
    if (text[i] == ')' && depth > 0) --depth;
  }
  return std::string_view::npos;
}

std::string did_you_mean(const std::string& what) {
  return "; did you mean " + what + "? (`swapmeet algorithms` lists all)";
}

/// Returns a hint for an unknown word: the nearest known word, or otherwise the whole `list`.
std::string instead(std::string_view word, const std::vector<std::string>& candidates, const std::string& list) {
  const std::string near = word.empty() ? "" : nearest(word, candidates);
  return near.empty() ? " (known: " + list + ")" : did_you_mean(in_quotes(near));
}

Problem unknown_name(const Word& name) {
  if (name.text == "auto")
    return {"\"auto\" is a choice among specs, not one of them; `swapmeet explain` prints which it takes", 0,
            name.column};
  std::vector<std::string> names(family_names.begin(), family_names.end());
  for (const Alias& alias : aliases()) names.emplace_back(alias.name);
  std::string list;
  for (const std::string& known : names) list += (list.empty() ? "" : ", ") + known;
  const std::string what =
      name.text.empty() ? "expected the name of an algorithm" : "unknown algorithm " + in_quotes(name.text);
  return {what + instead(name.text, names, list), 0, name.column};
}

/// Returns "key=value" for the first parameter that accepts this value, or "" if no parameter does. Used if a value
/// stands where a key is expected.
std::string with_value(std::string_view value) {
  for (const Parameter& parameter : parameters())
    if (Spec any; !value.empty() && parameter.read(value, any))
      return std::string(parameter.key) + "=" + std::string(value);
  return "";
}

Problem unknown_key(const Word& key) {
  std::vector<std::string> keys;
  std::string list;
  for (const Parameter& parameter : parameters()) {
    if (std::ranges::find(keys, parameter.key) != keys.end()) continue;
    keys.emplace_back(parameter.key);
    list += (list.empty() ? "" : ", ") + keys.back();
    if (!parameter.synonym.empty()) keys.emplace_back(parameter.synonym);
  }
  const std::string what = key.text.empty() ? "expected a parameter" : "unknown parameter " + in_quotes(key.text);
  if (const std::string meant = with_value(key.text); !meant.empty())
    return {what + did_you_mean(meant), 0, key.column};
  return {what + instead(key.text, keys, list), 0, key.column};
}

/// Reads "key=value" into `spec`. `seen` holds the keys read before.
std::optional<Problem> read_parameter(const Word& text, Spec& spec, std::vector<std::string_view>& seen) {
  const std::size_t equals = text.text.find('=');
  const Word key = text.part(0, equals);
  const auto of_family = [&](const Parameter& parameter) {
    return std::ranges::find(parameter.families, spec.family) != parameter.families.end();
  };
  const auto so_called = [&](const Parameter& parameter) {
    return !key.text.empty() && (parameter.key == key.text || parameter.synonym == key.text);
  };
  if (std::ranges::none_of(parameters(), so_called)) return unknown_key(key);
  const auto found = std::ranges::find_if(
      parameters(), [&](const Parameter& parameter) { return so_called(parameter) && of_family(parameter); });
  if (found == parameters().end())
    return Problem{
        in_quotes(key.text) + " is no parameter of " + std::string(family_names[static_cast<std::size_t>(spec.family)]),
        0, key.column};
  if (equals == std::string_view::npos)
    return Problem{"expected \"=\" behind " + in_quotes(key.text), 0, key.column + static_cast<int>(key.text.size())};
  if (std::ranges::find(seen, found->key) != seen.end())
    return Problem{in_quotes(key.text) + " is given twice", 0, key.column};
  seen.push_back(found->key);
  const Word value = text.part(equals + 1);
  if (found->read(value.text, spec)) return std::nullopt;
  return Problem{std::string(found->key) + " must be " + std::string(found->values) + ", not " + in_quotes(value.text),
                 0, value.column};
}

/// Sets the window of an order of a network, if the user sets neither window nor completion. The default is a sliding
/// window: late ranks then delay few others, and the window is short enough for messages to stay near their slots
/// (docs/networks.md).
void queue_by_default(Spec& spec, const std::vector<std::string_view>& given) {
  const auto is_given = [&](std::string_view key) { return std::ranges::count(given, key) > 0; };
  if (spec.family != Family::direct || spec.order != Order::topology || is_given("window") || is_given("complete"))
    return;
  spec.window = 8;
  spec.completion = Completion::any;
}

std::optional<Problem> read_parameters(Word list, Spec& spec, bool of_family) {
  std::vector<std::string_view> seen;
  while (!list.text.empty()) {
    const std::size_t comma = outside(list.text, ',');
    if (auto problem = read_parameter(list.part(0, comma), spec, seen)) return problem;
    if (comma == std::string_view::npos) break;
    list = list.part(comma + 1);
    if (list.text.empty()) return unknown_key(list);
  }
  if (of_family) queue_by_default(spec, seen);
  return std::nullopt;
}

/// Returns the spec for a family or an alias without parameters.
std::optional<Spec> named_spec(std::string_view name) {
  if (const auto family = named<Family>(name, family_names)) {
    Spec spec;
    spec.family = *family;
    return spec;
  }
  for (const Alias& alias : aliases())
    if (alias.name == name) return *parse_spec(alias.expansion);
  return std::nullopt;
}

}  // namespace

Result<Spec> parse_spec(std::string_view text) {
  const Word whole = Word{text}.trimmed();
  const std::size_t open = whole.text.find('(');
  const Word name = whole.part(0, open);
  const auto point = named_spec(name.text);
  if (!point) return unknown_name(name);
  Spec spec = *point;
  if (open == std::string_view::npos) return spec;
  const std::size_t length = outside(whole.text.substr(open + 1), ')'), close = open + 1 + length;
  if (length == std::string_view::npos)
    return Problem{"expected \")\" at the end", 0, whole.column + static_cast<int>(whole.text.size())};
  if (close + 1 != whole.text.size())
    return Problem{"nothing may follow the \")\"", 0, whole.column + static_cast<int>(close) + 1};
  const Word list = whole.part(open + 1, close - open - 1);
  if (auto problem = read_parameters(list, spec, named<Family>(name.text, family_names).has_value())) return *problem;
  return spec;
}

std::string to_text(const Spec& spec) {
  std::string text(family_names[static_cast<std::size_t>(spec.family)]);
  std::string list;
  const Spec defaults{.family = spec.family};
  for (const Parameter& parameter : parameters()) {
    if (!parameter.print || std::ranges::find(parameter.families, spec.family) == parameter.families.end()) continue;
    const std::string value = parameter.print(spec);
    if (!parameter.always_printed && value == parameter.print(defaults)) continue;
    list += (list.empty() ? "" : ",") + std::string(parameter.key) + '=' + value;
  }
  return list.empty() ? text : text + '(' + list + ')';
}

bool forwards(const Spec& spec) { return spec.family != Family::native && spec.family != Family::direct; }

bool needs_sizes(const Spec& spec) { return forwards(spec) || spec.sizes == Sizes::padded; }

}  // namespace swapmeet
