/// Hosts made of namespaces: each node has its own network, host name, processes, System V and POSIX shared memory. All
/// are inside those of the head, which end with their first process: nothing of it is ever seen outside, nor left
/// behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace swapmeet::cluster {

/// Forks into namespaces of its own. Returns 0 in the child, which is the first process there.
/// Where the user may not, the child gets a user namespace, too, and is root there.
pid_t fork_head();

/// In the child of fork_head(): makes it a host called "head".
void become_head(const std::vector<std::string>& hosts);

/// Starts the first process of a node, in the present network namespace, and returns when it is ready to be entered.
pid_t start_node(int node, const std::string& hostname);

/// What a node's first process does when it gets these: all others of the node stop, and go on.
extern const int stop_signal, continue_signal;

/// From the head: makes this process part of a node. Its children will be, in every respect.
void enter_node(const std::string& name);

/// "node0", as the head knows a node.
std::string name_of(int node);

}  // namespace swapmeet::cluster
