#include "session/rank_records.hpp"

#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

#include "team/agreement.hpp"
#include "mpi/faults.hpp"
#include "mpi/outcome.hpp"
#include "schedule/kernel_file.hpp"
#include "schedule/text_hash.hpp"

namespace swapmeet {

namespace {

std::string processor_name() {
  char text[MPI_MAX_PROCESSOR_NAME] = "";
  int length = 0;
  PMPI_Get_processor_name(text, &length);
  return {text, static_cast<std::size_t>(length)};
}

/// The identifier of the kernel's boot; "" if it is hidden.
std::string boot_text() { return read_kernel_file("/proc/sys/kernel/random/boot_id"); }

/// A text that identifies the host. Several hosts may have the same name, and containers of one host have names of
/// their own. Processes that cannot share memory differ in boot, name or /dev/shm.
std::string host_text() {
  if (simulated) return processor_name();
  utsname name{};
  uname(&name);
  struct stat shared{};
  const bool has = stat("/dev/shm", &shared) == 0;
  return boot_text() + ' ' + name.nodename + ' ' + std::to_string(has ? shared.st_dev : 0);
}

/// Number of ranks of the job on each kernel, at least. It counts the ranks of the communicator, and all ranks that
/// were launched on their hosts.
std::map<std::uint64_t, std::int64_t> count_ranks(std::span<const RankRecord> all) {
  std::map<std::uint64_t, std::int64_t> ranks, launched;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::int64_t> on_host;
  for (const RankRecord& rank : all) {
    ++ranks[rank.kernel];
    std::int64_t& most = on_host[{rank.kernel, rank.host}];
    most = std::max<std::int64_t>(most, rank.launched);
  }
  for (const auto& [host, number] : on_host) launched[host.first] += number;
  for (auto& [kernel, number] : ranks) number = std::max(number, launched[kernel]);
  return ranks;
}

/// Sends each rank this rank's record, with its block if there are any. On return `all` and `blocks` hold the records
/// and blocks from the other ranks. `blocks` is empty if the ranks' blocks differ in size. Returns as MPI does.
int exchange(const RankRecord& mine, std::vector<RankRecord>& all, std::vector<char>& blocks, const Team& team) {
  const std::size_t ranks = all.size(), bytes = blocks.size() / ranks;
  std::vector<RankRecord> out(ranks, mine);
  for (std::size_t i = 0; i < ranks && bytes > 0; ++i) {
    out[i].block_bytes = static_cast<std::int16_t>(bytes);
    std::memcpy(out[i].block.data(), &blocks[i * bytes], bytes);
  }
  const int error = exchange_bytes(out.data(), sizeof mine, all.data(), team);
  const auto alike = [&](const RankRecord& rank) { return rank.block_bytes == static_cast<std::int16_t>(bytes); };
  if (error || !std::ranges::all_of(all, alike)) blocks.clear();
  for (std::size_t i = 0; !blocks.empty() && i < ranks; ++i)
    std::memcpy(&blocks[i * bytes], all[i].block.data(), bytes);
  return error;
}

void find_strangers(std::span<const RankRecord> all, GatheredRecords& records) {
  const auto number = [&](const RankRecord& rank) { return static_cast<Rank>(&rank - all.data()); };
  for (const RankRecord& rank : all)
    if (!rank.version.is_there()) records.strangers.push_back(number(rank));
  const auto has_one = [](const RankRecord& rank) { return rank.version.is_there(); };
  records.first_with_record = static_cast<Rank>(std::ranges::find_if(all, has_one) - all.begin());
  if (!records.strangers.empty()) return;
  for (const RankRecord& rank : all)
    if (rank.version.number != RankRecord::Version::own_number()) records.strangers.push_back(number(rank));
  if (!records.strangers.empty())
    records.other_version = all[static_cast<std::size_t>(records.strangers.front())].version;
}

}  // namespace

std::uint64_t host_number() {
  if (simulated) return hash_of(host_text());
  static const std::uint64_t number = hash_of(host_text());
  return number;
}

std::uint64_t kernel_number() {
  if (simulated) return host_number();
  static const std::string text = boot_text();
  return text.empty() ? host_number() : hash_of(text);
}

GatheredRecords gather_records(const RankRecord& mine, const Options::Gathered& gathered, Team& team,
                               std::vector<char>& blocks) {
  const Rank ranks = team.size();
  GatheredRecords records;
  const bool with_blocks = !simulated && ranks <= std::min(gathered.ranks, gathered.with_blocks);
  if (!with_blocks) blocks.clear();
  if (ranks > gathered.ranks) {
    const auto number = static_cast<std::uint64_t>(mine.team);
    const std::uint64_t version = hash_of(mine.version.text());
    std::uint64_t least[] = {mine.number, mine.recalled, mine.many, mine.sessions, number,
                             ~number,     !mine.job,     version,   ~version,      !mine.threaded};
    records.device = mine.device;
    records.error = compare_everywhere(mine.options, team, records.agreed, records.device, least);
    if (records.error) return records;
    records.number = least[0];
    records.recalled = least[1];
    records.many = least[2] == 1;
    records.sessions = least[3] != 0;
    records.team_everywhere = least[4] == ~least[5] ? static_cast<std::int32_t>(least[4]) : -1;
    records.job = least[6] == 0;
    records.same_version = least[7] == ~least[8];
    records.threaded = least[9] == 0;
    return records;
  }
  std::vector<RankRecord> all(static_cast<std::size_t>(ranks));
  const int error = with_blocks ? exchange(mine, all, blocks, team) : allgather(mine, all, team);
  if (error) return records.error = error, records;
  return read_records(mine, all);
}

int begin_gathering_records(const RankRecord& mine, std::vector<RankRecord>& all, MPI_Comm comm, MPI_Request& request) {
  int ranks = 0;
  PMPI_Comm_size(comm, &ranks);
  all.resize(static_cast<std::size_t>(ranks));
  const ErrorsReturn quiet(comm);
  return again(PMPI_Iallgather, &mine, static_cast<int>(sizeof mine), MPI_BYTE, all.data(),
               static_cast<int>(sizeof mine), MPI_BYTE, comm, &request);
}

GatheredRecords read_records(const RankRecord& mine, const std::vector<RankRecord>& all) {
  GatheredRecords records;
  find_strangers(all, records);
  records.number = all.front().number;
  if (!records.strangers.empty()) return records;
  const auto proposes = [&](std::uint64_t state) {
    return [=](const RankRecord& rank) { return rank.state == state; };
  };
  if (!std::ranges::all_of(all, proposes(RankRecord::no_state))) {
    const bool same = std::ranges::all_of(all, proposes(mine.state));
    records.states = same ? GatheredRecords::States::same : GatheredRecords::States::different;
    return records;
  }
  records.agreed = std::ranges::all_of(all, [&](const RankRecord& rank) { return rank.options == mine.options; });
  records.recalled = all.front().recalled;
  records.many = all.front().many == 1;
  records.hosts.reserve(all.size());
  records.node_records.reserve(all.size());
  records.teams.reserve(all.size());
  for (const RankRecord& rank : all) {
    records.device = std::max(records.device, rank.device);
    records.locked |= rank.locked != 0;
    records.threaded |= rank.threaded != 0;
    records.starts_on_host |= rank.starts_on_host != 0;
    records.observed |= rank.observed != 0;
    records.sessions &= rank.sessions != 0;
    records.job |= rank.job != 0;
    records.hosts.push_back(rank.host);
    records.node_records.push_back(rank.node_record);
    records.teams.push_back(rank.team);
  }
  const std::map<std::uint64_t, std::int64_t> ranks_on = count_ranks(all);
  records.ranks_here = ranks_on.at(mine.kernel);
  for (const RankRecord& rank : all)
    records.ranks_per_core =
        std::max(records.ranks_per_core, static_cast<double>(ranks_on.at(rank.kernel)) / std::max(rank.cores, 1U));
  return records;
}

std::vector<std::int32_t> nodes_of_hosts(std::span<const std::uint64_t> hosts) {
  const bool one_host = std::ranges::adjacent_find(hosts, std::ranges::not_equal_to{}) == hosts.end();
  if (one_host) return std::vector<std::int32_t>(hosts.size(), 0);  // the usual case for short-lived communicators
  std::unordered_map<std::uint64_t, std::int32_t> first;
  std::vector<std::int32_t> nodes;
  for (const std::uint64_t host : hosts)
    nodes.push_back(first.try_emplace(host, static_cast<std::int32_t>(nodes.size())).first->second);
  return nodes;
}

}  // namespace swapmeet
