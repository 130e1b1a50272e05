/// What the ranks of a communicator tell one another before anything else: one MPI_Allgather of a record of each rank,
/// from which every rank knows all that it must know of the others. On few ranks an MPI_Alltoall, which carries small blocks of
/// the call that waits for it: records are of one size whatever that call is, so ranks whose calls do not match meet as well.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "node/node_peers.hpp"
#include "options/options.hpp"

namespace swapmeet {

/// Of one rank. Sent as it is.
struct RankRecord {
  /// First in every version of the library: it shows that what has come is a record, and of which version.
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

  Version version{};
  std::uint64_t options = 0;            ///< Options::fingerprint()
  std::uint64_t device = 0;             ///< as device_in_use()
  std::uint64_t number = 0;             ///< of the communicator, by rank 0; more than any, elsewhere
  std::uint64_t host = 0;               ///< that the rank is on
  std::uint64_t kernel = 0;             ///< of it: of all containers of a machine
  std::uint32_t launched = 1;           ///< ranks on the host, as far as the launcher says
  std::uint32_t cores = UINT32_MAX;     ///< of the kernel
  std::uint16_t locked = 0;             ///< as progress_is_locked()
  std::int16_t block_bytes = -1;        ///< of `block`; negative: there is none
  std::uint16_t threaded = 0;           ///< whether several threads may call MPI at once
  std::uint8_t starts_on_host = 0;      ///< whether non-blocking and persistent calls are the host MPI's
  std::uint8_t observed : 1 = 0;        ///< whether calls are timed or watched
  std::uint8_t sessions : 1 = 0;        ///< whether MPI_Session_init was called
  std::uint32_t recalled = UINT32_MAX;  ///< bytes of what rank 0 recalls of earlier runs; more than any, elsewhere
  std::uint32_t many = UINT32_MAX;      ///< 1: as Recalled has it, by rank 0; more than 1 elsewhere
  std::int32_t team = -1;               ///< Team::number()
  std::uint32_t job = 0;                ///< whether this rank has the communicator of the job
  NodeRecord node_record{};
  std::array<char, 64> block{};  ///< for the rank that gets the record
};

struct GatheredRecords {
  bool agreed = false;  ///< on the options
  bool fault = false;   ///< a rank has died, and this one knows
  /// Ranks that have sent no record; or, if all have, those with another version of the library, of which the first has
  /// `other_version`.
  std::vector<Rank> strangers{};
  std::optional<RankRecord::Version> other_version{};
  bool same_version = true;  ///< where too many ranks to tell who has another one have compared theirs
  Rank first_with_record = 0;
  std::uint64_t device = 0, number = 0, recalled = 0;
  bool many = false;
  bool locked = false, threaded = false, starts_on_host = false, observed = false;  ///< some rank
  bool sessions = true;                                                             ///< all ranks
  bool job = false;                                                                 ///< some rank
  std::int64_t ranks_here = 1;  ///< of the job, on the kernel of this rank, as far as is known
  double ranks_per_core = 1;    ///< the most of any kernel
  /// Of each rank, where they are gathered; else nothing, for then only the rest was agreed on.
  std::vector<std::uint64_t> hosts{};
  std::vector<NodeRecord> node_records{};
  std::vector<std::int32_t> teams{};
  /// On more: the number of the team on all ranks; negative: it is not the same on all, or some have none.
  std::int32_t team_everywhere = -1;
};

/// Collective over `comm`; waits. `blocks`: one for each rank, of equal size, which the records have room for, or nothing; then one of
/// each rank, or nothing: they were not exchanged. `gathered`: the same on all ranks.
GatheredRecords gather_records(const RankRecord& mine, const Options::Gathered& gathered, MPI_Comm comm,
                               std::vector<char>& blocks);

/// The same where records are gathered, in a call that does not wait: begins it, and reads what has come once `request` is
/// complete. `mine` and `all` stay where they are until then. Returns as MPI does.
int begin_gathering_records(const RankRecord& mine, std::vector<RankRecord>& all, MPI_Comm comm, MPI_Request& request);
GatheredRecords read_records(const RankRecord& mine, const std::vector<RankRecord>& all);

/// A number of the host that this process is on: different on others, the same for all that can share memory. And of its
/// kernel: the same for all that may want the same cores.
std::uint64_t host_number();
std::uint64_t kernel_number();

/// The nodes of ranks on such hosts, each named by its first rank.
std::vector<std::int32_t> nodes_of_hosts(std::span<const std::uint64_t> hosts);

}  // namespace swapmeet
