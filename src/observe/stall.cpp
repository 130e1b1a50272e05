#include "observe/stall.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "mpi/neighbourhood.hpp"
#include "mpi/world_ranks.hpp"
#include "observe/json.hpp"
#include "schedule/names.hpp"

namespace swapmeet {

namespace {

constexpr std::size_t most_listed = 8;  ///< messages, and ranks in the same call

/// For each Doing its name in files, and words for the end of "it is ...".
constexpr struct {
  std::string_view name, words;
} doing_texts[] = {
    {"nothing", "between calls"},
    {"setting up", "setting up the communicator, for which it waits for all its ranks"},
    {"sharing memory", "setting up shared memory, for which it waits for all ranks"},
    {"agreeing", "agreeing with all ranks on how to serve the call"},
    {"sizes", "agreeing with all ranks on sizes"},
    {"exchanging", "exchanging"},
    {"host", "in the host MPI, which serves the call"},
    {"planning", "planning an exchange, for which it waits for all ranks"},
    {"checking", "comparing its arguments with those of all ranks"},
};

std::string words(Doing doing) { return std::string(doing_texts[static_cast<std::size_t>(doing)].words); }

bool is_world(const WatchedCommunicator& comm) {
  for (std::size_t rank = 0; rank < comm.world_ranks.size(); ++rank)
    if (comm.world_ranks[rank] != static_cast<int>(rank)) return false;
  return true;
}

std::string rank_text(const WatchedCommunicator& comm, std::int64_t rank) {
  const std::string text = "rank " + number(rank);
  const auto index = static_cast<std::size_t>(rank);
  if (comm.inter && index < comm.world_ranks.size())
    return "rank " + number(comm.world_ranks[index]) + " of MPI_COMM_WORLD";
  if (is_world(comm) || index >= comm.world_ranks.size() || comm.world_ranks[index] < 0) return text;
  return text + " (of MPI_COMM_WORLD " + number(comm.world_ranks[index]) + ')';
}

std::string name_text(const WatchedCommunicator& comm) {
  return (comm.name.empty() ? "a communicator without a name" : comm.name) + " (" + number(comm.ranks) + " ranks)";
}

/// Returns a text such as ", step 3; waits to receive 8 B from rank 2, to send 8 B to rank 1".
std::string messages_text(const CallStateCopy& state, const WatchedCommunicator& comm) {
  std::string text;
  if (state.step != CallState::no_step) text += ", step " + number(state.step);
  std::size_t listed = 0, more = static_cast<std::size_t>(state.more_messages);
  for (const Direction direction : {Direction::receive, Direction::send})
    for (const CallEvent& message : state.messages) {
      if (message.direction != direction) continue;
      if (listed == most_listed) {
        ++more;
        continue;
      }
      const bool sends = direction == Direction::send;
      text += listed++ == 0 ? "; waits " : ", ";
      text += (sends ? "to send " : "to receive ") + (message.bytes > 0 ? number(message.bytes) + " B " : "") +
              (sends ? "to " : "from ") + rank_text(comm, message.peer);
    }
  if (more > 0)
    text += (listed > 0 ? " and " : "; waits for ") + number(more) + (listed > 0 ? " more message" : " message") +
            (more > 1 ? "s" : "");
  return text;
}

std::string doing_text(const CallStateCopy& state, const WatchedCommunicator& comm) {
  return words(state.does()) + (state.does() == Doing::exchanging ? messages_text(state, comm) : "");
}

bool without_number(const CallState& one, const CallState& other) {
  return one.number == CallState::no_number || other.number == CallState::no_number;
}

/// Whether a call state of another process is of the communicator in which the rank waits. One without a number may
/// belong to any communicator with these members, unless it has another name, or its process has another one with that
/// number.
bool same_communicator(const Stall& stall, const OtherRank& other, const CallStateCopy& theirs) {
  const CallStateCopy& mine = stall.state;
  if (theirs.communicator == 0 || theirs.members != mine.members || theirs.background != mine.background) return false;
  if (without_number(theirs, mine) && theirs.name != mine.name && theirs.name != 0 && mine.name != 0) return false;
  if (theirs.number == mine.number) return true;
  if (mine.number == CallState::no_number)
    return std::ranges::count(stall.known, theirs.number, &NamedNumber::number) == 0;
  return theirs.number == CallState::no_number &&
         std::ranges::count(other.states, mine.number, &CallState::number) == 0;
}

/// Returns the activity of a process on other communicators.
std::string elsewhere_text(const OtherRank& other, const CallStateCopy* here, const Stall& stall) {
  for (const CallStateCopy& state : other.states)
    if (&state != here && state.communicator != 0 && state.does() != Doing::nothing) {
      const auto known = std::ranges::find(stall.known, state.number, &NamedNumber::number);
      const bool named = known != stall.known.end() && !known->name.empty();
      return "it is in call " + number(state.call()) + " on " + (named ? known->name : "another communicator") + ", " +
             (state.does() == Doing::exchanging ? "exchanging" : words(state.does()));
    }
  return other.finalizes ? "it has called MPI_Finalize" : "it is in no all-to-all";
}

std::string state_text(const OtherRank& other) {
  switch (other.process_state) {
    case 'T':
    case 't': return "stopped (state T)";
    case 'Z': return "dead (a zombie)";
    case 'X': return "gone";
    case 'D': return "in the kernel (state D)";
    default: return "";
  }
}

std::string text_of(const OtherRank& other, const Stall& stall) {
  std::string text = rank_text(stall.communicator, other.rank) + " (process " + number(other.process) + "): ";
  const std::string state = state_text(other);
  if (other.process_state == 'X' || other.process_state == 'Z') return text + state;
  if (!state.empty()) text += state + "; ";
  if (!other.read) return text + "what it does cannot be read";
  const std::int64_t call = stall.state.call();
  const auto here = std::ranges::find_if(
      other.states, [&](const CallStateCopy& one) { return same_communicator(stall, other, one); });
  if (here == other.states.end())
    return text + "has not come to this communicator; " + elsewhere_text(other, nullptr, stall);
  if (here->does() == Doing::nothing) {
    const bool over = here->left >= call;
    return text + (over ? "has ended this call" : "has not come: it has ended " + number(here->left) + " calls here") +
           "; " + elsewhere_text(other, &*here, stall);
  }
  const std::int64_t there = here->call();
  const bool sure = !without_number(*here, stall.state) || (here->name == stall.state.name && here->name != 0);
  text += there == call  ? sure ? "in this call" : "in this call, or on another communicator of these ranks"
          : there > call ? "has ended this call, and is in call " + number(there)
                         : "in an earlier call, " + number(there);
  return text + ": " + doing_text(*here, stall.communicator);
}

/// Whether a rank is in the same call. Such ranks are listed last.
bool is_here(const OtherRank& other, const Stall& stall) {
  return std::ranges::any_of(other.states, [&](const CallStateCopy& one) {
    return same_communicator(stall, other, one) && one.does() != Doing::nothing && one.call() == stall.state.call();
  });
}

/// Returns the name of the MPI function; "" if it is not known yet.
std::string collective_of(const Stall& stall) {
  const auto collective = static_cast<Collective>(stall.state.collective);
  if (!stall.state.in_call() && stall.state.does() != Doing::checking) return "";
  return "MPI_" + (stall.communicator.background ? name_of_start(collective) : std::string(name_of(collective)));
}

Json message_json(const CallEvent& message) {
  const bool sends = message.direction == Direction::send;
  JsonMembers json;
  json.add("direction", sends ? "send" : "receive").add("peer", message.peer).add("bytes", message.bytes);
  return json.add("step", static_cast<std::int32_t>(message.step)).object();
}

}  // namespace

std::string text_of(const Stall& stall) {
  const CallStateCopy& state = stall.state;
  const std::string collective = collective_of(stall);
  std::string text = "rank " + number(stall.world_rank) + " has waited for " + fixed_text(stall.seconds, 1) + " s" +
                     (stall.communicator.background ? " in non-blocking call " : " in call ") + number(state.call()) +
                     " on " + name_text(stall.communicator);
  if (!stall.communicator.inter && !is_world(stall.communicator))
    text += ", where it is rank " + number(stall.communicator.rank);
  if (!collective.empty()) text += ": " + collective;
  if (state.bytes > 0) text += ", sends " + number(state.bytes) + " B";
  if (!stall.algorithm.empty()) text += ", by " + stall.algorithm;
  text += "; it is " + doing_text(state, stall.communicator);
  std::size_t here = 0;
  for (const bool late : {true, false})
    for (const OtherRank& other : stall.others) {
      if (is_here(other, stall) == late) continue;
      if (!late && ++here > most_listed) continue;
      text += "\n  " + text_of(other, stall);
    }
  if (here > most_listed) text += "\n  " + number(here - most_listed) + " more are in this call";
  return text;
}

WatchedCommunicator watched_communicator(MPI_Comm comm, bool background) {
  WatchedCommunicator watched;
  watched.background = background;
  int inter = 0, length = 0;
  PMPI_Comm_test_inter(comm, &inter);
  PMPI_Comm_rank(comm, &watched.rank);
  watched.inter = inter != 0;
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  if (PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS) watched.name = printable(name, '?');
  watched.world_ranks = inter ? world_ranks_of_both_groups(comm) : world_ranks_of(comm);
  watched.ranks = static_cast<Rank>(watched.world_ranks.size());
  const std::optional<Neighbourhood> found = inter ? std::nullopt : neighbourhood_of(comm, watched.ranks, watched.rank);
  if (found)
    for (const auto* const list : {&found->to, &found->from})
      std::ranges::copy_if(*list, std::back_inserter(watched.neighbours), [](Rank rank) { return rank >= 0; });
  return watched;
}

JsonMembers json_of(const WatchedCommunicator& comm) {
  JsonMembers json;
  json.add("background", comm.background).add("name", comm.name).add("members", json_list(comm.world_ranks));
  json.add("neighbours", json_list(comm.neighbours)).add("own_rank", comm.rank).add("ranks", comm.ranks);
  return json;
}

JsonMembers json_of(const Stall& stall) {
  const CallStateCopy& state = stall.state;
  const std::string collective = collective_of(stall);
  JsonMembers json;
  json.add("seconds", Json{fixed_text(stall.seconds, 1)}).add(json_of(stall.communicator)).add("call", state.call());
  json.add("collective", Json{collective.empty() ? "null" : json_text(collective)}).add("bytes", state.bytes);
  json.add("algorithm", stall.algorithm).add("doing", doing_texts[static_cast<std::size_t>(state.doing)].name);
  json.add("step", state.step).add("messages", json_list(state.messages, ", ", message_json));
  return json.add("more_messages", state.more_messages).add("says", words(state.does()));
}

}  // namespace swapmeet
