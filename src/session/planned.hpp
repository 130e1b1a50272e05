/// An exchange that the application has planned: its arguments, what executes them, and how far it is.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "buffers/host_copy.hpp"
#include "buffers/owned_blocks.hpp"
#include "exchange/exchange.hpp"
#include "node/neighbours.hpp"
#include "buffers/staging.hpp"
#include "choose/select.hpp"

namespace swapmeet {

/// What is to be exchanged.
struct Request {
  Collective collective;
  std::optional<OwnedBlocks> send;  ///< nothing: in place
  OwnedBlocks receive;
};

/// What executes it.
struct Executor {
  Spec spec;
  std::string reason;
  std::unique_ptr<Neighbours> neighbours{};  ///< of this exchange alone
  std::int64_t share_bytes = 0;              ///< of shared memory, that count for this rank
  std::unique_ptr<Exchange> exchange{};      ///< nullptr: the host MPI
};

class Planned {
 public:
  /// `comm`: of its own, which it frees, or the application's, with an executor that leaves everything to the
  /// host MPI. `expected_seconds`: negative if nobody knows.
  Planned(Request request, Executor executor, MPI_Comm comm, bool own_comm, std::uint16_t exchanges,
          double expected_seconds);
  ~Planned();
  Planned(const Planned&) = delete;
  Planned& operator=(const Planned&) = delete;

  bool under_way() const { return stage_ != Stage::idle; }

  /// Begins the exchange. Requires that it is not under way. Returns an error, and then it is not. What fails on this
  /// rank alone is no such error: the exchange ends with it, on all ranks whose data depend on this one.
  int start();

  /// Does what can be done without waiting.
  void advance();

  /// What the last exchange ended with, told once.
  int result() { return std::exchange(result_, MPI_SUCCESS); }

  std::mutex& mutex() { return mutex_; }  ///< guards all of it

  const std::string& spec() const { return spec_text_; }
  const std::string& reason() const { return executor_.reason; }
  std::optional<SentTraffic> traffic() const;  ///< of an exchange; nothing: not known
  std::int64_t scratch_bytes() const;
  double expected_seconds() const { return expected_seconds_; }

 private:
  enum class Stage { idle, exchanging, native };

  Blocks sent() const { return request_.send ? request_.send->blocks() : request_.receive.blocks(); }
  bool stages_send() const { return !request_.send || (needs_bytes_ && !sent().contiguous()); }
  /// In place too: bytes that meet a derived type in one message are more than every MPI can do.
  bool stages_receive() const { return (needs_bytes_ || !request_.send) && !request_.receive.blocks().contiguous(); }

  /// Readies send_ and receive_: out of the memory of devices, and in place and derived types as plain bytes.
  int stage_blocks();
  int unstage_blocks();
  void release();
  int start_native();
  /// Each returns `unfinished`, or what ended it.
  int exchange();
  int test_native();

  Request request_;
  Executor executor_;
  MPI_Comm comm_;
  bool own_comm_, needs_bytes_;
  Rank ranks_;
  std::uint16_t exchanges_;
  double expected_seconds_;
  std::string spec_text_;
  Stage stage_ = Stage::idle;
  int result_ = MPI_SUCCESS;
  MPI_Request waited_for_ = MPI_REQUEST_NULL;  ///< the exchange of the host MPI
  HostCopy send_host_copy_, receive_host_copy_;
  Staging send_staging_, receive_staging_;
  std::optional<Blocks> send_, receive_;  ///< as the executor sees them
  std::mutex mutex_;
};

/// All planned exchanges of the process that are under way. Whoever waits for one moves all of them, for other ranks
/// may wait for those; but nobody waits for another thread that moves one. Thread-safe.
class UnderWay {
 public:
  /// A plan exists from now on: there is room for it.
  void expect();

  /// Starts a plan; MPI_ERR_REQUEST if it is under way.
  int start(Planned& plan);

  /// Moves all of them. Returns whether `plan` is over, and then what it ended with in `error`.
  bool advance(Planned& plan, int& error);

  /// Whether `plan` is one of them.
  bool has(Planned& plan);

 private:
  void move(Planned& plan);
  void move_others(const Planned& plan);

  std::mutex mutex_;             ///< guards what follows
  std::vector<Planned*> plans_;  ///< under way, each
  std::size_t expected_ = 0;
};

}  // namespace swapmeet
