/// The network interface of a port. This process transfers its frames.
#pragma once

#include <array>
#include <string>

namespace swapmeet::cluster {

constexpr int most_ports = 200;
constexpr int ethernet_header_bytes = 14;

/// Returns the address of a port, in a range reserved for measurements (RFC 2544), which no host uses.
std::string address_of(int port);

/// Returns the destination port of a frame. -1: all ports; -2: none.
int port_of(const unsigned char* frame, int ports);

/// Creates the interface of a port in the current network namespace, and activates it and the loopback interface.
/// Returns the file for its frames, which are read and written one at a time; reading does not block.
int make_tap(int port, int mtu_bytes);

}  // namespace swapmeet::cluster
