/// A small program analysis: which variables may each pointer of a program point to? (Andersen's analysis: inclusions,
/// no order of statements.) Facts are spread over the ranks, and each round of new ones asks for an Alltoallv whose
/// load is never the same.
///
///   p = &o    points(p, o)
///   p = q     flows(q, p)
///   p = *q    flows(v, p) for each points(q, v)
///   *p = q    flows(q, v) for each points(p, v)
///   and       points(p, o) if flows(q, p) and points(q, o)
///
/// All of a variable is kept on one rank: to what it points, where it flows, and the loads and stores through it.
/// Source:  L. O. Andersen, Program analysis and specialization for the C programming language (1994); nonuniform,
///          section 5.2 (program analysis). Compared with the same rules on one rank.
#include <algorithm>
#include <deque>
#include <regex>
#include <set>
#include <sstream>
#include <unordered_map>

#include "../exchange/mail.hpp"
#include "../exchange/program.hpp"
#include "../exchange/random.hpp"

namespace {

using Variable = std::uint32_t;

struct Statement {
  enum Kind : std::uint32_t { address, copy, load, store } kind;
  Variable left, right;
};

/// What is found out: that `subject` points to `object`, or flows there. Loads and stores are facts from the beginning.
struct Fact {
  enum Kind : std::uint32_t { points, flows, loaded, stored } kind;
  Variable subject, object;
};

struct Pointer {
  Variable from, to;
  auto operator<=>(const Pointer&) const = default;
};

/// What is known of the variables that are at home here; says what follows from each new fact.
class Knowledge {
 public:
  /// Takes a fact in; calls tell(fact) for each that follows. False: it was known.
  template <class Tell>
  bool learn(const Fact& fact, Tell tell) {
    About& about = all_[fact.subject];
    if (!about.known[fact.kind].insert(fact.object).second) return false;
    const auto follow = [&](Fact::Kind kind, Variable pointed, Variable other) {
      if (kind == Fact::flows) tell(Fact{Fact::points, other, pointed});
      if (kind == Fact::loaded) tell(Fact{Fact::flows, pointed, other});
      if (kind == Fact::stored) tell(Fact{Fact::flows, other, pointed});
    };
    if (fact.kind == Fact::points)
      for (const auto kind : {Fact::flows, Fact::loaded, Fact::stored})
        for (const Variable other : about.known[kind]) follow(kind, fact.object, other);
    else
      for (const Variable pointed : about.known[Fact::points]) follow(fact.kind, pointed, fact.object);
    return true;
  }

  std::vector<Pointer> pointers() const {
    std::vector<Pointer> found;
    for (const auto& [subject, about] : all_)
      for (const Variable object : about.known[Fact::points]) found.push_back({subject, object});
    return found;
  }

 private:
  struct About {
    std::set<Variable> known[4];  ///< by kind of fact
  };
  std::unordered_map<Variable, About> all_;
};

Fact fact_of(const Statement& statement) {
  switch (statement.kind) {
    case Statement::address: return {Fact::points, statement.left, statement.right};
    case Statement::copy: return {Fact::flows, statement.right, statement.left};
    case Statement::load: return {Fact::loaded, statement.right, statement.left};
    default: return {Fact::stored, statement.left, statement.right};
  }
}

/// A program out of functions of 16 variables each: most statements stay within one, some pass values on, and a few
/// variables are used everywhere.
std::vector<Statement> random_program(Variable variables, std::uint64_t statements, std::uint64_t seed) {
  std::vector<Statement> program;
  for (std::uint64_t i = 0; i < statements; ++i) {
    const auto draw = [&](std::uint64_t n) { return random_bits(seed, 8 * i + n); };
    const Variable here = static_cast<Variable>(draw(0) % variables);
    const Variable near = here / 16 * 16 + static_cast<Variable>(draw(1) % 16);
    const Variable other =
        draw(2) % 10 == 0 ? static_cast<Variable>(draw(3) % (variables / 16 + 1)) : std::min(near, variables - 1);
    const std::uint64_t kind = draw(4) % 20;
    const auto what = kind < 6    ? Statement::address
                      : kind < 14 ? Statement::copy
                      : kind < 17 ? Statement::load
                                  : Statement::store;
    program.push_back({what, here, other});
  }
  return program;
}

/// Lines such as `p1 = &p2`, `p1 = p2`, `p1 = *p2` and `*p1 = p2`; # begins a comment.
bool read_line(std::string line, std::vector<Statement>& program) {
  line.resize(std::min(line.find('#'), line.size()));
  std::erase_if(line, [](char c) { return std::isspace(static_cast<unsigned char>(c)); });
  if (line.empty()) return true;
  static const std::regex form(R"((\*?)p(\d{1,9})=([&*]?)p(\d{1,9}))");
  std::smatch parts;
  if (!std::regex_match(line, parts, form) || (parts[1].length() != 0 && parts[3].length() != 0)) return false;
  const auto what = parts[1] == "*"   ? Statement::store
                    : parts[3] == "*" ? Statement::load
                    : parts[3] == "&" ? Statement::address
                                      : Statement::copy;
  const auto variable = [&](int part) { return static_cast<Variable>(std::stoul(parts[part])); };
  program.push_back({what, variable(2), variable(4)});
  return true;
}

std::vector<Statement> statements_of(const Program& program) {
  const std::string text = program.option("--program", "random:200:300:1");
  if (const auto n = numbers_of(text, "random", 3); !n.empty() && n[0] > 0 && n[1] <= 1u << 24)
    return random_program(n[0], n[1], n[2]);
  if (text.rfind("file:", 0) != 0)
    program.refuse("--program " + text +
                   ": expected random:VARIABLES:STATEMENTS:SEED (from 1, up to 2^24) or file:NAME");
  std::ifstream file(text.substr(5));
  if (!file) program.refuse("--program " + text + ": cannot be read");
  std::vector<Statement> found;
  std::string line;
  for (int number = 1; std::getline(file, line); ++number)
    if (!read_line(line, found))
      program.refuse("--program " + text + ", line " + std::to_string(number) +
                     ": expected p1 = &p2, p1 = p2, p1 = *p2 or *p1 = p2");
  if (file.bad()) program.refuse("--program " + text + ": cannot be read");
  return found;
}

/// The same rules on one rank, one fact after the other.
std::vector<Pointer> alone(const std::vector<Statement>& program) {
  Knowledge knowledge;
  std::deque<Fact> open;
  for (const Statement& statement : program) open.push_back(fact_of(statement));
  for (; !open.empty(); open.pop_front())
    knowledge.learn(open.front(), [&](const Fact& next) { open.push_back(next); });
  std::vector<Pointer> found = knowledge.pointers();
  std::ranges::sort(found);
  return found;
}

}  // namespace

int main(int argc, char** argv) {
  const Program program(argc, argv,
                        "--program random:VARIABLES:STATEMENTS:SEED|file:NAME --check 0|1 --loads 0|1 --output FILE");
  const bool check = program.number("--check", 1, 0, 1) != 0;
  const bool tell_loads = program.number("--loads", 0, 0, 1) != 0;
  const std::vector<Statement> statements = statements_of(program);
  const auto home = [&](Variable variable) {
    return static_cast<int>(random_bits(7, variable) % static_cast<std::uint64_t>(program.ranks));
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  Knowledge knowledge;
  std::vector<long long> loads;  // facts that all ranks sent in each round
  {
    Mail<Fact> mail(MPI_COMM_WORLD);
    for (std::size_t i = static_cast<std::size_t>(program.rank); i < statements.size();
         i += static_cast<std::size_t>(program.ranks)) {
      const Fact fact = fact_of(statements[i]);
      mail.post(home(fact.subject), fact);
    }
    do {
      const std::vector<Fact> come = mail.deliver();
      computed(static_cast<double>(come.size()));  // an operation is a fact that came, and was looked for
      long long sent = static_cast<long long>(come.size());
      MPI_Allreduce(MPI_IN_PLACE, &sent, 1, MPI_LONG_LONG, MPI_SUM, MPI_COMM_WORLD);
      loads.push_back(sent);
      for (const Fact& fact : come)
        knowledge.learn(fact, [&](const Fact& next) { mail.post(home(next.subject), next); });
    } while (loads.back() > 0);
  }
  const double seconds = MPI_Wtime() - start;
  std::vector<Pointer> pointers = program.gathered(knowledge.pointers());
  std::ranges::sort(pointers);
  program.write(pointers.data(), pointers.size() * sizeof(Pointer));
  if (program.rank == 0 && tell_loads)
    for (const long long load : loads) std::printf("%lld\n", load);
  const bool right = program.rank != 0 || !check || pointers == alone(statements);
  return program.end("points_to of " + std::to_string(statements.size()) + " statements: " +
                         std::to_string(pointers.size()) + " pointers in " + std::to_string(loads.size()) + " rounds",
                     right, seconds);
}
