#include "observe/trace_file.hpp"

#include <algorithm>
#include <cinttypes>
#include <map>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "observe/json.hpp"
#include "observe/observer.hpp"

namespace swapmeet {

namespace {

/// Returns the name of a kind of message (team/tags.hpp).
const char* kind_of(std::int32_t tag) {
  constexpr const char* kinds[] = {"", "blocks", "blocks to pass on", "sizes", "direct", "", "", "", "grant"};
  return tag > 0 && tag < static_cast<std::int32_t>(std::size(kinds)) ? kinds[tag] : "";
}

/// Returns an identifier of a message that both ends compute alike, and that hardly any other message has.
std::string flow_of(Rank source, Rank destination, std::int32_t tag, std::uint32_t number) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const std::int64_t word :
       {std::int64_t{source}, std::int64_t{destination}, std::int64_t{tag}, std::int64_t{number}}) {
    hash = (hash ^ static_cast<std::uint64_t>(word)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 32;
  }
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIx64, hash);
  return text;
}

/// Returns the messages that began in `events`, in their order.
std::vector<CallMessage> messages_in(std::span<const CallEvent> events) {
  std::vector<CallMessage> messages;
  std::unordered_map<std::uint64_t, std::size_t> under_way;
  for (const CallEvent& event : events) {
    if (event.kind == CallEvent::Kind::begins) {
      under_way[event.message] = messages.size();
      messages.push_back({event, 0, event.bytes, false});
    } else if (const auto found = under_way.find(event.message);
               event.kind == CallEvent::Kind::done && found != under_way.end()) {
      CallMessage& message = messages[found->second];
      message.done_ns = event.time_ns;
      message.over = true;
      if (event.bytes != CallEvent::as_begun) message.bytes = event.bytes;
      under_way.erase(found);
    }
  }
  return messages;
}

Json in_microseconds(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%s%" PRId64 ".%03d", ns < 0 ? "-" : "", (ns < 0 ? -ns : ns) / 1000,
                static_cast<int>((ns < 0 ? -ns : ns) % 1000));
  return {text};
}

JsonMembers members() { return JsonMembers(true); }

void add_step(JsonMembers& arguments, const CallEvent& event) {
  if (event.step != CallEvent::no_step) arguments.add("step", event.step);
}

}  // namespace

TraceFile::TraceFile(std::FILE* file, const TracedCall& call, const std::vector<TraceHead>& heads)
    : file_(file), call_(call), heads_(heads) {
  const auto begin = [](const TraceHead& head) { return head.begin_ns - head.ahead_ns; };
  origin_ns_ = begin(*std::ranges::min_element(heads, {}, begin));
  const auto list = [&](std::int64_t TraceHead::* member) {
    return json_list(heads, ",", [member](const TraceHead& head) { return head.*member; });
  };
  JsonMembers about(true);
  about.add("swapmeet_trace", 2).add("swapmeet", SWAPMEET_VERSION).add("collective", call.collective);
  about.add("algorithm", call.algorithm).add("reason", call.reason).add("ranks", call.ranks);
  about.add("bytes_sent", list(&TraceHead::bytes_sent)).add("clock_error_ns", list(&TraceHead::error_ns));
  about.add("dropped", list(&TraceHead::dropped));
  std::fprintf(file_, "{\"displayTimeUnit\":\"ns\",\n\"otherData\":%s,\n\"traceEvents\":[",
               about.object().text.c_str());
  const auto named = [&](Rank rank, const char* what, const JsonMembers& arguments) {
    event("M", rank, members().add("name", what).add("args", arguments.object()));
  };
  std::vector<std::int32_t> nodes;
  for (Rank rank = 0; rank < call_.ranks; ++rank) {
    named(rank, "thread_name", members().add("name", "rank " + number(rank)));
    named(rank, "thread_sort_index", members().add("sort_index", rank));
    if (std::ranges::find(nodes, node(rank)) != nodes.end()) continue;
    nodes.push_back(node(rank));
    named(rank, "process_name", members().add("name", "node " + number(node(rank)) + " (" + head(rank).host + ")"));
  }
}

void TraceFile::event(const char* type, Rank rank, const JsonMembers& more) {
  const JsonMembers all = members().add("ph", type).add("pid", node(rank)).add("tid", rank).add(more);
  std::fprintf(file_, "%s%s", std::exchange(separator_, ",\n"), all.object().text.c_str());
}

Json TraceFile::when(Rank rank, std::int64_t time_ns) const {
  return in_microseconds(time_ns - head(rank).ahead_ns - origin_ns_);
}

void TraceFile::span(Rank rank, const char* category, const std::string& name, std::int64_t begin_ns,
                     std::int64_t end_ns, const JsonMembers& arguments) {
  JsonMembers all = members().add("cat", category).add("name", name).add("ts", when(rank, begin_ns));
  event("X", rank, all.add("dur", in_microseconds(end_ns - begin_ns)).add("args", arguments.object()));
}

void TraceFile::add(Rank rank, const std::vector<CallEvent>& events) {
  const TraceHead& its = head(rank);
  JsonMembers call = members().add("algorithm", call_.algorithm).add("bytes_sent", its.bytes_sent);
  call.add("clock_error_ns", its.error_ns).add("dropped", its.dropped);
  span(rank, "call", call_.collective, its.begin_ns, its.end_ns, call);
  std::int64_t begin_ns = its.begin_ns;  // of a span: the end of the span before it
  for (const CallEvent& one : events) {
    if (one.kind != CallEvent::Kind::span) continue;
    JsonMembers arguments(true);
    add_step(arguments, one);
    if (one.phase != SWAPMEET_PHASE_OTHER)  // which is the rest of the call
      span(rank, "phase", std::string(phase_names[one.phase]), begin_ns, one.time_ns, arguments);
    begin_ns = one.time_ns;
  }
  std::map<std::tuple<Direction, Rank, std::int32_t>, std::uint32_t> numbers;
  for (const CallMessage& message : messages_in(events))
    add(rank, message, numbers[{message.begun.direction, message.begun.peer, message.begun.tag}]++);
}

void TraceFile::add(Rank rank, const CallMessage& message, std::uint32_t number) {
  const CallEvent& begun = message.begun;
  const bool sent = begun.direction == Direction::send;
  const Rank source = sent ? rank : begun.peer, destination = sent ? begun.peer : rank;
  const std::string flow = flow_of(source, destination, begun.tag, number), what = sent ? "sends" : "receives";
  const Json begin = when(rank, begun.time_ns), end = when(rank, message.over ? message.done_ns : head(rank).end_ns);
  JsonMembers arguments = members().add("from", source).add("to", destination).add("bytes", message.bytes);
  arguments.add("kind", kind_of(begun.tag)).add("number", number);
  if (!message.over) arguments.add("unfinished", true);
  add_step(arguments, begun);
  JsonMembers edge = members().add("cat", what).add("id", flow);
  edge.add("name", "rank " + swapmeet::number(rank) + " " + what);
  event("b", rank, JsonMembers(edge).add("ts", begin).add("args", arguments.object()));
  event("e", rank, JsonMembers(edge).add("ts", end));
  const JsonMembers arrow = members().add("cat", "message").add("id", flow).add("name", "message");
  if (sent) event("s", rank, JsonMembers(arrow).add("ts", begin));
  else if (message.over) event("f", rank, members().add("bp", "e").add(arrow).add("ts", end));
}

void TraceFile::finish() { std::fputs("\n]}\n", file_); }

}  // namespace swapmeet
