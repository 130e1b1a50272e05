/// The network interface of a port, whose frames this process carries.
#pragma once

#include <array>
#include <string>

namespace swapmeet::cluster {

constexpr int most_ports = 200;
constexpr int ethernet_header_bytes = 14;

/// In a range that is set aside for measurements (RFC 2544): no host has it.
std::string address_of(int port);

/// The port that a frame is for. -1: all of them; -2: none.
int port_of(const unsigned char* frame, int ports);

/// Makes the interface of a port in the present network namespace, and sets it and the loopback interface up. Returns
/// the file through which frames come and go, one at a time; reading does not block.
int make_tap(int port, int mtu_bytes);

}  // namespace swapmeet::cluster
