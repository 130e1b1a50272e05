/// Tries every order of what the ranks of a node do in shared memory.
///
///   interleavings list
///   interleavings run NAME|brief|all [states=NUMBER] [weaken=WORDS:loads|stores] [mutation=NUMBER]
///
/// weaken: accesses of words whose names begin so are relaxed. mutation: of code with several (mutations.py).
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "mutation.hpp"
#include "scenarios.hpp"

int mutation = 0;

namespace {

[[noreturn]] void give_up(const std::string& why) {
  std::printf("interleavings: %s\n", why.c_str());
  std::exit(2);
}

struct Words {
  std::size_t most_states = 20'000'000;
  Weakened weakened{};
};

Words read_words(int count, char** words) {
  Words read;
  for (int k = 0; k < count; ++k) {
    const std::string word = words[k], name = word.substr(0, word.find('='));
    const std::string value = name.size() < word.size() ? word.substr(name.size() + 1) : "";
    if (name == "states") read.most_states = std::strtoull(value.c_str(), nullptr, 0);
    else if (name == "mutation") mutation = std::atoi(value.c_str());
    else if (name == "weaken" && value.find(':') != std::string::npos)
      read.weakened = {value.substr(0, value.find(':')),
                       value.ends_with(":loads") ? Weakened::Of::loads : Weakened::Of::stores};
    else give_up("what is " + word + "?");
  }
  return read;
}

/// Returns whether all is right.
bool run(const Scenario& scenario, const Words& words) {
  const auto begin = std::chrono::steady_clock::now();
  Explorer explorer(shared_memory(), shared_bytes(), scenario.ranks, scenario.make, words.weakened);
  const std::string problem = explorer.explore(words.most_states);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("%s: %zu states, %zu executions, %.2f s%s%s\n", scenario.name, explorer.states(), explorer.executions(),
              took.count(), problem.empty() ? "" : ": ", problem.c_str());
  std::fflush(stdout);
  return problem.empty();
}

}  // namespace

int main(int count, char** words) {
  const std::string what = count > 1 ? words[1] : "";
  if (what == "list") {
    for (const Scenario& scenario : scenarios())
      std::printf("%s %s\n", scenario.name, scenario.brief ? "brief" : "long");
    return 0;
  }
  if (what != "run" || count < 3) give_up("what to do?");
  const Words read = read_words(count - 3, words + 3);
  const std::string name = words[2];
  int tried = 0, wrong = 0;
  for (const Scenario& scenario : scenarios())
    if (name == "all" || name == scenario.name || (name == "brief" && scenario.brief)) {
      ++tried;
      wrong += !run(scenario, read);
    }
  if (tried == 0) give_up("what is " + name + "?");
  std::printf("interleavings: %d of %d wrong\n", wrong, tried);
  return wrong != 0;
}
