#include "cluster/tap.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "cluster/problem.hpp"

namespace swapmeet::cluster {

namespace {

constexpr int queue_frames = 10000;  ///< in the kernel, not yet read by this process
/// first bytes of the hardware addresses; the last byte is that of the IP address
constexpr unsigned char prefix[5] = {0x02, 0, 0, 0, 0};

ifreq named(const char* name) {
  ifreq request{};
  std::snprintf(request.ifr_name, sizeof request.ifr_name, "%s", name);
  return request;
}

sockaddr internet(const std::string& text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  inet_pton(AF_INET, text.c_str(), &address.sin_addr);
  sockaddr general;
  std::memcpy(&general, &address, sizeof general);
  return general;
}

void set_up(int socket, const char* name) {
  ifreq request = named(name);
  request.ifr_flags = IFF_UP | IFF_RUNNING;
  checked(ioctl(socket, SIOCSIFFLAGS, &request), std::string("set up the interface ") + name);
}

/// Disables IPv6, whose background traffic would disturb measurements. Does nothing if the kernel has no IPv6.
void forbid_ipv6() {
  if (FILE* const file = std::fopen("/proc/sys/net/ipv6/conf/all/disable_ipv6", "w")) {
    std::fputs("1", file);
    std::fclose(file);
  }
}

}  // namespace

std::string address_of(int port) { return "198.18.0." + std::to_string(port + 1); }

int port_of(const unsigned char* frame, int ports) {
  if (frame[0] & 1) return -1;
  const int port = frame[5] - 1;
  return std::memcmp(frame, prefix, sizeof prefix) == 0 && port >= 0 && port < ports ? port : -2;
}

int make_tap(int port, int mtu_bytes) {
  const char* const name = "eth0";
  const int tap =
      checked(open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "open /dev/net/tun (kernel module tun)");
  ifreq request = named(name);
  request.ifr_flags = IFF_TAP | IFF_NO_PI;
  checked(ioctl(tap, TUNSETIFF, &request), "make a TAP interface");
  const int socket = checked(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), "open a socket");
  const auto set = [&](unsigned long what, const char* words) { checked(ioctl(socket, what, &request), words); };

  request = named(name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::memcpy(request.ifr_hwaddr.sa_data, prefix, sizeof prefix);
  request.ifr_hwaddr.sa_data[5] = static_cast<char>(port + 1);
  set(SIOCSIFHWADDR, "set a hardware address");
  request = named(name);
  request.ifr_mtu = mtu_bytes;
  set(SIOCSIFMTU, "set the MTU");
  request = named(name);
  request.ifr_qlen = queue_frames;
  (void)ioctl(socket, SIOCSIFTXQLEN, &request);  // in a user namespace it stays 500
  forbid_ipv6();
  request = named(name);
  request.ifr_addr = internet(address_of(port));
  set(SIOCSIFADDR, "set an address");
  request = named(name);
  request.ifr_netmask = internet("255.255.255.0");
  set(SIOCSIFNETMASK, "set a netmask");
  set_up(socket, name);
  set_up(socket, "lo");
  close(socket);
  return tap;
}

}  // namespace swapmeet::cluster
