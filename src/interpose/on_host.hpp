/// A call some of whose buffers may be memory of a device: these are brought to the host, and back.
#pragma once

#include "interpose/serve.hpp"

namespace swapmeet {

/// `exchange` with copies on the host in place of what is not there. Local, except for `exchange`, which is given what
/// failed on this rank. `sent`: as of Exchange::run().
int exchange_on_host(const Call& call, Communicator& communicator, const Decision& decision, bool& sent,
                     int (*exchange)(const Call&, Communicator&, const Decision&, int failure, bool& sent));

}  // namespace swapmeet
