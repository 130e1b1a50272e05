/// Exchanges whose buffers may be memory of a device. Such buffers are copied to the host before the exchange, and
/// received blocks are copied back after it.
#pragma once

#include "interpose/serve.hpp"

namespace swapmeet {

/// Calls `exchange` with host copies in place of the buffers that are device memory. Everything except `exchange` is
/// local. `exchange` gets the error of this rank so far in `failure`, so that it can take part all the same. `sent` is
/// set as by Exchange::run().
int exchange_on_host(const Call& call, Communicator& communicator, const Decision& decision, bool& sent,
                     int (*exchange)(const Call&, Communicator&, const Decision&, int failure, bool& sent));

}  // namespace swapmeet
