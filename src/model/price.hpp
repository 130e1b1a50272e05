/// The time of an exchange under a model, from what it makes ranks and nodes do (model/work.hpp): docs/models.md.
///
/// With K messages and B bytes of a rank in a phase, in batches, and for each link L, o, g, G of model/machine.hpp:
///   hockney   K·(L + 2o) + B·G
///   loggp     each batch: L + 2o, then max(o, g + bytes·G) for each message but the last, which takes its bytes·G;
///             and at least 2·o·K, of the rank's core
///   max-rate  each batch: L; each message: 2o; of messages max(K·g, those that leave the node · its message time);
///             of bytes max(B·G, those that leave the node · its byte time); copies; the call
///   pipelined each batch of k messages: the longer of
///               C + max(0, L - (C - C/k)/2): the core's time, and what of L other messages do not hide;
///               C/k + wire + L: the first message's core, all bytes on the wire, the way of the last one.
///             C: 2o and gaps as max-rate, and bytes within the node where others leave it. Of messages through shared
///             memory each is waited for: L + 2o. Copies and the call as max-rate.
/// Grants (post=granted) are messages of no bytes, so a batch of messages waits for one more L.
/// Where blocks within a node travel by rows, a rank raises one flag for all of them: (K + 1)·o in place of 2o·K there, and
/// hockney L + (K + 1)·o + B·G.
/// max-rate and pipelined in addition, where a machine's description says so: a larger message's handshake (o at both ends
/// of each message, 2L a batch), a batch's first fragment, o of peers that are not kept ready, bytes copied outside the
/// cache, and derived datatypes.
/// With complete=any or test a batch's L (loggp: and 2o) is hidden behind what other messages take, but for the first.
///
/// Source:  Hockney 1994; Alexandrov et al. 1995 (LogGP); Gropp, Olson, Samfass 2016 (max-rate)
#pragma once

#include "model/machine.hpp"
#include "model/work.hpp"

namespace swapmeet {

/// Microseconds.
struct Price {
  double latency = 0;    ///< L (hockney, loggp: L + 2o), rendezvous, the first fragment
  double overhead = 0;   ///< of cores, for messages
  double gap = 0;        ///< between messages, of a rank or a node
  double bandwidth = 0;  ///< of bytes
  double pack = 0;
  double call = 0;
  double total() const { return latency + overhead + gap + bandwidth + pack + call; }
};

/// Of a rank of so many, for blocks of `block_bytes`.
double copies_us(const Copies& copies, const Copying& cost, double block_bytes, Rank ranks, double cache_bytes);

/// For blocks of `block_bytes`. O(phases); allocates nothing.
Price price(const Work& work, const Machine& machine, Model model, std::int64_t block_bytes);

}  // namespace swapmeet
