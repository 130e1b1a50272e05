#include "model/goal.hpp"

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

  /// All steps, for so many bytes of each block.
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
  Label message(const Message& message) {
    auto& tags = is_send ? sent_ : received_;
    const std::string size = std::to_string(schedule_.block_count(message) * bytes_),
                      peer = std::to_string(message.peer);
    add({name(++last_), is_send ? ": send " : ": recv ", size, is_send ? "b to " : "b from ", peer, " tag ",
         std::to_string(tags[message.peer]++)});
    return last_;
  }

  /// The copies of a step, made when `after` has started. 0: there are none, or they cost nothing.
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

  /// What follows waits for all of these.
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
      for (std::size_t i = first; i < std::min(first + window, receives.size()); ++i) {
        all.push_back(message<false>(receives[i]));
        depends(all.back(), " requires ", before_);
      }
      Label previous = 0;
      for (std::size_t i = first; i < std::min(first + window, sends.size()); ++i) {
        all.push_back(message<true>(sends[i]));
        depends(all.back(), " requires ", before_);
        depends(all.back(), " irequires ", previous);
        previous = all.back();
      }
      if (const Label copies = first == 0 ? calculation(step, previous) : 0) all.push_back(copies);
      wait_for(all);
    }
  }

  template <bool is_send>
  Labels slide(std::span<const Message> messages, std::size_t window) {
    Labels labels;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      labels.push_back(message<is_send>(messages[i]));
      depends(labels[i], " requires ", i < window ? before_ : labels[i - window]);
      if (is_send && i > 0) depends(labels[i], " irequires ", labels[i - 1]);
    }
    return labels;
  }

  void sliding(const Step& step) {
    const std::size_t window = step.in_flight();
    const Labels receives = slide<false>(schedule_.receives_of(step), window),
                 sends = slide<true>(schedule_.sends_of(step), window);
    Labels last;  // of each slot of the windows: those before them are over, too
    for (const Labels* labels : {&receives, &sends})
      last.insert(last.end(), labels->end() - static_cast<std::ptrdiff_t>(std::min(window, labels->size())),
                  labels->end());
    const Label posted = sends.empty() ? 0 : sends[std::min(window, sends.size()) - 1];
    if (const Label copies = calculation(step, posted)) last.push_back(copies);
    wait_for(last);
  }

  const Schedule& schedule_;
  const std::optional<Copying>& copying_;
  std::unordered_map<Rank, std::int64_t> sent_, received_;  ///< messages to and from each peer so far
  std::string text_;
  std::int64_t bytes_ = 0;
  Label last_ = 0;    ///< of the last statement
  Label before_ = 0;  ///< what the next operations wait for
};

}  // namespace

std::string to_goal(const Schedule& schedule, std::int64_t block_bytes, const std::optional<Copying>& copying) {
  Goal goal(schedule, copying);
  const std::int64_t segment = schedule.segment_bytes == 0 ? block_bytes : schedule.segment_bytes;
  for (std::int64_t done = 0; done < block_bytes; done += segment) goal.pass(std::min(segment, block_bytes - done));
  return std::move(goal).text();
}

}  // namespace swapmeet
