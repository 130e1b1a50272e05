/// An exchange that outlives the call that starts it, with copies of the arguments.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "buffers/host_copy.hpp"
#include "buffers/owned_blocks.hpp"
#include "buffers/staging.hpp"
#include "exchange/exchange.hpp"
#include "schedule/collective.hpp"
#include "schedule/schedule.hpp"

namespace swapmeet {

/// Number of bytes in the first `blocks` blocks of `sent`, without blocks for `nobody` (MPI_PROC_NULL). `to`: the
/// destination of each block; empty: no block is for `nobody`.
std::uint64_t bytes_sent(const Blocks& sent, Rank blocks, std::span<const Rank> to);

/// The arguments of an exchange.
struct Request {
  Collective collective;
  std::optional<OwnedBlocks> send;  ///< nothing: MPI_IN_PLACE
  OwnedBlocks receive;
  Degrees blocks;                                        ///< number of blocks sent and received
  std::shared_ptr<const Neighbourhood> neighbourhood{};  ///< nullptr: not an exchange with neighbours

  /// The peers of the blocks of each side, for Staging::reserve(). Empty if there is one block for each rank.
  std::span<const Rank> to() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->to) : std::span<const Rank>();
  }
  std::span<const Rank> from() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->from) : std::span<const Rank>();
  }
  /// Number of blocks in the buffer that is sent from.
  Rank sent_blocks() const { return send ? blocks.out : blocks.in; }
  Blocks sent() const { return send ? send->blocks() : receive.blocks(); }
  Blocks received() const { return receive.blocks(); }
  /// Number of bytes that this rank sends.
  std::uint64_t sent_bytes() const { return bytes_sent(sent(), sent_blocks(), to()); }
};

/// The executor of a request, one exchange at a time. To be used by one thread at a time.
class Execution {
 public:
  explicit Execution(Request request) : request_(std::move(request)) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  const Request& request() const { return request_; }

  /// Sets the buffers of the next exchange. Requires that both sides are plain blocks, as in the exchange before.
  void lie_at(const void* send, const void* receive) {
    request_.send->lie_at(send);
    request_.receive.lie_at(receive);
  }
  bool under_way() const { return stage_ != Stage::idle; }

  /// Frees the datatypes of the request, after which no exchange can be started. Requires that none is under way.
  void free_types() {
    if (request_.send) request_.send->free_types();
    request_.receive.free_types();
  }

  /// Starts the exchange, even after an error of this rank alone: the exchange then ends with this error, on all ranks
  /// whose data depend on this one. `packing`: the communicator to pack on.
  void start(Exchange& exchange, Invocation call, MPI_Comm packing);

  /// Starts the exchange by the host MPI, on `comm`. Returns an error of MPI; then the exchange is not under way.
  int start_on_host(MPI_Comm comm);

  /// Advances the exchange without waiting. Returns `unfinished`, or its result when it is over: MPI_SUCCESS or an
  /// error.
  int advance();

  /// Bytes of staging memory that `exchange` needs for the request.
  std::int64_t staging_bytes(const Exchange& exchange) const;

 private:
  enum class Stage { idle, exchanging, on_host };

  bool stages_send(const Exchange& exchange) const {
    return request_.send ? !exchange.takes(request_.sent(), false) : !exchange.swaps(request_.received());
  }
  bool stages_receive(const Exchange& exchange) const {
    const Blocks received = request_.received();
    return !exchange.takes(received, !request_.send) && (request_.send || !exchange.swaps(received));
  }

  /// Prepares send_ and receive_. Blocks in device memory are copied to the host; MPI_IN_PLACE and derived types are
  /// staged as plain bytes where the exchange needs it. Returns an error of MPI.
  int stage_blocks();
  int unstage_blocks();
  void release();
  int test_host();

  Request request_;
  Stage stage_ = Stage::idle;
  Exchange* exchange_ = nullptr;
  MPI_Comm packing_ = MPI_COMM_NULL;
  MPI_Request on_host_ = MPI_REQUEST_NULL;
  HostCopy send_host_copy_, receive_host_copy_;
  Staging send_staging_, receive_staging_;
  std::optional<Blocks> send_, receive_;  ///< the blocks that the exchange uses
  /// as_they_lie_: the exchange uses the application's buffers, without staging or host copies.
  /// empty_: the exchange has no bytes.
  bool as_they_lie_ = false, empty_ = false;
  int failure_ = MPI_SUCCESS;
};

}  // namespace swapmeet
