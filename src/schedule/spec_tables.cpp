/// What can be said in a spec: its parameters and the aliases. All of it is data.
#include <charconv>

#include "schedule/spec.hpp"

namespace swapmeet {

namespace {

template <class Integer>
bool read_number(std::string_view text, Integer least, Integer most, Integer& value) {
  Integer number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < least || number > most) return false;
  value = number;
  return true;
}

constexpr std::array<std::pair<std::string_view, int>, 9> byte_units{
    {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"G", 30}, {"M", 20}, {"K", 10}, {"k", 10}, {"B", 0}, {"", 0}}};

std::string print_bytes(std::int64_t bytes) {
  for (const auto& [unit, shift] : byte_units)
    if (unit.size() == 3 && bytes != 0 && bytes % (std::int64_t{1} << shift) == 0)
      return std::to_string(bytes >> shift) + std::string(unit);
  return std::to_string(bytes);
}

template <class Enum, std::size_t n>
bool read_name(std::string_view text, const std::array<std::string_view, n>& names, Enum& value) {
  const auto found = named<Enum>(text, names);
  if (found) value = *found;
  return found.has_value();
}

bool read_window(std::string_view text, Spec& spec) {
  if (text == "all") return spec.window = 0, true;
  return read_number(text, 1, 1 << 20, spec.window);
}

std::vector<Parameter> make_parameters() {
  return {
      {"order", "", "shift, xor, random or scatter",
       "the order in which a rank meets its peers: shift (rank+i, rank-i), xor (rank^i, P a power of two), random (rows "
       "of a random anti-circulant matrix), scatter (one random list, the same for all)",
       true, [](std::string_view text, Spec& spec) { return read_name(text, order_names, spec.order); },
       [](const Spec& spec) { return std::string(to_text(spec.order)); }},
      {"window", "stride", "all, or 1 to 1048576", "messages in flight in each direction", true, read_window,
       [](const Spec& spec) { return spec.window == 0 ? "all" : std::to_string(spec.window); }},
      {"complete", "", "all, any or test",
       "when the next message starts: all (when the whole batch is done), any (when any message is), test (any, polling)",
       true, [](std::string_view text, Spec& spec) { return read_name(text, completion_names, spec.completion); },
       [](const Spec& spec) { return std::string(completion_names[static_cast<std::size_t>(spec.completion)]); }},
      {"post", "", "receives-first or interleaved", "how a batch is handed to MPI", false,
       [](std::string_view text, Spec& spec) { return read_name(text, posting_names, spec.posting); },
       [](const Spec& spec) { return std::string(posting_names[static_cast<std::size_t>(spec.posting)]); }},
      {"segment", "", "0 (whole blocks), or bytes such as 8192, 8KiB, 1MiB (at most 1GiB)",
       "cut every block into segments of so many bytes and exchange them pass by pass", false,
       [](std::string_view text, Spec& spec) { return read_bytes(text, std::int64_t{1} << 30, spec.segment_bytes); },
       [](const Spec& spec) { return print_bytes(spec.segment_bytes); }},
      {"seed", "", "0 to 18446744073709551615", "seed of the random orders, the same on every rank", false,
       [](std::string_view text, Spec& spec) { return read_number(text, std::uint64_t{0}, UINT64_MAX, spec.seed); },
       [](const Spec& spec) { return std::to_string(spec.seed); }},
  };
}

}  // namespace

bool read_bytes(std::string_view text, std::int64_t most, std::int64_t& bytes) {
  for (const auto& [unit, shift] : byte_units) {
    if (!text.ends_with(unit)) continue;
    std::int64_t number = 0;
    if (!read_number<std::int64_t>(text.substr(0, text.size() - unit.size()), 0, most >> shift, number)) return false;
    bytes = number << shift;
    return true;
  }
  return false;
}

const std::vector<Parameter>& parameters() {
  static const std::vector<Parameter> table = make_parameters();
  return table;
}

const std::vector<Alias>& aliases() {
  static const std::vector<Alias> table = {
      {"spread-out", "direct(order=shift,window=all,complete=all)",
       "every message at once, receives posted first", "thakur2005"},
      {"nonblocking", "direct(order=shift,window=all,complete=all,post=interleaved)",
       "every message at once, posted pair by pair", "fft"},
      {"pairwise", "direct(order=shift,window=1,complete=all)", "one send and one receive at a time", "fft"},
      {"multipair-waitall", "direct(order=shift,window=5,complete=all,post=interleaved)",
       "batches of `stride` pairs (the paper tries 5, 10, 15)", "fft"},
      {"multipair-waitany", "direct(order=shift,window=5,complete=any,post=interleaved)",
       "`stride` pairs in flight, refilled when any completes", "fft"},
      {"multipair-testany", "direct(order=shift,window=5,complete=test,post=interleaved)",
       "as multipair-waitany, polling", "fft"},
      {"random-scatter", "direct(order=scatter,window=all,complete=all)",
       "one random order for all ranks, all receives, then all sends", "slimfly"},
      {"random-sendrecv", "direct(order=random,window=8,complete=all,post=interleaved)",
       "random anti-circulant order with a queue of 16 requests", "slimfly"},
      {"random-segmented", "direct(order=random,window=8,complete=all,post=interleaved,segment=8KiB)",
       "random-sendrecv, segment by segment", "slimfly"},
  };
  return table;
}

std::string_view to_text(Order order) { return order_names[static_cast<std::size_t>(order)]; }

}  // namespace swapmeet
