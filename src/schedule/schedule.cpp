#include "schedule/schedule.hpp"

#include <algorithm>

namespace swapmeet {

namespace {

template <class T>
std::span<const T> slice(const std::vector<T>& all, std::uint32_t first, std::uint32_t count) {
  return std::span<const T>(all).subspan(first, count);
}

bool same_messages(const Schedule& a, std::span<const Message> x, const Schedule& b, std::span<const Message> y) {
  return std::ranges::equal(x, y, [&](const Message& m, const Message& n) {
    return m.peer == n.peer && m.last == n.last && std::ranges::equal(a.runs_of(m), b.runs_of(n));
  });
}

}  // namespace

std::uint32_t Round::in_flight() const {
  const std::uint32_t most = std::max({send_count, receive_count, 1u});
  return window == 0 ? most : std::min(most, static_cast<std::uint32_t>(window));
}

std::span<const Copy> Schedule::copies_of(const Step& step) const {
  return slice(copies, step.first_copy, step.copy_count);
}
std::span<const Message> Schedule::sends_of(const Step& step) const {
  return slice(sends, step.first_send, step.send_count);
}
std::span<const Message> Schedule::receives_of(const Step& step) const {
  return slice(receives, step.first_receive, step.receive_count);
}
std::span<const Run> Schedule::runs_of(const Message& message) const {
  return slice(runs, message.first, message.count);
}

std::int64_t Schedule::block_count(const Message& message) const {
  std::int64_t blocks = 0;
  for (const Run& run : runs_of(message)) blocks += run.count;
  return blocks;
}

bool Schedule::operator==(const Schedule& other) const {
  if (ranks != other.ranks || rank != other.rank || scratch_blocks != other.scratch_blocks ||
      segment_bytes != other.segment_bytes || neighbours != other.neighbours)
    return false;
  return std::ranges::equal(steps, other.steps, [&](const Step& a, const Step& b) {
    return a.window == b.window && a.completion == b.completion && a.posting == b.posting &&
           std::ranges::equal(copies_of(a), other.copies_of(b)) &&
           same_messages(*this, sends_of(a), other, other.sends_of(b)) &&
           same_messages(*this, receives_of(a), other, other.receives_of(b));
  });
}

}  // namespace swapmeet
