/// A program that measures the network between two nodes: cluster_probe FROM TO BYTES, as the command of a virtual
/// cluster. It prints the one-way time of a byte in µs, as half the least and half the median round trip, and the rate
/// of a stream of `BYTES` bytes, in bytes per second.
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <vector>

#include "cluster/namespaces.hpp"
#include "cluster/problem.hpp"

using namespace swapmeet::cluster;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int pings = 200, warm_up = 20;
constexpr std::uint16_t listening_port = 5201;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

int tcp_socket() {
  const int socket = checked(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "open a socket");
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  return socket;
}

void receive(int socket, std::size_t bytes) {
  std::vector<char> buffer(1 << 18);
  while (bytes > 0) {
    const int got = checked(read(socket, buffer.data(), std::min(bytes, buffer.size())), "read");
    if (got == 0) throw Problem("the other side is gone");
    bytes -= static_cast<std::size_t>(got);
  }
}

void send(int socket, std::size_t bytes) {
  const std::vector<char> buffer(1 << 18);
  while (bytes > 0)
    bytes -= static_cast<std::size_t>(checked(write(socket, buffer.data(), std::min(bytes, buffer.size())), "write"));
}

void serve(int listening, std::size_t bytes) {
  const int socket = checked(accept(listening, nullptr, nullptr), "accept");
  const int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  for (int k = 0; k < warm_up + pings; ++k) {
    receive(socket, 1);
    send(socket, 1);
  }
  receive(socket, bytes);
  send(socket, 1);
}

void measure(sockaddr_in server, std::size_t bytes) {
  const int socket = tcp_socket();
  checked(connect(socket, reinterpret_cast<const sockaddr*>(&server), sizeof server), "connect");
  std::vector<double> trips;
  for (int k = 0; k < warm_up + pings; ++k) {
    const auto begin = Clock::now();
    send(socket, 1);
    receive(socket, 1);
    if (k >= warm_up) trips.push_back(seconds_since(begin) / 2);
  }
  std::sort(trips.begin(), trips.end());
  const auto begin = Clock::now();
  send(socket, bytes);
  receive(socket, 1);
  std::printf("%.3f %.3f %.0f\n", trips.front() * 1e6, trips[pings / 2] * 1e6,
              static_cast<double>(bytes) / seconds_since(begin));
}

/// Runs `work` on a node, in a new process. Returns the number of the process.
template <class Work>
pid_t on_node(int node, Work work) {
  const pid_t process = checked(fork(), "start a process");
  if (process != 0) return process;
  try {
    enter_node(name_of(node));
    work();
    std::fflush(stdout);
    _exit(0);
  } catch (const std::exception& problem) { std::fprintf(stderr, "cluster_probe: node%d: %s\n", node, problem.what()); }
  _exit(1);
}

}  // namespace

int main(int count, char** words) {
  if (count != 4) return std::fprintf(stderr, "cluster_probe FROM TO BYTES\n"), 2;
  const int from = std::atoi(words[1]), to = std::atoi(words[2]);
  const std::size_t bytes = std::strtoull(words[3], nullptr, 10);
  sockaddr_in server{};
  server.sin_family = AF_INET;
  server.sin_addr.s_addr = htonl((198U << 24) + (18U << 16) + static_cast<unsigned>(to) + 1);
  server.sin_port = htons(listening_port);
  int ready[2];
  if (pipe(ready) != 0) return 1;
  const pid_t serving = on_node(to, [&] {
    const int listening = tcp_socket();
    checked(bind(listening, reinterpret_cast<const sockaddr*>(&server), sizeof server), "bind");
    checked(listen(listening, 1), "listen");
    (void)!write(ready[1], "", 1);
    serve(listening, bytes);
  });
  close(ready[1]);
  char byte;
  if (read(ready[0], &byte, 1) != 1) return 1;
  const pid_t measuring = on_node(from, [&] { measure(server, bytes); });
  int status = 0, worst = 0;
  for (const pid_t process : {measuring, serving}) {
    waitpid(process, &status, 0);
    worst |= status;
  }
  return worst != 0;
}
