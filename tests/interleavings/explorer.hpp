/// Walks through all executions of a few ranks over shared memory: every order of their atomic accesses, and for each load
/// every value that the C++ memory model lets it read (memory.hpp). The ranks run the code of the library, compiled with
/// -fsanitize=thread, whose calls of the sanitizer's functions come here (instrumented.cpp).
///
/// A store is executed as soon as its rank comes to it, for others may still read what was there before. Of the loads one is
/// tried at a time: it reads a value that is there, or one that is stored later; the others do not depend on that. Changes of
/// a word by several ranks happen now or after another. So each execution is found once, not in each of its orders. States
/// met before (what each rank has read and stored) are not entered again. To get back to a state, all is executed from the
/// beginning.
///
/// A rank that waits says so after each look (turn()). Then it sleeps until there is a value that it could have read and
/// did not; and a look that finds exactly what the one before found is not followed. If nobody can go on, that is an error:
/// whatever was stored is seen in the end, so they wait for what nobody stores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "fiber.hpp"
#include "memory.hpp"

/// What the ranks do, in one execution.
class Program {
 public:
  virtual ~Program() = default;
  virtual void run(std::size_t rank) = 0;
  /// Whether it matters who accesses what is there, and when.
  virtual bool matters(std::size_t offset) const = 0;
  /// What is there, in the shared memory.
  virtual std::string name(std::size_t offset) const = 0;
};

/// An order of memory that is made weaker: relaxed.
struct Weakened {
  std::string words;                                  ///< the beginning of their names; "": none
  enum class Of : std::uint8_t { loads, stores } of;  ///< stores: read-modify-writes, too
};

class Explorer {
 public:
  using Make = std::function<std::unique_ptr<Program>()>;

  /// Over `bytes` bytes from `base` on, which `make` may use; they are zero before.
  Explorer(char* base, std::size_t bytes, std::size_t ranks, Make make, Weakened weakened);

  /// Until something is wrong, or `most_states`. Returns what is wrong, with the steps that lead there; "": nothing.
  std::string explore(std::size_t most_states);
  std::size_t states() const { return seen_.size(); }
  std::size_t executions() const { return executions_; }

  // --- for the ranks ---------------------------------------------------------------------------------------------------

  /// The explorer whose rank is running; nullptr: none.
  static Explorer* here();

  bool shares(const void* address) const {
    return memory_.shares(address) && program_->matters(memory_.offset(address));
  }
  std::uint64_t load(const void* address, std::size_t bytes, int order);
  void store(void* address, std::size_t bytes, std::uint64_t value, int order);
  /// `change`: of the last value.
  std::uint64_t modify(void* address, std::size_t bytes, int order,
                       const std::function<std::uint64_t(std::uint64_t)>& change);
  void fence(int order);
  void access(const void* address, std::size_t bytes, bool writes);

  /// A look is over. If nothing has moved, the rank sleeps.
  void turn(bool moved);
  /// All that the rank will do depends on these numbers, and on what it knows of the memory: how it came here does not matter.
  void forget(std::span<const std::uint64_t> local);
  /// Anything below `number`.
  std::size_t choose(std::size_t number);
  /// Ends the execution, if that is not `right`.
  void must(bool right, const std::string& what);

 private:
  struct Pending {
    enum Kind : std::uint8_t { begin, load, store, modify, sleep, choice, over } kind;
    std::size_t word, choices;
  };
  struct Read {
    std::size_t word, index;
    bool operator==(const Read&) const = default;
  };
  struct Rank {
    Fiber fiber;
    Pending pending{};
    std::size_t chosen = 0;
    std::uint64_t history[2]{};
    std::vector<Read> look, last_look;  ///< what was read in this one, and in the one before if that found nothing
    bool stored = false;                ///< in this look
    std::size_t least = 0;              ///< of the values that the pending access may read

    bool sleeps() const { return pending.kind == Pending::sleep; }
    bool expects() const { return least > 0; }
  };
  /// What can be done next, and what of it is being tried.
  struct Branch {
    std::vector<std::pair<std::uint8_t, std::uint8_t>> ways;  ///< rank, choice
    std::size_t way;
  };
  struct Step {
    std::uint8_t rank;
    Pending::Kind kind;
    std::size_t offset;
    std::uint64_t value;
    std::size_t index, last;
  };

  void begin_execution();
  void execute(std::size_t most_states);
  void advance(std::size_t rank, std::size_t choice);
  void find_ways(Branch& branch) const;
  static constexpr std::size_t later = UINT8_MAX;  ///< a choice: a value that is not there yet
  bool is_ready(std::size_t rank) const;
  std::size_t wait_for_turn(Pending pending);
  [[noreturn]] void fail(const std::string& what);
  void check(std::string problem, const char* does, std::size_t offset);
  void note(Pending::Kind kind, std::size_t word, std::size_t offset, std::size_t index);
  int order_of(std::size_t offset, int order, Weakened::Of of) const;
  bool is_new();
  std::string report() const;

  char* base_;
  std::size_t bytes_;
  Make make_;
  Weakened weakened_;
  Memory memory_;
  std::unique_ptr<Program> program_;
  std::vector<Rank> ranks_;
  std::size_t running_ = 0;  ///< the rank
  std::vector<Branch> path_;
  std::vector<Step> steps_;
  std::string problem_;
  bool cut_ = false;  ///< this execution is like another
  std::size_t executions_ = 0;

  struct Key {
    std::uint64_t high, low;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& key) const { return key.low; }
  };
  std::unordered_set<Key, Hash> seen_;
};

/// Whether the kernel lets ranks read each other's memory.
void let_ranks_read_others(bool allowed);
