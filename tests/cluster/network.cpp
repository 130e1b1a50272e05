/// Tries the links of a cluster in a time of its own: when each frame arrives is known to the nanosecond.
#include "cluster/network.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

using namespace swapmeet::cluster;

namespace {

constexpr Time latency = 50'000, takes = 8'000;  // a frame of 1000 B at 1 Gbit/s
constexpr std::size_t bytes = 1000;
int passed = 0;

void expect(const char* what, long long expected, long long found) {
  if (expected != found) {
    std::printf("network: %s: expected %lld, found %lld\n", what, expected, found);
    std::exit(1);
  }
  ++passed;
}

Shape shape_of(int nodes) {
  Shape shape;
  shape.nodes = nodes;
  shape.latency_ns = latency;
  return shape;
}

/// Four nodes at two switches, a tenth of a node's rate between them.
Shape two_level() {
  Shape shape = shape_of(4);
  shape.nodes_per_switch = 2;
  shape.core_rate = shape.rate / 10;
  shape.core_latency_ns = 20'000;
  return shape;
}

void send(Network& network, int from, int to, Time now, int count = 1) {
  for (int k = 0; k < count; ++k) network.enter(from, {to, std::vector<unsigned char>(bytes)}, now);
}

/// When the frames for a port arrive, asked for in time.
std::vector<Time> arrivals(Network& network, int port) {
  std::vector<Time> times;
  while (const auto next = network.next())
    while (const auto frame = network.pop(*next))
      if (frame->to == port) times.push_back(*next);
  return times;
}

void check_one_switch() {
  Network network(shape_of(4));
  send(network, 0, 1, 0, 10);
  const auto times = arrivals(network, 1);
  expect("frames arrive", 10, static_cast<long long>(times.size()));
  for (std::size_t k = 0; k < times.size(); ++k)
    expect("one after the other", latency + static_cast<Time>(k + 1) * takes, times[k]);

  Network incast(shape_of(4));
  for (int from = 1; from < 4; ++from) send(incast, from, 0, 0, 5);
  expect("a link down is shared", latency + 15 * takes, arrivals(incast, 0).back());

  Network apart(shape_of(4));
  send(apart, 0, 1, 0, 5);
  send(apart, 1, 0, 0, 5);
  send(apart, 2, 3, 0, 5);
  expect("other links are not, nor are directions", latency + 5 * takes, arrivals(apart, 3).back());
}

void check_two_levels() {
  Network network(two_level());
  send(network, 0, 1, 0, 5);
  expect("one switch is as before", latency + 5 * takes, arrivals(network, 1).back());
  send(network, 0, 2, 1'000'000);
  expect("two take longer", 1'000'000 + latency + 20'000 + 10 * takes, arrivals(network, 2).back());
  send(network, 0, 2, 2'000'000, 3);
  send(network, 1, 2, 2'000'000, 3);
  expect("what is between them is shared", 2'000'000 + latency + 20'000 + 6 * 10 * takes, arrivals(network, 2).back());
  send(network, network.head(), 2, 9'000'000);
  expect("the head is at the core", 9'000'000 + latency / 2 + 10'000 + 10 * takes, arrivals(network, 2).back());
}

void check_queue() {
  Shape shape = shape_of(2);
  shape.queue_bytes = 5 * bytes;
  Network network(shape);
  send(network, 0, 1, 0, 100);
  expect("what fits arrives, the rest is dropped", 5, static_cast<long long>(arrivals(network, 1).size()));
  send(network, 0, 1, 10'000'000, 5);
  expect("later there is room again", 5, static_cast<long long>(arrivals(network, 1).size()));
  expect("all has been sent", 105 * bytes, static_cast<long long>(network.traffic()));
}

void check_faults() {
  Network network(shape_of(3));
  network.slow(1, 10);
  send(network, 0, 1, 0, 3);
  send(network, 0, 2, 0);
  expect("a slow link is slow", latency + 30 * takes, arrivals(network, 1).back());
  network.slow(1, 1);
  send(network, 0, 1, 1'000'000, 3);
  expect("and then no longer", 1'000'000 + latency + 3 * takes, arrivals(network, 1).back());
  network.cut(1, true);
  send(network, 0, 1, 2'000'000, 3);
  send(network, 1, 0, 2'000'000, 3);
  send(network, 0, 2, 2'000'000);
  expect("a cut node gets nothing, others do", 1, static_cast<long long>(arrivals(network, 2).size()));
  network.cut(1, false);
  send(network, 0, 1, 3'000'000);
  expect("until it is whole", 1, static_cast<long long>(arrivals(network, 1).size()));
}

/// Random traffic, asked for late: frames of a pair keep their order, none is lost, none comes before it can.
void check_order() {
  std::mt19937 random(1);
  Network network(two_level());
  int next_sent[5][5] = {}, next_seen[5][5] = {};
  Time now = 0;
  for (int k = 0; k < 20000; ++k) {
    const int from = static_cast<int>(random() % 5), to = static_cast<int>((from + 1 + random() % 4) % 5);
    std::vector<unsigned char> data(60 + random() % 1000);
    const int number = next_sent[from][to]++;
    data[0] = static_cast<unsigned char>(from);
    for (int byte = 0; byte < 4; ++byte)
      data[static_cast<std::size_t>(1 + byte)] = static_cast<unsigned char>(number >> 8 * byte);
    network.enter(from, {to, std::move(data)}, now);
    now += random() % 200'000;
    while (const auto frame = network.pop(now)) {
      int found = 0;
      for (int byte = 0; byte < 4; ++byte) found |= frame->data[static_cast<std::size_t>(1 + byte)] << 8 * byte;
      if (next_seen[frame->data[0]][frame->to]++ != found) expect("frames of a pair keep their order", 0, 1);
    }
  }
  while (const auto frame = network.pop(now + 1'000'000'000)) ++next_seen[frame->data[0]][frame->to];
  for (int from = 0; from < 5; ++from)
    for (int to = 0; to < 5; ++to) expect("none is lost", next_sent[from][to], next_seen[from][to]);
}

}  // namespace

int main() {
  check_one_switch();
  check_two_levels();
  check_queue();
  check_faults();
  check_order();
  std::printf("%d passed\n", passed);
}
