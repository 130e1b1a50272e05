/// Computes the time of an exchange under a model, from the work of ranks and nodes (model/work.hpp): docs/models.md.
///
/// A rank has K messages and B bytes in a phase, in batches. For each link, L, o, g and G are those of
/// model/machine.hpp.
///   hockney   K·(L + 2o) + B·G
///   loggp     for each batch L + 2o; then for each message but its last max(o, g + bytes·G), and for the last bytes·G;
///             at least 2·o·K in all, the time of the rank's core
///   max-rate  for each batch L; for each message 2o;
///             for all messages max(K·g, messages that leave the node · time per message of the node);
///             for all bytes max(B·G, bytes that leave the node · time per byte of the node); copies; the call
///   pipelined for each batch of k messages the larger of these two:
///               C + max(0, L - (C - C/k)/2): the time of the core, and the part of L that other messages do not hide;
///               C/k + wire + L: the core's time for the first message, all bytes on the wire, the last one's latency.
///             C is the time for 2o and gaps as in max-rate, and for bytes within the node if other bytes leave it.
///             Messages through shared memory are waited for one by one: L + 2o each.
///             Copies and the call are as in max-rate.
/// Grants (post=granted) are messages without bytes, so a batch of messages waits for L once more.
/// If blocks within a node are sent by rows, a rank sets one flag for all of them. The K messages there take (K + 1)·o
/// instead of 2·o·K; hockney: L + (K + 1)·o + B·G.
/// max-rate and pipelined add further costs if the machine's description has them: the handshake of larger messages (o
/// at both ends of each message, 2L for each batch), the first fragment of each batch, o of peers that are not kept
/// ready, bytes copied outside the cache, and derived datatypes.
/// In loggp, max-rate and pipelined, a batch waits for rendezvous_us, too, if its first message is larger than
/// eager_bytes.
/// With complete=any and complete=test, other messages hide the L (loggp: L + 2o) of all batches but one, as far as
/// they take long enough.
///
/// Source:  Hockney 1994; Alexandrov et al. 1995 (LogGP); Gropp, Olson, Samfass 2016 (max-rate)
#pragma once

#include "model/machine.hpp"
#include "model/work.hpp"

namespace swapmeet {

/// Parts of the time of an exchange, in microseconds.
struct Price {
  double latency = 0;    ///< L (hockney: of each message; loggp: L + 2o), rendezvous, the first fragment
  double overhead = 0;   ///< time of cores for messages
  double gap = 0;        ///< time between messages of a rank or a node
  double bandwidth = 0;  ///< time for bytes
  double pack = 0;
  double call = 0;
  double total() const { return latency + overhead + gap + bandwidth + pack + call; }
};

/// Returns the time of copies of a rank in an exchange of so many ranks, with blocks of `block_bytes`.
double copies_us(const Copies& copies, const Copying& cost, double block_bytes, Rank ranks, double cache_bytes);

/// Returns the price for blocks of `block_bytes`. O(phases); allocates no memory.
Price price(const Work& work, const Machine& machine, Model model, std::int64_t block_bytes);

}  // namespace swapmeet
