#include "estimate/goal.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "model/work.hpp"

namespace swapmeet {

namespace {

using Label = std::int64_t;  ///< 0: none
using Labels = std::vector<Label>;

class Goal {
 public:
  Goal(const Schedule& schedule, const std::optional<Copying>& copying) : schedule_(schedule), copying_(copying) {}

  /// Adds all steps for segments of `bytes` bytes.
  void pass(std::int64_t bytes) {
    bytes_ = bytes;
    for (const Step& step : schedule_.steps) {
      if (step.send_count + step.receive_count == 0) wait_for(calculation(step, 0));
      else if (step.slides()) sliding(step);
      else batches(step);
    }
  }

  std::string text() && { return "rank " + std::to_string(schedule_.rank) + " {\n" + std::move(text_) + "}\n"; }

 private:
  void add(std::initializer_list<std::string_view> words) {
    for (const std::string_view word : words) text_ += word;
    text_ += '\n';
  }

  static std::string name(Label label) { return 'l' + std::to_string(label); }

  void depends(Label label, std::string_view how, Label on) {
    if (on != 0) add({name(label), how, name(on)});
  }

  template <bool is_send>
  Label operation(std::int64_t bytes, Rank peer, std::int64_t tag) {
    add({name(++last_), is_send ? ": send " : ": recv ", std::to_string(bytes), is_send ? "b to " : "b from ",
         std::to_string(peer), " tag ", std::to_string(tag)});
    return last_;
  }

  /// Adds a message, with its grant if it has one. It starts after the end of `before` and, unless it is granted, after
  /// the start of `previous`.
  template <bool is_send>
  Label message(const Step& step, const Message& message, Label before, Label previous) {
    const bool granted = step.posting == Posting::granted;
    const std::int64_t tag = (is_send ? sent_ : received_)[message.peer]++;
    Label grant = 0;
    if (granted && is_send) depends(grant = operation<false>(1, message.peer, first_grant + tag), " requires ", before);
    const Label label = operation<is_send>(schedule_.block_count(message) * bytes_, message.peer, tag);
    depends(label, " requires ", before);
    depends(label, " requires ", grant);
    if (!granted) depends(label, " irequires ", previous);
    if (granted && !is_send) depends(operation<true>(1, message.peer, first_grant + tag), " irequires ", label);
    return label;
  }

  /// Adds the copies of a step, which start after the start of `after`. Returns 0 if there are none or they are left
  /// out.
  Label calculation(const Step& step, Label after) {
    if (!copying_ || step.copy_count == 0) return 0;
    const Copies copies = copies_of(schedule_, step);
    const double ns =
        copies.blocks * static_cast<double>(bytes_) * copying_->byte_ns + 1000 * copies.pieces * copying_->piece_us;
    add({name(++last_), ": calc ", std::to_string(std::llround(std::ceil(ns)))});
    depends(last_, " requires ", before_);
    depends(last_, " irequires ", after);
    return last_;
  }

  void wait_for(Label label) {
    if (label != 0) before_ = label;
  }

  /// Makes the following operations wait for all of these.
  void wait_for(const Labels& all) {
    if (all.size() <= 1) return wait_for(all.empty() ? 0 : all.front());
    add({name(++last_), ": calc 0"});
    for (const Label label : all) depends(last_, " requires ", label);
    before_ = last_;
  }

  void batches(const Step& step) {
    const auto sends = schedule_.sends_of(step), receives = schedule_.receives_of(step);
    const std::size_t window = step.in_flight();
    for (std::size_t first = 0; first < std::max(sends.size(), receives.size()); first += window) {
      Labels all;
      for (std::size_t i = first; i < std::min(first + window, receives.size()); ++i)
        all.push_back(message<false>(step, receives[i], before_, 0));
      Label previous = 0;
      for (std::size_t i = first; i < std::min(first + window, sends.size()); ++i)
        all.push_back(previous = message<true>(step, sends[i], before_, previous));
      if (const Label copies = first == 0 ? calculation(step, previous) : 0) all.push_back(copies);
      wait_for(all);
    }
  }

  template <bool is_send>
  Labels slide(const Step& step, std::span<const Message> messages) {
    const std::size_t window = step.in_flight();
    Labels labels;
    for (std::size_t i = 0; i < messages.size(); ++i)
      labels.push_back(message<is_send>(step, messages[i], i < window ? before_ : labels[i - window],
                                        is_send && i > 0 ? labels[i - 1] : 0));
    return labels;
  }

  void sliding(const Step& step) {
    const std::size_t window = step.in_flight();
    const Labels receives = slide<false>(step, schedule_.receives_of(step)),
                 sends = slide<true>(step, schedule_.sends_of(step));
    Labels last;  // of each slot of the windows; earlier ones have ended by then
    for (const Labels* labels : {&receives, &sends})
      last.insert(last.end(), labels->end() - static_cast<std::ptrdiff_t>(std::min(window, labels->size())),
                  labels->end());
    const Label posted = sends.empty() ? 0 : sends[std::min(window, sends.size()) - 1];
    if (const Label copies = calculation(step, posted)) last.push_back(copies);
    wait_for(last);
  }

  static constexpr std::int64_t first_grant = 1 << 28;  ///< tags of grants begin here, above those of messages

  const Schedule& schedule_;
  const std::optional<Copying>& copying_;
  std::unordered_map<Rank, std::int64_t> sent_, received_;  ///< messages to and from each peer so far
  std::string text_;
  std::int64_t bytes_ = 0;
  Label last_ = 0;    ///< label of the last statement
  Label before_ = 0;  ///< label for which the next operations wait
};

}  // namespace

std::string to_goal(const Schedule& schedule, std::int64_t block_bytes, const std::optional<Copying>& copying) {
  Goal goal(schedule, copying);
  const std::int64_t segment = schedule.segment_bytes == 0 ? block_bytes : schedule.segment_bytes;
  for (std::int64_t done = 0; done < block_bytes; done += segment) goal.pass(std::min(segment, block_bytes - done));
  return std::move(goal).text();
}

}  // namespace swapmeet
