#include "observe/trace_file.hpp"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <map>
#include <tuple>
#include <unordered_map>

#include "observe/json.hpp"
#include "observe/phases.hpp"

namespace swapmeet {

/// A message as one of its ends has recorded it.
struct TraceFile::Message {
  Trace::Event begun;
  Trace::Time done{};
  std::int64_t bytes = 0;
  bool finished = false;
  std::uint32_t number = 0;  ///< of the messages with the same source, destination and tag, in their order
};

namespace {

/// Returns the name of a kind of message (exchange/tags.hpp).
const char* kind_of(std::int32_t tag) {
  constexpr const char* kinds[] = {"", "blocks", "blocks to pass on", "sizes", "direct", "", "", "", "grant"};
  return tag > 0 && tag < static_cast<std::int32_t>(std::size(kinds)) ? kinds[tag] : "";
}

/// Returns an identifier of a message that both ends compute alike, and that hardly any other message has.
std::uint64_t flow_of(Rank source, Rank destination, std::int32_t tag, std::uint32_t number) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::int64_t word :
       {std::int64_t{source}, std::int64_t{destination}, std::int64_t{tag}, std::int64_t{number}}) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  return hash;
}

std::string microseconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%" PRId64 ".%03d", ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000,
                static_cast<int>((ns < 0 ? -ns : ns) % 1000));
  return text;
}

std::string step_of(std::uint32_t step) { return step == Trace::no_step ? "" : "\"step\":" + std::to_string(step); }

}  // namespace

TraceFile::TraceFile(std::FILE* file, const TracedCall& call, const std::vector<TraceHead>& heads)
    : file_(file), call_(call), heads_(heads) {
  const auto begin = [](const TraceHead& head) { return head.begin_ns - head.ahead_ns; };
  origin_ns_ = begin(*std::ranges::min_element(heads, {}, begin));
  std::fputs("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{", file_);
  metadata();
  std::fputs("},\n\"traceEvents\":[", file_);
  std::vector<std::int32_t> named;
  for (Rank rank = 0; rank < call_.ranks; ++rank) {
    event(R"({"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":"rank %d"}})", node(rank), rank, rank);
    event(R"({"ph":"M","pid":%d,"tid":%d,"name":"thread_sort_index","args":{"sort_index":%d}})", node(rank), rank,
          rank);
    if (std::ranges::find(named, node(rank)) != named.end()) continue;
    named.push_back(node(rank));
    const std::string name = json_text("node " + std::to_string(node(rank)) + " (" + head(rank).host + ")");
    event(R"({"ph":"M","pid":%d,"tid":%d,"name":"process_name","args":{"name":%s}})", node(rank), rank, name.c_str());
  }
}

void TraceFile::metadata() {
  std::fprintf(file_, R"("swapmeet_trace":2,"swapmeet":%s,"collective":%s,"algorithm":%s,"reason":%s,"ranks":%d)",
               json_text(SWAPMEET_VERSION).c_str(), json_text(call_.collective).c_str(),
               json_text(call_.algorithm).c_str(), json_text(call_.reason).c_str(), call_.ranks);
  const auto list = [&](const char* name, std::int64_t TraceHead::* member) {
    std::fprintf(file_, ",\n\"%s\":[", name);
    for (std::size_t i = 0; i < heads_.size(); ++i) std::fprintf(file_, "%s%" PRId64, i ? "," : "", heads_[i].*member);
    std::fputs("]", file_);
  };
  list("bytes_sent", &TraceHead::bytes_sent);
  list("clock_error_ns", &TraceHead::error_ns);
  list("dropped", &TraceHead::dropped);
}

void TraceFile::event(const char* format, ...) {
  std::fputs(std::exchange(separator_, ",\n"), file_);
  va_list values;
  va_start(values, format);
  std::vfprintf(file_, format, values);
  va_end(values);
}

std::string TraceFile::when(Rank rank, Trace::Time time) const {
  return microseconds(nanoseconds(time) - head(rank).ahead_ns - origin_ns_);
}

void TraceFile::add(Rank rank, const std::vector<Trace::Slice>& slices, const std::vector<Trace::Event>& events) {
  const TraceHead& its = head(rank);
  event(
      R"({"ph":"X","pid":%d,"tid":%d,"cat":"call","name":%s,"ts":%s,"dur":%s,"args":{"algorithm":%s,"bytes_sent":%)" PRId64
      R"(,"clock_error_ns":%)" PRId64 R"(,"dropped":%)" PRId64 "}}",
      node(rank), rank, json_text(call_.collective).c_str(),
      microseconds(its.begin_ns - its.ahead_ns - origin_ns_).c_str(), microseconds(its.end_ns - its.begin_ns).c_str(),
      json_text(call_.algorithm).c_str(), its.bytes_sent, its.error_ns, its.dropped);
  for (const Trace::Slice& slice : slices)
    if (slice.phase != SWAPMEET_PHASE_OTHER)  // which is the rest of the call
      event(R"({"ph":"X","pid":%d,"tid":%d,"cat":"phase","name":"%s","ts":%s,"dur":%s,"args":{%s}})", node(rank), rank,
            std::string(phase_names[slice.phase]).c_str(), when(rank, slice.begin).c_str(),
            microseconds(nanoseconds(slice.end) - nanoseconds(slice.begin)).c_str(), step_of(slice.step).c_str());
  std::vector<Message> messages;
  std::unordered_map<const void*, std::size_t> under_way;
  std::map<std::tuple<Direction, Rank, std::int32_t>, std::uint32_t> numbers;
  for (const Trace::Event& happened : events) {
    if (happened.begins) {
      under_way[happened.message] = messages.size();
      messages.push_back(
          {happened, {}, happened.bytes, false, numbers[{happened.direction, happened.peer, happened.tag}]++});
    } else if (const auto found = under_way.find(happened.message); found != under_way.end()) {
      Message& message = messages[found->second];
      message.done = happened.time;
      message.finished = true;
      if (happened.bytes != Trace::as_begun) message.bytes = happened.bytes;
      under_way.erase(found);
    }
  }
  for (const Message& message : messages) add(rank, message);
}

void TraceFile::add(Rank rank, const Message& message) {
  const bool sent = message.begun.direction == Direction::send;
  const Rank peer = message.begun.peer;
  const Rank source = sent ? rank : peer, destination = sent ? peer : rank;
  const std::uint64_t flow = flow_of(source, destination, message.begun.tag, message.number);
  const char* const what = sent ? "sends" : "receives";
  const std::string step = step_of(message.begun.step), begin = when(rank, message.begun.time);
  const std::string end =
      message.finished ? when(rank, message.done) : microseconds(head(rank).end_ns - head(rank).ahead_ns - origin_ns_);
  const auto edge = [&](char kind, const std::string& time, const std::string& arguments) {
    event(R"({"ph":"%c","pid":%d,"tid":%d,"cat":"%s","id":"0x%)" PRIx64 R"(","name":"rank %d %s","ts":%s%s})", kind,
          node(rank), rank, what, flow, rank, what, time.c_str(), arguments.c_str());
  };
  edge('b', begin,
       R"(,"args":{"from":)" + std::to_string(source) + R"(,"to":)" + std::to_string(destination) + R"(,"bytes":)" +
           std::to_string(message.bytes) + R"(,"kind":")" + kind_of(message.begun.tag) + R"(","number":)" +
           std::to_string(message.number) + (message.finished ? "" : R"(,"unfinished":true)") +
           (step.empty() ? "" : "," + step) + "}");
  edge('e', end, "");
  if (!message.finished && !sent) return;
  event(R"({"ph":"%s,"pid":%d,"tid":%d,"cat":"message","id":"0x%)" PRIx64 R"(","name":"message","ts":%s})",
        sent ? "s\"" : "f\",\"bp\":\"e\"", node(rank), rank, flow, (sent ? begin : end).c_str());
}

void TraceFile::finish() { std::fputs("\n]}\n", file_); }

}  // namespace swapmeet
