#include "text/schedule_text.hpp"

#include <algorithm>
#include <charconv>

#include "schedule/builder.hpp"

namespace swapmeet {

std::string_view to_text(Completion completion) { return completion_names[static_cast<std::size_t>(completion)]; }
std::string_view to_text(Posting posting) { return posting_names[static_cast<std::size_t>(posting)]; }

namespace {

void append_message(std::string& text, const char* verb, const Schedule& schedule, const Message& message) {
  text += std::string("  ") + verb + ' ' + std::to_string(message.peer) + (message.last ? " last" : "");
  for (const Run& run : schedule.runs_of(message)) text += ' ' + to_text(run);
  text += '\n';
}

bool same_messages(const Schedule& a, std::span<const Message> x, const Schedule& b, std::span<const Message> y) {
  return std::ranges::equal(x, y, [&](const Message& m, const Message& n) {
    return m.peer == n.peer && m.last == n.last && std::ranges::equal(a.runs_of(m), b.runs_of(n));
  });
}

/// A line of the text form, consumed from the left.
class Line {
 public:
  Line(std::string_view text, int number) : text_(text.substr(0, text.find('#'))), number_(number) { skip_space(); }

  bool empty() const { return at_ == text_.size(); }

  Problem expected(const std::string& what) const {
    const std::string found = empty() ? "the end of the line" : '"' + std::string(text_.substr(at_)) + '"';
    return {"expected " + what + ", found " + found, number_, static_cast<int>(at_) + 1};
  }

  /// Consumes `token` and the blanks behind it, if the line continues with it.
  bool eat(std::string_view token) {
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    skip_space();
    return true;
  }

  template <class Integer>
  bool number(Integer& value) {
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error != std::errc()) return false;
    at_ += static_cast<std::size_t>(end - begin);
    skip_space();
    return true;
  }

  template <class Enum, std::size_t n>
  bool name(Enum& value, const std::array<std::string_view, n>& names) {
    for (std::size_t i = 0; i < n; ++i)
      if (eat(names[i])) return value = static_cast<Enum>(i), true;
    return false;
  }

  /// Reads buffer[first..last/stride].
  bool run(Run& run) {
    run = Run{};
    if (!name(run.buffer, buffer_names) || !eat("[") || !number(run.first)) return false;
    std::int32_t last = run.first;
    if (eat("..")) {
      if (!number(last)) return false;
      if (eat("/") && (!number(run.stride) || run.stride == 0)) return false;
      const std::int64_t length = std::int64_t{last} - run.first;
      if (length % run.stride != 0 || length / run.stride < 0 || length / run.stride >= INT32_MAX) return false;
      run.count = static_cast<std::int32_t>(length / run.stride + 1);
      if (run.count == 1) run.stride = 1;  // a run of one block is written without a stride
    }
    return eat("]");
  }

 private:
  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r')) ++at_;
  }

  std::string_view text_;
  int number_;
  std::size_t at_ = 0;
};

const char* const run_form = "a run of blocks such as send[3], scratch[0..7] or receive[1..9/2]";

struct Parsed {
  Schedule head;
  std::optional<ScheduleBuilder> builder;
};

std::optional<Problem> parse_header(Line& line, Parsed& parsed) {
  Schedule& head = parsed.head;
  if (!line.eat("schedule")) return line.expected("the header \"schedule ranks=P rank=R scratch=N segment=BYTES\"");
  if (!line.eat("ranks=") || !line.number(head.ranks)) return line.expected("ranks=P");
  if (!line.eat("rank=") || !line.number(head.rank)) return line.expected("rank=R");
  if (line.eat("out=")) {
    Degrees& degrees = head.neighbours.emplace();
    if (!line.number(degrees.out)) return line.expected("a number of blocks");
    if (!line.eat("in=") || !line.number(degrees.in)) return line.expected("in=BLOCKS");
  }
  if (!line.eat("scratch=") || !line.number(head.scratch_blocks)) return line.expected("scratch=BLOCKS");
  if (!line.eat("segment=") || !line.number(head.segment_bytes)) return line.expected("segment=BYTES");
  parsed.builder.emplace(head);
  return std::nullopt;
}

std::optional<Problem> parse_step(Line& line, ScheduleBuilder& builder) {
  std::int32_t window = 0;
  Completion completion{};
  Posting posting{};
  if (!line.eat("window=") || !(line.eat("all") || line.number(window))) return line.expected("window=N or window=all");
  if (!line.eat("complete=") || !line.name(completion, completion_names))
    return line.expected("complete=all, any or test");
  if (!line.eat("post=") || !line.name(posting, posting_names))
    return line.expected("post=receives-first, interleaved or granted");
  builder.step(window, completion, posting);
  return std::nullopt;
}

std::optional<Problem> parse_copy(Line& line, ScheduleBuilder& builder) {
  Run from, to;
  if (!line.run(from) || !line.run(to)) return line.expected(run_form);
  builder.copy(from, to);
  return std::nullopt;
}

std::optional<Problem> parse_message(Line& line, ScheduleBuilder& builder, bool sends) {
  Rank peer = 0;
  std::vector<Run> runs;
  if (!line.number(peer)) return line.expected("the rank of the peer");
  const bool last = line.eat("last");
  while (!line.empty()) {
    Run run;
    if (!line.run(run)) return line.expected(run_form);
    runs.push_back(run);
  }
  sends ? builder.send(peer, runs, last) : builder.receive(peer, runs, last);
  return std::nullopt;
}

std::optional<Problem> parse_line(Line& line, Parsed& parsed, bool& in_step) {
  if (!parsed.builder) return parse_header(line, parsed);
  ScheduleBuilder& builder = *parsed.builder;
  if (line.eat("step")) {
    in_step = true;
    return parse_step(line, builder);
  }
  if (!in_step) return line.expected("\"step\"");
  if (line.eat("copy")) return parse_copy(line, builder);
  if (line.eat("send")) return parse_message(line, builder, true);
  if (line.eat("receive")) return parse_message(line, builder, false);
  return line.expected("step, copy, send or receive");
}

}  // namespace

bool operator==(const Schedule& one, const Schedule& other) {
  if (one.ranks != other.ranks || one.rank != other.rank || one.scratch_blocks != other.scratch_blocks ||
      one.segment_bytes != other.segment_bytes || one.neighbours != other.neighbours)
    return false;
  return std::ranges::equal(one.steps, other.steps, [&](const Step& a, const Step& b) {
    return a.window == b.window && a.completion == b.completion && a.posting == b.posting &&
           std::ranges::equal(one.copies_of(a), other.copies_of(b)) &&
           same_messages(one, one.sends_of(a), other, other.sends_of(b)) &&
           same_messages(one, one.receives_of(a), other, other.receives_of(b));
  });
}

std::string to_text(const Schedule& schedule) {
  std::string text = "schedule ranks=" + std::to_string(schedule.ranks) + " rank=" + std::to_string(schedule.rank);
  if (const auto& degrees = schedule.neighbours)
    text += " out=" + std::to_string(degrees->out) + " in=" + std::to_string(degrees->in);
  text += " scratch=" + std::to_string(schedule.scratch_blocks) + " segment=" + std::to_string(schedule.segment_bytes) +
          '\n';
  for (const Step& step : schedule.steps) {
    text += "step window=" + (step.window == 0 ? "all" : std::to_string(step.window));
    text += " complete=" + std::string(to_text(step.completion)) + " post=" + std::string(to_text(step.posting)) + '\n';
    for (const Copy& copy : schedule.copies_of(step))
      text += "  copy " + to_text(copy.from) + ' ' + to_text(copy.to) + '\n';
    for (const Message& message : schedule.sends_of(step)) append_message(text, "send", schedule, message);
    for (const Message& message : schedule.receives_of(step)) append_message(text, "receive", schedule, message);
  }
  return text;
}

Result<Schedule> parse_schedule(std::string_view text) {
  Parsed parsed;
  bool in_step = false;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    Line line(text.substr(0, end), ++number);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (line.empty()) continue;
    if (auto problem = parse_line(line, parsed, in_step)) return *problem;
    if (!line.empty()) return line.expected("the end of the line");
  }
  if (!parsed.builder) return Problem{"an empty text is not a schedule", 1, 1};
  return std::move(*parsed.builder).finish(parsed.head.scratch_blocks);
}

}  // namespace swapmeet
