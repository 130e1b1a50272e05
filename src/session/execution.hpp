/// One exchange whose arguments outlive the call that gave them, as far as it is.
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

/// In the first `blocks` blocks of `sent`, without those for nobody. `to`: for whom each is; empty: for a rank each.
std::uint64_t bytes_sent(const Blocks& sent, Rank blocks, std::span<const Rank> to);

/// What is to be exchanged.
struct Request {
  Collective collective;
  std::optional<OwnedBlocks> send;  ///< nothing: in place
  OwnedBlocks receive;
  Degrees blocks;                                        ///< on the two sides
  std::shared_ptr<const Neighbourhood> neighbourhood{};  ///< of which they are, if they are of one

  /// For whom the blocks of a side are: see Staging::reserve().
  std::span<const Rank> to() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->to) : std::span<const Rank>();
  }
  std::span<const Rank> from() const {
    return neighbourhood ? std::span<const Rank>(neighbourhood->from) : std::span<const Rank>();
  }
  /// Those of the side that is sent from.
  Rank sent_blocks() const { return send ? blocks.out : blocks.in; }
  Blocks sent() const { return send ? send->blocks() : receive.blocks(); }
  Blocks received() const { return receive.blocks(); }
  std::uint64_t sent_bytes() const { return bytes_sent(sent(), sent_blocks(), to()); }  ///< by this rank
};

/// One thread at a time.
class Execution {
 public:
  explicit Execution(Request request) : request_(std::move(request)) {}
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  const Request& request() const { return request_; }

  /// The next exchange is of plain blocks like those of the last one, which lie elsewhere.
  void lie_at(const void* send, const void* receive) {
    request_.send->lie_at(send);
    request_.receive.lie_at(receive);
  }
  bool under_way() const { return stage_ != Stage::idle; }

  /// There will be no other exchange. Requires that none is under way.
  void free_types() {
    if (request_.send) request_.send->free_types();
    request_.receive.free_types();
  }

  /// Begins the exchange. What fails on this rank alone is no error of this: the exchange ends with it, on all ranks whose
  /// data depend on this one. `packing`: to pack on.
  void start(Exchange& exchange, Invocation call, MPI_Comm packing);

  /// The same by the host MPI, on `comm`. Returns an error, and then it is not under way.
  int start_on_host(MPI_Comm comm);

  /// Does what can be done without waiting: `unfinished`, or it is over, with MPI_SUCCESS or an error.
  int advance();

  /// Bytes of staging that `exchange` makes it use.
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

  /// Readies send_ and receive_: out of the memory of devices, and in place and derived types as plain bytes.
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
  std::optional<Blocks> send_, receive_;  ///< as the exchange sees them
  bool as_they_lie_ = false, empty_ = false;
  int failure_ = MPI_SUCCESS;
};

}  // namespace swapmeet
