/// The ranks of a communicator of the application: who and where they are, how they reach one another, and what they
/// have agreed on.
#pragma once

#include <climits>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/invocation.hpp"
#include "options/options.hpp"
#include "schedule/schedule.hpp"
#include "schedule/spec.hpp"
#include "team/team.hpp"

namespace swapmeet {

/// Reason why a call is left to the host MPI.
inline constexpr const char* no_messages =
    "the ranks cannot send one another messages: the library was loaded after MPI_Init and not preloaded "
    "(docs/mpis.md), or has no tags left";

/// The other parts of a Communicator read it. The exchange of parameters (record_exchange.hpp) and set_algorithm()
/// write it.
struct Members {
  /// Asks the host MPI about the ranks of `comm`, and makes their team; on an intercommunicator that of the ranks of
  /// this group. `options`: those of the process, which must outlive this object. Local.
  Members(MPI_Comm comm, const Options& options);

  /// The options of this communicator: those of the process, unless it has its own.
  const Options& options() const { return own_options_ ? *own_options_ : process_options_; }
  bool has_own_options() const { return own_options_ != nullptr; }
  /// Sets options of its own; nothing: uses those of the process again.
  void set_options(const std::optional<Options>& own) {
    own_options_ = own ? std::make_unique<const Options>(*own) : nullptr;
  }

  Rank ranks() const { return shape.ranks; }
  Rank rank() const { return team->rank(); }
  /// The application's communicator: that of the last blocking call, if several have these ranks.
  MPI_Comm user() const { return team->user_comm(); }
  /// Number of nodes, if known; else INT64_MAX.
  std::int64_t nodes() const { return node_count; }
  /// Whether the ranks can send messages to each other. False until the records are exchanged; the same on all ranks.
  bool has_messages() const { return team->has_messages(); }
  /// Whether work for a started exchange is being executed in steps (team/steps.hpp).
  bool in_steps() const { return team->in_steps(); }
  /// The limits on gathering records, the same on all ranks.
  const Options::Gathered& gathered() const;
  /// Whether every rank receives the records of all ranks. On more ranks they are only reduced.
  bool gathers() const { return shape.ranks <= gathered().ranks; }
  /// A communicator of this rank alone for MPI_Pack and MPI_Unpack, whose errors are returned. Local.
  MPI_Comm packing() const { return team->alone(); }

  /// Starts the next exchange, which `observer` observes. All ranks call it for the same exchanges in the same
  /// order.
  Invocation next_exchange(Observer* observer) { return {team.get(), ++exchanges, MPI_SUCCESS, true, observer}; }

  /// Whether all ranks have set an algorithm. Known before the records are exchanged.
  bool has_algorithm_everywhere() const;
  /// Whether non-blocking exchanges are left to the host MPI, because a rank asks for it or leaves all calls to the
  /// host MPI. The same on all ranks. Persistent ones are left to it only if `starts_on_host` holds.
  bool leaves_starts() const;
  /// Whether an exchange by `spec` that was prepared may send messages of the host MPI. With padded blocks it may do so
  /// within nodes, too, for blocks that do not fit.
  bool sends_messages(Collective collective, const Spec& spec) const;

  /// Determines which ranks share a node. Collective if the hosts of the ranks must be gathered: the records lack them,
  /// and SWAPMEET_NODES is not set. Returns "", or why the nodes cannot be determined.
  std::string find_nodes();

  bool was_set = false;  ///< set_algorithm() has set an algorithm

  Shape shape;
  bool inter = false;  ///< on an intercommunicator, whose calls are all left to the host MPI
  std::uint64_t number =
      UINT64_MAX;  ///< of the communicator: unique in the job and the same on all ranks once they have exchanged records
  std::unique_ptr<Team> team;
  std::uint16_t exchanges = 0;          ///< number of exchanges so far
  std::vector<std::uint64_t> hosts;     ///< host of each rank, if gathered
  std::int64_t node_count = INT64_MAX;  ///< as nodes()

  std::string_view refusal;  ///< why all calls are left to the host MPI; "": they are not
  std::string device;        ///< the same reason where a rank uses a device, so that buffers may be in device memory
  /// Whether work within the host MPI's progress must not call the host MPI, because progress_is_locked() holds on some
  /// rank.
  bool locked = false;
  bool threaded = false;        ///< several threads may call MPI at once on some rank
  bool observed = false;        ///< calls are timed or watched on some rank
  bool starts_on_host = false;  ///< some rank leaves non-blocking and persistent exchanges to the host MPI
  bool ended = false;           ///< a rank has died, or the application has revoked the communicator

 private:
  const Options& process_options_;
  std::unique_ptr<const Options> own_options_;
};

}  // namespace swapmeet
