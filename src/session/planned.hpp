/// An exchange that the application has planned: what executes it, again and again, on a communicator of its own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "choose/select.hpp"
#include "exchange/exchange.hpp"
#include "node/neighbours.hpp"
#include "session/execution.hpp"
#include "session/under_way.hpp"

namespace swapmeet {

/// What executes it.
struct Executor {
  Spec spec;
  std::string reason;
  std::unique_ptr<Neighbours> neighbours{};  ///< of this exchange alone
  std::int64_t share_bytes = 0;              ///< of shared memory, that count for this rank
  std::unique_ptr<Exchange> exchange{};      ///< nullptr: the host MPI
};

class Planned final : public Ongoing {
 public:
  /// `comm`: of its own, which it frees, or the application's, with an executor that leaves everything to the
  /// host MPI. `by_mpi`: some messages, or all. `expected_seconds`: negative if nobody knows.
  Planned(Request request, Executor executor, MPI_Comm comm, bool own_comm, bool by_mpi, std::uint16_t exchanges,
          double expected_seconds);
  ~Planned() override;

  /// Is called, with `state` and the result, when an exchange is over; whoever moves it on. Before the first start.
  using Over = void (*)(void* state, int error);
  void tell(Over over, void* state) { over_ = over, state_ = state; }

  bool under_way() const override { return execution_.under_way(); }

  /// Begins the exchange. Requires that it is not under way. Returns an error, and then it is not. What fails on this
  /// rank alone is no such error: the exchange ends with it, on all ranks whose data depend on this one.
  int start();

  void advance() override;
  Rest rest() override;
  bool goes_on_in_progress() const override { return goes_on_in_progress_; }

  /// What the last exchange ended with, told once.
  int result() { return std::exchange(result_, MPI_SUCCESS); }

  bool on_host() const { return !executor_.exchange; }
  const std::string& spec() const { return spec_text_; }
  const std::string& reason() const { return executor_.reason; }
  std::optional<SentTraffic> traffic() const;  ///< of an exchange; nothing: not known
  std::int64_t scratch_bytes() const;
  double expected_seconds() const { return expected_seconds_; }

 private:
  Execution execution_;
  Executor executor_;
  MPI_Comm comm_;
  bool own_comm_, goes_on_in_progress_;
  std::uint16_t exchanges_;
  double expected_seconds_;
  std::string spec_text_;
  int result_ = MPI_SUCCESS;
  Over over_ = nullptr;
  void* state_ = nullptr;
};

}  // namespace swapmeet
