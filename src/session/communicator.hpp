/// What the library keeps for one communicator of the application, as an attribute of it: the team of its ranks, the plans made so
/// far, staging memory and counters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/generate.hpp"
#include "buffers/host_copy.hpp"
#include "node/neighbours.hpp"
#include "observe/observer.hpp"
#include "session/topology_orders.hpp"
#include "session/context.hpp"
#include "session/census.hpp"
#include "session/checking.hpp"
#include "session/sparse.hpp"
#include "choose/setup_policy.hpp"
#include "exchange/plan.hpp"
#include "session/planned.hpp"
#include "session/started.hpp"
#include "observe/record.hpp"
#include "buffers/staging.hpp"
#include "observe/statistics.hpp"
#include "session/online_tuning.hpp"
#include "exchange/sized_plan.hpp"
#include "model/machine.hpp"
#include "options/options.hpp"
#include "choose/limits.hpp"
#include "choose/neighbours.hpp"
#include "choose/select.hpp"
#include "team/team.hpp"
#include "topology/neighbourhood.hpp"

namespace swapmeet {

/// What tries algorithms for blocks of a class of sizes: one for memory that the ranks of the node copy directly, one for other.
struct Tunings {
  std::unique_ptr<OnlineTuning> ordinary, direct;
  bool now_direct = false;  ///< where what is sent lay on all ranks, when they last asked one another

  std::unique_ptr<OnlineTuning>& now() { return now_direct ? direct : ordinary; }
};

/// What to do with one kind of call.
struct Decision {
  Exchange* exchange = nullptr;  ///< nullptr: the host MPI
  Plan* plan = nullptr;          ///< the same, if both ends know the sizes of blocks
  SizedPlan* sized = nullptr;    ///< the same, if they do not
  std::string reason;
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< of the blocks that it is for
  std::int64_t unchecked_bytes = INT64_MAX;  ///< blocks of more bytes may be too many for the limits on memory
  const Spec& spec() const;                  ///< that is executed; native if none is
  bool explained = false;                    ///< or nobody asked
  /// Where such calls are counted, if anybody asks.
  Tally& tally() const {
    if (!tally_) tally_ = &statistics().tally(collective, ranks, to_text(spec()), reason);
    return *tally_;
  }
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  mutable Tally* tally_ = nullptr;
  /// of other algorithms, for each class of sizes (block_class()); none: they are not tried
  std::vector<Tunings> trying;
  bool compared = true;  ///< whether others are tried; else it is only measured what calls take
};

/// The last MPI_Alltoall. One that is like it, but for its addresses, gets the same decision.
struct Repeat {
  enum class By : std::uint8_t { nobody, plan, host };
  By by = By::nobody;  ///< what served it; nobody: there is none
  Plan* plan = nullptr;
  std::int64_t send_count = 0, receive_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL, receive_type = MPI_DATATYPE_NULL;  ///< predefined
  Rows rows{};
  OnlineTuning* trying = nullptr;  ///< what counts such calls

  /// Counts one more. False: a new decision is due.
  bool again() { return !trying || !trying->due(); }

  bool is(std::int64_t sends, MPI_Datatype sent, std::int64_t receives, MPI_Datatype received) const {
    return send_count == sends && receive_count == receives && send_type == sent && receive_type == received;
  }
};

/// Calls of one kind that go to the host MPI whatever their arguments are, and of which nobody wants to know.
struct Forwarded {
  bool all = false;
  OnlineTuning* trying = nullptr;  ///< what counts them

  bool again() { return all && (!trying || !trying->due()); }
};

/// Why a call is left to the host MPI.
inline constexpr const char* too_many_requests =
    "a rank has more messages in flight than SWAPMEET_REQUEST_LIMIT allows";
inline constexpr const char* first_call = "a first call on the communicator: another one is awaited before setting up";
inline constexpr const char* no_messages =
    "the ranks cannot send one another messages: the library was loaded after MPI_Init, or has no tags left";

/// Communicators that are to be prepared for non-blocking exchanges when their ranks meet.
inline std::atomic<int> waiting_to_meet{0};

struct Census;

/// An MPI_Alltoall that meets a communicator for the first time, perhaps: counts in elements.
struct FirstCall {
  const void* send;  ///< or MPI_IN_PLACE
  std::int64_t send_count;
  MPI_Datatype send_type;
  const void* receive;
  std::int64_t receive_count;
  MPI_Datatype receive_type;
};

class Communicator {
 public:
  /// Agrees on the options; serves no intercommunicator. Collective over `user`, or `later`, by finish_setting_up().
  /// `first`: the call for which the ranks meet now, if it is such a one; small blocks of it are carried along.
  Communicator(MPI_Comm user, const Options& options, Meeting meeting = Meeting::now, const FirstCall* first = nullptr);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Rank ranks() const { return shape_.ranks; }
  bool gathers() const { return shape_.ranks <= gathered().ranks; }  ///< what each rank tells when they meet

  /// That no other communicator has, in which all its ranks agree.
  std::uint64_t number() const { return number_; }
  Rank rank() const { return rank_; }
  MPI_Comm user() const { return user_; }
  const Peers& peers() const { return peers_; }
  /// Whether its ranks can send one another messages, known once they have met; the same on all ranks.
  bool has_messages() const { return team_ && team_->has_messages(); }

  /// To pack and unpack on: its errors return. Local.
  MPI_Comm packing() const { return peers_.alone; }

  /// This rank's, of the communicator's virtual topology; nullptr: it has none, on all ranks. Local.
  const Neighbourhood* neighbourhood() { return shared_neighbourhood().get(); }
  const std::shared_ptr<const Neighbourhood>& shared_neighbourhood();

  /// One more exchange, on all ranks.
  Invocation next_exchange() { return {&peers_, ++exchanges_, MPI_SUCCESS, true, clock()}; }
  const Options& options() const { return options_; }
  Datatypes& datatypes() { return datatypes_; }
  /// The types of an MPI_Alltoallw's blocks, as BlockTypes::look_up() gives them.
  std::span<const Datatype> send_types(const MPI_Datatype* handles, Rank blocks) {
    return send_types_.look_up(datatypes_, handles, static_cast<std::size_t>(blocks));
  }
  std::span<const Datatype> receive_types(const MPI_Datatype* handles, Rank blocks) {
    return receive_types_.look_up(datatypes_, handles, static_cast<std::size_t>(blocks));
  }
  Repeat& repeat() { return repeat_; }
  /// No call is like one before.
  void decide_anew();
  Forwarded& forwarded(Collective collective) { return forwarded_[static_cast<std::size_t>(collective)]; }
  Staging& send_staging() { return send_staging_; }
  Staging& receive_staging() { return receive_staging_; }
  HostCopy& send_host_copy() { return send_host_copy_; }
  HostCopy& receive_host_copy() { return receive_host_copy_; }

  /// Has calls recorded from now on. Collective if all ranks have the same options.
  void record(Recorder& recorder);
  RecordedCommunicator* recorded() const { return recorded_; }  ///< nullptr: they are not

  /// Measures the phases of calls from now on; and stops: nothing if they were not measured. Local.
  void begin_phases();
  std::optional<PhaseTimes> end_phases();

  /// Traces the next call, or the one that begins, into `file` (of rank 0). Collective. Returns MPI_SUCCESS, or why
  /// not.
  int trace(const char* file);

  /// nullptr: nobody wants to know of calls, and the following is not to be called.
  bool observed() const { return observer_ != nullptr; }
  PhaseClock* clock() const { return observer_ ? &observer_->clock() : nullptr; }

  /// Whether the arguments of a call suit those of the other ranks; if not, the mistake is told. Collective.
  bool suits(const Passing& mine);

  /// Around each call. Collective where one is traced. The latter returns the time of the call.
  void call_begins(Collective collective);
  void call_decided(const Decision& decision, std::uint64_t bytes_sent);
  void call_goes_to_host();
  PhaseTimes call_ends(const Decision& decision, std::uint64_t bytes_sent);

  /// As long as what it returns lives, this rank does that, for the watchdog.
  [[nodiscard]] DoingNow doing(Doing what) const { return {observer_ && !Coroutine::here() ? post() : nullptr, what}; }

  /// Its non-blocking exchanges; nullptr: they are the host MPI's, so on all ranks. Made on the first call, which comes in the order
  /// of collectives, but waits for nobody. Where the host MPI's progress is locked, such calls are prepared for when all ranks meet
  /// next.
  StartedQueue* started(Collective collective, std::int64_t block_bytes);

  /// Starts an MPI_Ialltoall of no data by the host MPI, on the application's communicator: where it takes less than a request of ours,
  /// as MPICH does, which completes it at once. Returns as MPI does.
  int start_nothing(Collective collective, MPI_Request* request);

  /// Such calls are to be prepared for.
  void want(Collective collective, std::int64_t block_bytes);
  /// Does so, if there are any. Collective; may wait.
  void prepare_wanted() {
    if (!wanted_.empty()) [[unlikely]]
      prepare_for_started();
  }
  /// Waits for them, and for what the ranks tell one another for them, during which the application's communicator cannot end.
  void finish_started() {
    if (started_) started_->finish();
    if (arrival_ != MPI_REQUEST_NULL) [[unlikely]]
      finish_suspended(arrival_);
  }
  /// Whether the blocking call that comes is left to the host MPI, for it is one of the first: a communicator that is made for few
  /// exchanges is not worth setting up. Counts it. The same on all ranks. Local.
  bool leaves_call() { return calls_left_ > 0 && calls_left_-- > 0; }
  /// Before anything else is exchanged or agreed on here. Collective.
  void be_ready() {
    finish_started();
    if (!ready()) [[unlikely]]
      finish_setting_up();
    prepare_wanted();
  }
  /// Whether all that ranks must know of one another at first is known, or is of no use.
  bool met() const { return met_ || !refusal_.empty(); }
  /// Whether blocks of the call that comes have arrived while the ranks met, one of each rank; then they are to be taken.
  bool carried() const { return !carried_.empty(); }
  std::vector<char> take_carried() { return std::exchange(carried_, {}); }
  /// Whether nothing was left for later.
  bool ready() const { return met(); }
  /// Whether duplicates of its communicator can exchange by it as well (duplicates.hpp). The same on all ranks. Local.
  bool can_be_shared();
  bool shared() const { return shared_; }
  void share() { shared_ = true; }
  /// Blocking calls come on `comm`, which has the same ranks: what is agreed on is agreed there.
  void called_on(MPI_Comm comm) {
    user_ = peers_.comm = comm;
    if (team_) team_->called(comm);
  }
  /// Whether what is advanced in the progress of the host MPI must do without it: progress_is_locked() on some rank.
  bool locked() const { return locked_; }
  /// Whether persistent exchanges are the host MPI's, for a rank asks for that; and non-blocking ones, also because a rank leaves all
  /// calls to it. The same on all ranks.
  bool plans_on_host() const { return starts_on_host_; }
  bool starts_on_host() const {
    const bool native = options_.algorithm && options_.algorithm->family == Family::native;
    return starts_on_host_ || (was_set_ ? native : context().job.facts().native);
  }
  /// Agrees on what was left for `later`. Collective.
  void finish_setting_up();
  /// Many calls will come: somebody said so.
  void expect_calls() { setup_policy_.end(); }
  /// Something on it has ended with `error`. If a rank has died, or the application has revoked it, no rank is to wait for
  /// another here any more. Returns the error for the application. Local.
  int failed(int error);
  /// The application revokes it. Local.
  void revoke();
  /// nullptr: this rank has joined no others of its node.
  Neighbours* neighbours() const { return neighbours_.get(); }

  /// What decide() would return, if that is known; nullptr: it takes a collective call. Local.
  Decision* decided(Collective collective, std::int64_t block_bytes) const {
    for (const auto& decision : decisions_[static_cast<std::size_t>(collective)])
      if (decision->least_bytes <= block_bytes && block_bytes <= decision->most_bytes) return decision.get();
    return nullptr;
  }

  /// The decision for blocks of so many bytes (0 for unequal ones, whose sizes are not shared); the same on every rank.
  /// Cached: a plan is made when a range of sizes is first met, which is collective; else local.
  Decision& decide(Collective collective, std::int64_t block_bytes) {
    Decision* const known = decided(collective, block_bytes);
    return known ? *known : make_decision(collective, block_bytes);
  }

  /// `decision`, unless equal blocks of so many bytes are too large for it.
  Decision& within_limits(Decision& decision, Collective collective, bool in_place, std::int64_t block_bytes);

  /// What tries other algorithms than that of `decision`, if others are to be tried, for blocks of so many bytes (0:
  /// unequal ones); nullptr: nothing does.
  OnlineTuning* trying(Collective collective, Decision& decision, std::int64_t block_bytes);

  /// Has trials priced by what is measured of the network, if there is one. Collective.
  void describe_network();
  /// What may be tried for blocks of so many bytes on average, the host MPI and `usual` among it. Local.
  std::vector<Expectation> candidates_beside(const CallKind& kind, std::int64_t block_bytes, const Spec& usual) const;
  /// Finds out what exchanges with its neighbours make ranks do, once. Collective on the first call.
  void count_neighbour_work();
  /// Blocks for neighbours that all ranks together send; 0: not counted.
  double neighbour_blocks() const { return neighbour_work_ ? neighbour_work_->blocks : 0; }
  /// Of trials of exchanges that are started, called `name`, whose ranks agree on `comm`.
  StartedTuning::Ranks those_that_try(const Peers& peers, const std::string& name) const {
    return {peers, shape_.ranks, options_.trials_share, options_.explain && rank_ == 0 ? name : ""};
  }
  /// The decision for a call that is tried by `spec`. Collective.
  Decision& on_trial(Collective collective, const Spec& spec);

  /// The decision for a non-blocking call that is for the host MPI, which can start it in the order of the application's calls only:
  /// by messages, all at once. Made on the first call, which is collective. Without an exchange where a rank has no memory.
  Decision& by_messages(Collective collective);
  /// nullptr: it has not been made. Local.
  Decision* known_by_messages(Collective collective) const {
    return by_messages_[static_cast<std::size_t>(collective)];
  }

  /// What all ranks know alike; and adds what they have measured. Local.
  const Knowledge& knowledge() const { return knowledge_; }
  void note(Evidence measured);
  CallKind kind_of_calls(Collective collective, std::int64_t block_bytes) const;
  /// How many there are, as far as anybody has asked.
  std::int64_t nodes() const { return nodes_; }
  /// Whether a prepared exchange by `spec` may send messages of the host MPI: of padded blocks, those that do not fit, within
  /// nodes, too.
  bool sends_messages(Collective collective, const Spec& spec) const {
    const bool padded = of_unequal_blocks(collective) && spec.sizes == Sizes::padded;
    return spec.intra == Transport::mpi || nodes() > 1 || padded;
  }

  /// The decision to leave a call to the host MPI for a reason that only the call shows.
  Decision& decline(Collective collective, const std::string& reason);

  /// Whether all its ranks have set an algorithm: known before they have met.
  bool has_algorithm_everywhere() const {
    return was_set_ ? options_.algorithm.has_value() : context().job.facts().algorithm;
  }
  /// Replaces the algorithm that was asked for; nothing: the one of the options. `valid`: whether this rank could read
  /// what it was given. Collective. False, on all ranks: one could not, or they differ.
  bool set_algorithm(const std::optional<Options>& options, bool valid);

  /// Plans an exchange by `options` (nothing: those of the communicator). `problem`: why `request` is nothing on this
  /// rank, or "". Collective; may wait. nullptr on all ranks if one has a problem (between groups: on those that have
  /// one); then `error` and `problem` say which.
  std::unique_ptr<Planned> plan(std::optional<Request> request, const std::optional<Options>& options,
                                std::string& problem, int& error);

  /// The same for a persistent request, by the options of the communicator. Collective. nullptr on all ranks: the host MPI
  /// is to do it.
  std::unique_ptr<Planned> plan_persistent(std::optional<Request> request);

  /// Sends the messages of `request`, and receives those for this rank, in no order of their sources. Collective; waits.
  /// Messages that are received are there even if others were lost, which is an error.
  int sparse_alltoallv(const SparseRequest& request, Arrivals& arrivals);

  /// Allocates `bytes` bytes for this rank in memory that the ranks of its node share, or that it has alone where it
  /// cannot be shared; kept in context().regions. Collective. Returns MPI_SUCCESS, MPI_ERR_COMM or MPI_ERR_NO_MEM.
  int allocate(std::int64_t bytes, char*& memory);

  /// Everything goes to the host MPI from now on. Collective where something is under way.
  void close();

 private:
  /// The same on all ranks.
  const Options::Gathered& gathered() const { return simulated ? options_.gathered : context().job.facts().gathered; }
  void leave_devices_alone(std::string_view driver);
  Decision& make_decision(Collective collective, std::int64_t block_bytes);
  /// Has `decision` execute `spec`. Collective. "", or why it cannot.
  std::string execute_by(const Spec& spec, Collective collective, Decision& decision);
  /// The plan of `spec`, made if it is new. Collective then. nullptr on all ranks: one has no memory for it, or it cannot
  /// be executed.
  Plan* plan_for(const Spec& spec);
  /// What to do with exchanges with neighbours. Collective on the first call.
  Choice choose_for_neighbours();
  std::unique_ptr<Plan> make_plan_for_neighbours(const Spec& spec, Neighbours* within_node) const;
  /// nullptr: this rank does not know the neighbours of its node.
  std::unique_ptr<SizedPlan> make_sized_plan_for_neighbours(const Spec& spec, Neighbours* within_node) const;
  /// Has the ranks of each node tell one another of their neighbours, once. Collective on the first call. "", or on all
  /// ranks why nothing can be passed on among neighbours.
  std::string meet_neighbours();
  /// Whether no rank has more messages of such a plan in flight than the options allow.
  bool few_requests(const Plan& plan) const;
  /// Has `decision` execute an exchange with neighbours. Collective. The latter by `spec`, as execute_by().
  void decide_for_neighbours(Decision& decision);
  std::string execute_for_neighbours(const Spec& spec, Decision& decision);
  SizedPlan* sized_plan_for(const Spec& spec);

  /// Makes them. Local.
  std::unique_ptr<Plan> make_plan(const Spec& spec, Neighbours* neighbours) const;
  /// `waits`: its exchanges wait.
  std::unique_ptr<SizedPlan> make_sized_plan(const Spec& spec, Neighbours* neighbours, bool waits = true) const;

  int prepare_sparse();

  /// Has the order of the topology made that `spec` asks for, if it asks for one. Collective then. "", or why it cannot
  /// be had.
  std::string make_order_of(const Spec& spec);
  /// Warns of `problem`, and takes what asks for the order of `spec` out of `options`: the automatic choice, then.
  void give_up_order(const Spec& spec, const std::string& problem, Options& options);
  std::shared_ptr<const Schedule> schedule_of(const Spec& spec) const {
    return context().schedules.generate(spec, orders_.shape_for(spec, shape_), rank_);
  }

  /// What all ranks must know of one another before anything else. Collective; or begun, which is local and returns as MPI does, and
  /// ended once that has come.
  void meet(const FirstCall* first = nullptr);
  int begin_to_meet();
  void end_meeting();
  CensusRecord introduce();
  void learn(Census census);
  /// Numbers the team anew where its ranks make the communicator of the job in this call.
  void make_job(const Census& census);
  void refuse_strangers(const Census& census);
  std::vector<char> to_carry(const FirstCall& first);
  bool may_leave_calls() const;
  bool met_ = false;
  int calls_left_ = 0;  ///< to the host MPI, from now on; none once the ranks have begun to meet
  bool locked_ = false, threaded_ = false, starts_on_host_ = false, shared_ = false;
  bool some_observed_ = false;  ///< on some rank
  void withdraw();
  /// Has all ranks use what the first one recalls. Collective.
  void use_memory();
  void remember();
  void remember_calls(Collective collective);

  /// Finds out which ranks share a node. Collective where the records of the ranks are not gathered. "", or why it cannot.
  std::string find_nodes();
  Choice choose(Collective collective, std::int64_t block_bytes, const Means& means) const;
  bool awaits_calls(Collective collective) const;
  EarlierCalls in_earlier_runs(Collective collective, std::int64_t block_bytes) const;
  void learn_from_first_calls(Collective collective);
  Decision& postponed(Collective collective);

  /// Shared memory of `bytes` bytes for each rank, as it says. Collective. nullptr on all ranks: there is none.
  char* allocate_shared(std::int64_t bytes);

  /// Joins the ranks of a node, once. A plan of `likely`, which probably comes next, is made on this occasion.
  /// Collective. And leaves them.
  void join(const Spec& likely);
  void leave();

  /// Joins the ranks of each node. `share_bytes` becomes what counts for this rank. Collective.
  Neighbours::Joined join_over(std::int64_t& share_bytes, const Neighbours::Prepare& prepare);

  bool agree_to_plan(const std::optional<Request>& request, PlanTeam& team);

  /// Makes a plan that executes `choice`. `for_request`: of a persistent request, which is the host MPI's where this would be; its
  /// starts may be trials. `team`: of the plan. Collective. nullptr on all ranks: there is a problem.
  std::unique_ptr<Planned> make_planned(Request request, Choice choice, bool for_request,
                                        std::unique_ptr<PlanTeam> team, std::span<char> buffer, std::string& problem,
                                        int& error);
  /// Has the starts of a plan try single_step(), where it may be faster. Collective.
  void try_single_step(Executor& executor, const Request& request);

  /// What a plan of `request` is to take, by such options. Collective.
  Choice choice_for(const Request& request, const Options& wanted);

  /// What executes the exchanges of a plan among `peers`, those of the plan. Collective.
  Executor executor_for(Choice choice, const Request& request, const Peers& peers, std::uint16_t& exchanges);

  /// Seconds that an exchange of blocks of so many bytes takes; measures messages on the first call, with `buffer`. Collective.
  double expected_seconds(const Spec& spec, double block_bytes, std::span<char> buffer);

  /// Whether calls may be tried by `spec`, whatever the sizes of their blocks.
  bool may_try(const Spec& spec, Collective collective) const;
  Decision& keep(Collective collective, std::unique_ptr<Decision> decision);

  Observer& observe();
  Post* post() const { return observer_ ? observer_->post() : nullptr; }
  void be_watched();
  void meets_processes();
  /// Forgets the observer, if nobody wants to know any more.
  void ignore();
  void trace_nothing();
  /// Counts a start. Local.
  bool awaits_no_more_starts();
  void prepare_for_started();
  void trace_as_told();
  void write_trace(const Tally& call, std::int64_t bytes_sent);

  Options options_;
  MPI_Comm user_;
  std::uint64_t number_ = UINT64_MAX;
  Shape shape_;
  Rank rank_ = 0;
  std::int64_t checked_ = 0;    ///< calls
  bool ended_ = false;          ///< a rank has died
  std::unique_ptr<Team> team_;  ///< nullptr: its ranks are in several jobs, or there is one only
  Peers peers_;
  std::vector<std::weak_ptr<Planned* const>> planned_;  ///< where faults are survived: plans that may have to end
  std::uint16_t exchanges_ = 0;                         ///< so far
  SetupPolicy setup_policy_;
  std::vector<char> carried_;
  Recalled recalled_;                 ///< on the first rank: of earlier runs
  std::size_t recalled_bytes_ = 0;    ///< of it, known to all; 0: nothing is to be used any more
  bool recalled_many_ = false;        ///< as Recalled has it, known to all
  std::int64_t nodes_ = INT64_MAX;    ///< nobody knows
  std::vector<std::uint64_t> hosts_;  ///< of each rank, as far as they have told
  std::vector<JoinOffer> offers_;     ///< the same, for those who join next
  std::optional<JoinOffer> offer_;    ///< this rank's
  bool joined_ = false;               ///< or in vain
  Means means_;
  Knowledge knowledge_;
  std::int64_t share_bytes_ = 0;  ///< of shared memory, that count for this rank
  std::unique_ptr<Neighbours> neighbours_;
  Orders orders_;
  bool inter_ = false;
  std::string refusal_;  ///< why nothing is served here; "": it is
  std::string device_;   ///< the same, where all ranks agree that buffers may be memory of a device
  std::vector<std::unique_ptr<Decision>> decisions_[collective_names.size()];
  std::vector<std::unique_ptr<Plan>> plans_, neighbour_plans_;
  std::vector<std::unique_ptr<SizedPlan>> sized_plans_, neighbour_sized_plans_;
  std::unique_ptr<SparsePlan> sparse_;
  std::uint16_t sparse_calls_ = 0;  ///< so far
  std::unique_ptr<StartedQueue> started_;
  CensusRecord mine_;                       ///< what this rank tells the others
  std::vector<CensusRecord> told_;          ///< and they tell it, where that is waited for in a call that is started
  MPI_Request arrival_ = MPI_REQUEST_NULL;  ///< of that
  Decision* by_messages_[collective_names.size()] = {};
  struct Kind {
    Collective collective;
    std::int64_t block_bytes;
    bool operator==(const Kind&) const = default;
  };
  bool cannot_prepare_ = false;
  bool was_set_ = false;      ///< the algorithm, by set_algorithm()
  bool own_options_ = false;  ///< or options_ are those of the process
  static constexpr int first_start_of_ours = 5;
  int starts_ = 0;            ///< of non-blocking exchanges, up to that
  std::vector<Kind> wanted_;  ///< of non-blocking exchanges that the host MPI had to do
  std::shared_ptr<const Neighbourhood> neighbourhood_;
  bool looked_for_neighbours_ = false;
  std::unique_ptr<const Surroundings> surroundings_;
  std::optional<NeighbourWork> neighbour_work_;
  std::optional<std::string> met_neighbours_;  ///< what meet_neighbours() came to; nothing: it was not called
  Repeat repeat_;
  Forwarded forwarded_[collective_names.size()];
  std::unique_ptr<Observer> observer_;
  std::int64_t calls_to_trace_ = 0;  ///< the last of so many from now on is traced, if the options say so; 0: none is
  RecordedCommunicator* recorded_ = nullptr;
  std::optional<Machine> machine_;  ///< as messages were measured
  const Tags tags_;
  Datatypes datatypes_;
  BlockTypes send_types_, receive_types_;
  Staging send_staging_, receive_staging_;
  HostCopy send_host_copy_, receive_host_copy_;
};

}  // namespace swapmeet
