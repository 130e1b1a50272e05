/// Memory that threads share, by the rules of C++: of every atomic word all values that were stored, of which a thread may
/// read any unless it knows of a later one; and of every byte who has accessed it last, to find data races.
///
/// The model: release and acquire, relaxed accesses, fences of these, and read-modify-writes with their release sequences,
/// by timestamps and views (kang2017, without promises: no value is read before it is stored). Plain accesses happen at
/// once, for a program without races cannot tell. A word has one writer, or is changed by read-modify-writes alone: then
/// the order of its values is the order in which they were stored. Everything else is reported, not passed over.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

constexpr std::size_t most_threads = 3, most_words = 64;

/// What a thread knows, or a value that was stored with it: how far each thread had come, and the latest value of each word.
struct Knowledge {
  std::array<std::uint16_t, most_threads> clock{};
  std::array<std::uint8_t, most_words> view{};

  void join(const Knowledge& other);
};

class Memory {
 public:
  /// `bytes` bytes from `base` on are shared.
  Memory(char* base, std::size_t bytes);

  /// Nothing has been accessed yet: what is there now is the first value of each word.
  void reset(std::size_t threads);

  bool shares(const void* address) const {
    return static_cast<std::size_t>(static_cast<const char*>(address) - base_) < bytes_.size();
  }
  std::size_t offset(const void* address) const {
    return static_cast<std::size_t>(static_cast<const char*>(address) - base_);
  }

  /// The number of a word; its first value is what lies there.
  std::size_t word(std::size_t offset, std::size_t bytes);
  std::size_t last(std::size_t word) const { return words_[word].values.size() - 1; }
  std::uint64_t value(std::size_t word, std::size_t index) const { return words_[word].values[index].value; }
  /// The first of the values that a thread may still read.
  std::size_t first_readable(std::size_t thread, std::size_t word) const { return threads_[thread].now.view[word]; }

  /// Each returns "", or what is wrong.
  std::string load(std::size_t thread, std::size_t word, std::size_t index, int order);
  std::string store(std::size_t thread, std::size_t word, std::uint64_t value, int order);
  /// Of the last value.
  std::string modify(std::size_t thread, std::size_t word, std::uint64_t value, int order);
  std::string fence(std::size_t thread, int order);
  std::string access(std::size_t thread, std::size_t offset, std::size_t bytes, bool writes);

  /// All of this that depends on what the thread has done, and what it knows: the same number in the same state.
  std::uint64_t state(std::size_t thread, std::uint64_t seed) const;

 private:
  struct Value {
    std::uint64_t value;
    Knowledge released;
  };
  struct Word {
    std::size_t offset, bytes;
    std::vector<Value> values;
    int writer;  ///< the thread; none yet, or several, by read-modify-writes
  };
  static constexpr int nobody = -1, several = -2;
  struct Thread {
    Knowledge now, acquired_by_fence, released_by_fence;
    std::uint64_t done = 0,
                  done_too = 0;  ///< sums over its stores, and over the accesses by which others may be in a race
    bool fences = false;
  };
  using Clocks = std::array<std::uint16_t, most_threads>;  ///< of each thread's last access; 0: none
  struct Byte {
    std::uint32_t run = 0;  ///< in which the rest was set
    Clocks read{}, written{}, loaded{}, stored{};
    std::int32_t word = -1;
  };

  Byte& byte(std::size_t offset);
  void note(Thread& thread, std::uint64_t what);
  /// The thread's last access of a kind is now.
  void mark(std::size_t thread, Clocks& accesses, std::size_t offset, std::uint64_t kind);
  void put(Word& word, std::uint64_t value);
  void add(std::size_t thread, std::size_t word, std::uint64_t value, const Knowledge& released);
  /// "", or which other thread's access is not known to be before.
  std::string unordered(std::size_t thread, const Clocks& others, const char* what) const;
  std::string touch(std::size_t thread, const Word& word, bool stores);
  static std::string unmodelled(int order);

  char* base_;
  std::vector<Byte> bytes_;
  std::vector<Word> words_;
  std::array<Thread, most_threads> threads_{};
  std::size_t count_ = 0;  ///< of threads
  std::size_t used_words_ = 0;
  std::uint32_t run_ = 0;
};
