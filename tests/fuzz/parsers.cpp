// For libFuzzer: the parsers of what comes from outside. SWAPMEET_FUZZ names one of them. A text is read, or refused with a
// short sentence; what was read is written so that it reads back as the same.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "evidence/file.hpp"
#include "network/generators.hpp"
#include "network/placement.hpp"
#include "network/slots.hpp"
#include "network/text.hpp"
#include "options/options.hpp"
#include "schedule/spec.hpp"
#include "text/schedule_text.hpp"
#include "topology/node_map.hpp"
#include "workload/workload.h"

using namespace swapmeet;

namespace {

constexpr std::size_t longest_sentence = 2000;
constexpr Rank ranks = 12;

void require(bool right, const char* what) {
  if (right) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

void require_sentence(const std::string& text) {
  require(!text.empty() && text.size() < longest_sentence, "a refusal is one short sentence");
}

template <class T>
bool was_read(const Result<T>& result) {
  if (!result) require_sentence(result.problem().text());
  return static_cast<bool>(result);
}

template <auto parse>
void written_again(std::string_view text) {
  const auto first = parse(text);
  if (!was_read(first)) return;
  const auto second = parse(to_text(*first));
  require(second && *second == *first, "what was written reads back as another");
}

void network(std::string_view text) {
  const Result<Network> first = parse_network(text);
  if (!was_read(first)) return;
  const std::string written = to_text(*first);
  const Result<Network> second = parse_network(written);
  require(second && to_text(*second) == written, "what was written reads back as another network");
}

void memory(std::string_view text) {
  const Result<EvidenceFile> first = parse_memory(text);
  if (!was_read(first)) return;
  const std::string written = memory_text(first->key, first->evidence);
  const Result<EvidenceFile> second = parse_memory(written);
  require(second && second->unusable == 0 && second->key == first->key, "memory that was written cannot be used");
  require(second->evidence.size() == first->evidence.size(), "memory that was written has lost something");
}

void node_map(std::string_view text) { was_read(parse_node_map(text, ranks)); }
void tuning(std::string_view text) { was_read(parse_tuning(text)); }

void placement(std::string_view text) {
  static const Result<Network> torus = named_network("torus(dims=3x2,hosts=2)");
  was_read(parse_placement(text, *torus, ranks));
}

/// Variables, one a line.
void options(std::string_view text) {
  std::string entries(text);
  std::ranges::replace(entries, '\0', ' ');
  std::vector<const char*> environment;
  for (std::size_t begin = 0; begin < entries.size();) {
    const std::size_t end = std::min(entries.find('\n', begin), entries.size());
    if (end < entries.size()) entries[end] = '\0';
    environment.push_back(&entries[begin]);
    begin = end + 1;
  }
  environment.push_back(nullptr);
  for (const std::string& problem : read_options(environment.data(), ranks).problems) {
    require_sentence(problem);
    require(problem.find('\n') == problem.npos, "a problem has several lines");
  }
}

void workload(std::string_view text) {
  const std::string words(text.substr(0, text.find('\0')));
  Workload found;
  char message[400] = "";
  if (!workload_parse(words.c_str(), &found, message, sizeof message)) return require_sentence(message);
  for (int from = 0; from < 3; ++from)
    for (int to = 0; to < 3; ++to) require(workload_bytes(&found, 1, 3, from, to) >= 0, "a block of negative size");
}

struct Parser {
  std::string_view name;
  void (*read)(std::string_view text);
};
constexpr std::array parsers{
    Parser{"memory", memory},
    Parser{"network", network},
    Parser{"nodes", node_map},
    Parser{"options", options},
    Parser{"placement", placement},
    Parser{"schedule", written_again<parse_schedule>},
    Parser{"slots", written_again<parse_slots>},
    Parser{"spec", written_again<parse_spec>},
    Parser{"tuning", tuning},
    Parser{"workload", workload},
};

const Parser& chosen() {
  const char* const name = std::getenv("SWAPMEET_FUZZ");
  const auto found = std::ranges::find(parsers, name ? name : "", &Parser::name);
  if (found != parsers.end()) return *found;
  std::fputs("SWAPMEET_FUZZ names one of:", stderr);
  for (const Parser& parser : parsers) std::fprintf(stderr, " %s", std::string(parser.name).c_str());
  std::fputs("\n", stderr);
  std::exit(2);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t bytes) {
  static const Parser& parser = chosen();
  parser.read({reinterpret_cast<const char*>(data), bytes});
  return 0;
}
