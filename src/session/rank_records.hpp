/// The exchange of parameters (records) between the ranks of a communicator, which comes before all else. One
/// MPI_Allgather of a record of each rank gives every rank all that it must know of the others. On few ranks an
/// MPI_Alltoall takes its place, on which small blocks of the current call are piggybacked. Records have one size
/// whatever this call is, so the exchange succeeds even if the calls of the ranks do not match. On very many ranks the
/// records are only reduced (Options::Gathered).
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "buffers/reserve.hpp"
#include "node/node_peers.hpp"
#include "options/options.hpp"

namespace swapmeet {

/// The record of one rank. Sent as raw bytes.
struct RankRecord {
  /// A mark and a version number at the start of the record, in all versions of the library. They show that the
  /// received bytes are a record, and of which version.
  struct Version {
    std::array<char, 8> mark = {'s', 'w', 'a', 'p', 'm', 'e', 'e', 't'};
    std::array<char, 16> number = own_number();

    static constexpr std::array<char, 16> own_number() {
      std::array<char, 16> text{};
      std::string_view(SWAPMEET_VERSION).copy(text.data(), text.size() - 1);
      return text;
    }
    bool is_there() const { return mark == Version{}.mark; }
    std::string text() const { return {number.data(), strnlen(number.data(), number.size())}; }
  };

  static constexpr std::uint64_t no_state = UINT64_MAX;

  Version version{};
  std::uint64_t options = 0;            ///< Options::fingerprint()
  std::uint64_t device = 0;             ///< as device_in_use()
  std::uint64_t number = 0;             ///< the communicator's number on rank 0; elsewhere larger than any
  std::uint64_t host = 0;               ///< number of the rank's host, as host_number()
  std::uint64_t kernel = 0;             ///< number of its kernel, which all containers of a machine share
  std::uint32_t launched = 1;           ///< ranks on the host, if the launcher says how many; at least 1
  std::uint32_t cores = UINT32_MAX;     ///< number of cores of the kernel
  std::uint16_t locked = 0;             ///< as progress_is_locked()
  std::int16_t block_bytes = -1;        ///< bytes of `block`; negative: no block
  std::uint16_t threaded = 0;           ///< whether several threads may call MPI at once
  std::uint8_t starts_on_host = 0;      ///< whether non-blocking and persistent calls are left to the host MPI
  std::uint8_t observed : 1 = 0;        ///< whether calls are timed or watched
  std::uint8_t sessions : 1 = 0;        ///< whether MPI_Session_init was called
  std::uint32_t recalled = UINT32_MAX;  ///< bytes that rank 0 remembers of earlier runs; elsewhere larger than any
  std::uint32_t many = UINT32_MAX;      ///< Recalled::many of rank 0; elsewhere larger than 1
  std::int32_t team = -1;               ///< Team::number()
  std::uint32_t job = 0;                ///< whether this rank has the communicator of the job
  std::uint64_t state = no_state;       ///< the kept state that this rank proposes to take over (kept_states.hpp)
  NodeRecord node_record{};
  std::array<char, 64> block{};  ///< block for the rank that receives the record
};
// A rank without memory for the records of all ranks could not take part in their exchange.
static_assert(sizeof(RankRecord) <= table_bytes_per_rank);

/// The result of the exchange: what this rank needs of all records.
struct GatheredRecords {
  /// The states that the ranks propose to take over: none at all, all the same, or else the records are not read.
  enum class States : std::uint8_t { none, same, different } states = States::none;
  bool agreed = false;      ///< all ranks have the same options
  int error = MPI_SUCCESS;  ///< the MPI error with which the exchange has failed on this rank
  /// Ranks that have sent no record. If all ranks have sent one: ranks with another version of the library;
  /// `other_version` is that of the first of them.
  std::vector<Rank> strangers{};
  std::optional<RankRecord::Version> other_version{};
  bool same_version = true;  ///< result of comparing versions on so many ranks that records are not gathered
  Rank first_with_record = 0;
  std::uint64_t device = 0, number = 0, recalled = 0;
  bool many = false;
  bool locked = false, threaded = false, starts_on_host = false, observed = false;  ///< true on some rank
  bool sessions = true;                                                             ///< true on all ranks
  bool job = false;                                                                 ///< true on some rank
  std::int64_t ranks_here = 1;  ///< ranks of the job on this rank's kernel, at least
  double ranks_per_core = 1;    ///< largest value of any kernel
  /// Values of each rank, if records are gathered; else empty.
  std::vector<std::uint64_t> hosts{};
  std::vector<NodeRecord> node_records{};
  std::vector<std::int32_t> teams{};
  /// Number of the team, if records are not gathered and all ranks have the same number; else negative.
  std::int32_t team_everywhere = -1;
};

/// Exchanges the records. Collective over `team`; waits. `blocks`: one block for each rank, of equal size and small
/// enough for a record, or empty. On return one block from each rank; or empty, if no blocks were exchanged.
/// `gathered`: the same on all ranks.
GatheredRecords gather_records(const RankRecord& mine, const Options::Gathered& gathered, Team& team,
                               std::vector<char>& blocks);

/// The same exchange in two steps, for calls that must not wait, on few enough ranks for records to be gathered.
/// begin_gathering_records() starts it, and returns as MPI does. read_records() evaluates `all` once `request` is
/// complete. `mine` and `all` must stay in place until then.
int begin_gathering_records(const RankRecord& mine, std::vector<RankRecord>& all, MPI_Comm comm, MPI_Request& request);
GatheredRecords read_records(const RankRecord& mine, const std::vector<RankRecord>& all);

/// Numbers of the host and of the kernel that this process runs on. Processes have the same host number if they can
/// share memory. They have the same kernel number if they compete for the same cores.
std::uint64_t host_number();
std::uint64_t kernel_number();

/// The node of each rank, given the host of each rank. Nodes are numbered by their first rank.
std::vector<std::int32_t> nodes_of_hosts(std::span<const std::uint64_t> hosts);

}  // namespace swapmeet
