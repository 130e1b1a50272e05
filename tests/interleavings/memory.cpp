#include "memory.hpp"

#include <algorithm>
#include <utility>

namespace {

bool acquires(int order) { return order == __ATOMIC_ACQUIRE || order == __ATOMIC_ACQ_REL || order == __ATOMIC_CONSUME; }
bool releases(int order) { return order == __ATOMIC_RELEASE || order == __ATOMIC_ACQ_REL; }

std::uint64_t hash(std::uint64_t value, std::uint64_t seed) {
  value = (value ^ seed) * 0x9E3779B97F4A7C15;
  value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9;
  return value ^ (value >> 29);
}

std::uint64_t hash(const Knowledge& knowledge, std::uint64_t seed) {
  for (const std::uint16_t clock : knowledge.clock) seed = hash(clock, seed);
  for (const std::uint8_t index : knowledge.view) seed = hash(index, seed);
  return seed;
}

}  // namespace

void Knowledge::join(const Knowledge& other) {
  for (std::size_t i = 0; i < clock.size(); ++i) clock[i] = std::max(clock[i], other.clock[i]);
  for (std::size_t i = 0; i < view.size(); ++i) view[i] = std::max(view[i], other.view[i]);
}

Memory::Memory(char* base, std::size_t bytes) : base_(base), bytes_(bytes), words_(most_words) {}

void Memory::reset(std::size_t threads) {
  ++run_;
  used_words_ = 0;
  count_ = threads;
  threads_ = {};
  for (std::size_t i = 0; i < threads; ++i) threads_[i].now.clock[i] = 1;
}

Memory::Byte& Memory::byte(std::size_t offset) {
  Byte& found = bytes_[offset];
  if (found.run != run_) found = {.run = run_};
  return found;
}

void Memory::note(Thread& thread, std::uint64_t what) {
  thread.done += hash(what, 1);
  thread.done_too += hash(what, 2);
}

void Memory::mark(std::size_t thread, Clocks& accesses, std::size_t offset, std::uint64_t kind) {
  const std::uint16_t now = threads_[thread].now.clock[thread];
  if (std::exchange(accesses[thread], now) != now)
    note(threads_[thread], offset << 24 | std::uint64_t{now} << 8 | kind);
}

std::uint64_t Memory::state(std::size_t thread, std::uint64_t seed) const {
  const Thread& of = threads_[thread];
  seed = hash(of.now, hash(of.done, hash(of.done_too, seed)));
  return of.fences ? hash(of.acquired_by_fence, hash(of.released_by_fence, seed)) : seed;
}

std::size_t Memory::word(std::size_t offset, std::size_t bytes) {
  Byte& first = byte(offset);
  if (first.word >= 0) return static_cast<std::size_t>(first.word);
  first.word = static_cast<std::int32_t>(used_words_);
  Word& added = words_.at(used_words_++);
  const char* const there = base_ + offset;
  const std::uint64_t value = bytes == 8 ? *reinterpret_cast<const volatile std::uint64_t*>(there)
                                         : *reinterpret_cast<const volatile std::uint32_t*>(there);
  added.offset = offset;
  added.bytes = bytes;
  added.values.assign(1, {value, {}});
  added.writer = nobody;
  return used_words_ - 1;
}

void Memory::put(Word& word, std::uint64_t value) {
  char* const there = base_ + word.offset;
  if (word.bytes == 8) *reinterpret_cast<volatile std::uint64_t*>(there) = value;
  else *reinterpret_cast<volatile std::uint32_t*>(there) = static_cast<std::uint32_t>(value);
}

std::string Memory::unordered(std::size_t thread, const Clocks& others, const char* what) const {
  for (std::size_t other = 0; other < count_; ++other)
    if (other != thread && others[other] > threads_[thread].now.clock[other])
      return std::string("and rank ") + std::to_string(other) + what + " at the same time";
  return "";
}

/// An atomic access is in a race with plain ones only.
std::string Memory::touch(std::size_t thread, const Word& word, bool stores) {
  for (std::size_t at = word.offset; at < word.offset + word.bytes; ++at) {
    Byte& one = byte(at);
    std::string race = unordered(thread, one.written, " writes there");
    if (race.empty() && stores) race = unordered(thread, one.read, " reads there");
    if (!race.empty()) return race;
    mark(thread, stores ? one.stored : one.loaded, at, stores ? 1 : 2);
  }
  return "";
}

std::string Memory::unmodelled(int order) {
  return order == __ATOMIC_SEQ_CST ? "has an order that is not modelled: memory_order_seq_cst" : "";
}

std::string Memory::load(std::size_t thread, std::size_t number, std::size_t index, int order) {
  Word& word = words_[number];
  Thread& reader = threads_[thread];
  std::string problem = unmodelled(order);
  if (problem.empty()) problem = touch(thread, word, false);
  if (!problem.empty()) return problem;
  reader.now.view[number] = static_cast<std::uint8_t>(index);
  const Knowledge& released = word.values[index].released;
  reader.acquired_by_fence.join(released);
  if (acquires(order)) reader.now.join(released);
  return "";
}

void Memory::add(std::size_t thread, std::size_t number, std::uint64_t value, const Knowledge& released) {
  Word& word = words_[number];
  word.values.push_back({value, released});
  threads_[thread].now.view[number] = static_cast<std::uint8_t>(word.values.size() - 1);
  note(threads_[thread], hash(released, hash(value, word.offset << 8 | word.values.size())));
  ++threads_[thread].now.clock[thread];
  put(word, value);
}

std::string Memory::store(std::size_t thread, std::size_t number, std::uint64_t value, int order) {
  Word& word = words_[number];
  Thread& writer = threads_[thread];
  std::string problem = unmodelled(order);
  if (problem.empty()) problem = touch(thread, word, true);
  if (problem.empty() && word.writer != nobody && word.writer != static_cast<int>(thread))
    problem = "and so does rank " + std::to_string(word.writer) + ": stores of several to a word are not modelled";
  if (problem.empty() && word.values.size() > UINT8_MAX) problem = "is one store too many for the model";
  if (!problem.empty()) return problem;
  word.writer = static_cast<int>(thread);
  Knowledge released = writer.released_by_fence;
  if (releases(order)) released = writer.now;
  released.view[number] = static_cast<std::uint8_t>(word.values.size());
  add(thread, number, value, released);
  return "";
}

std::string Memory::modify(std::size_t thread, std::size_t number, std::uint64_t value, int order) {
  Word& word = words_[number];
  Thread& writer = threads_[thread];
  std::string problem = unmodelled(order);
  if (problem.empty()) problem = touch(thread, word, true);
  if (problem.empty() && word.writer >= 0)
    problem = "and rank " + std::to_string(word.writer) + " stores there: that is not modelled";
  if (!problem.empty()) return problem;
  word.writer = several;
  Knowledge released = word.values.back().released;  // the release sequence goes on
  writer.acquired_by_fence.join(released);
  if (acquires(order)) writer.now.join(released);
  released.join(releases(order) ? writer.now : writer.released_by_fence);
  released.view[number] = static_cast<std::uint8_t>(word.values.size());
  add(thread, number, value, released);
  return "";
}

std::string Memory::fence(std::size_t thread, int order) {
  Thread& mine = threads_[thread];
  mine.fences = true;
  if (acquires(order)) mine.now.join(mine.acquired_by_fence);
  if (releases(order)) mine.released_by_fence = mine.now, ++mine.now.clock[thread];
  return unmodelled(order);
}

std::string Memory::access(std::size_t thread, std::size_t offset, std::size_t bytes, bool writes) {
  for (std::size_t at = offset; at < offset + bytes; ++at) {
    Byte& one = byte(at);
    std::string race = unordered(thread, one.written, " writes there");
    if (race.empty()) race = unordered(thread, one.stored, " stores there");
    if (race.empty() && writes) race = unordered(thread, one.read, " reads there");
    if (race.empty() && writes) race = unordered(thread, one.loaded, " loads from there");
    if (!race.empty()) return race;
    mark(thread, writes ? one.written : one.read, at, writes ? 3 : 4);
    // what was an atomic word begins anew (memory that is given back): all that may access it know of this
    if (writes && one.word >= 0) one.word = -1;
  }
  return "";
}
