/// Hosts made of namespaces. Each node has its own network, host name, processes, and System V and POSIX shared memory.
/// All nodes are inside the namespaces of the head, which end with its first process; so nothing of them is visible
/// outside or left behind.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace swapmeet::cluster {

/// Forks into new namespaces. Returns 0 in the child, which is the first process there. An unprivileged user's child
/// also gets a user namespace, in which it is root.
pid_t fork_head();

/// Turns the child of fork_head() into a host called "head".
void become_head(const std::vector<std::string>& hosts);

/// Starts the first process of a node, in the current network namespace. Returns when the node can be entered.
pid_t start_node(int node, const std::string& hostname);

/// Signals to a node's first process: it stops all other processes of the node, or continues them.
extern const int stop_signal, continue_signal;

/// Moves this process of the head into a node. Its children are fully part of the node.
void enter_node(const std::string& name);

/// Lets this process and its children make temporary files in memory of their host alone. The hosts share no /tmp, and
/// launchers name their files in it by process numbers, which are the same in each cluster.
void use_own_temporary_files();

/// Returns the head's name for a node, such as "node0".
std::string name_of(int node);

}  // namespace swapmeet::cluster
