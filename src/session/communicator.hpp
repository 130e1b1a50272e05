/// State of the library for one communicator of the application, attached to it as an attribute: the team of its ranks,
/// the decisions and plans made so far, staging memory and counters.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "algorithms/generate.hpp"
#include "buffers/host_copy.hpp"
#include "node/node_peers.hpp"
#include "observe/observer.hpp"
#include "session/topology_orders.hpp"
#include "session/context.hpp"
#include "session/rank_records.hpp"
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

/// Online tuning for one class of block sizes. Buffers that node peers can read directly are tuned separately.
struct Tunings {
  std::unique_ptr<OnlineTuning> ordinary, direct;
  /// Whether, at the last comparison, node peers could read the send buffers of all ranks directly.
  bool now_direct = false;

  std::unique_ptr<OnlineTuning>& now() { return now_direct ? direct : ordinary; }
};

/// The algorithm chosen for calls of one collective with block sizes in one range.
struct Decision {
  Exchange* exchange = nullptr;  ///< nullptr: calls are left to the host MPI
  Plan* plan = nullptr;          ///< `exchange` as a Plan, if both ends know the block sizes; else nullptr
  SizedPlan* sized = nullptr;    ///< `exchange` as a SizedPlan, if only one end knows them; else nullptr
  std::string reason;
  std::int64_t least_bytes = 0, most_bytes = INT64_MAX;  ///< range of block sizes that the decision holds for
  std::int64_t unchecked_bytes = INT64_MAX;              ///< larger blocks must be checked by within_limits()
  const Spec& spec() const;                              ///< spec of `exchange`; native if there is none
  /// Set once the decision has been explained, or if no explanation is requested.
  bool explained = false;
  /// The statistics of calls that use this decision. To be called only if calls are counted.
  Tally& tally() const {
    if (!tally_) tally_ = &statistics().tally(collective, ranks, to_text(spec()), reason);
    return *tally_;
  }
  Collective collective = Collective::alltoall;
  Rank ranks = 0;
  mutable Tally* tally_ = nullptr;
  /// Online tuning for each class of block sizes (see block_class()). Empty if no other algorithms are tried.
  std::vector<Tunings> trying;
  bool compared = true;  ///< false: no other algorithm is tried, and only the time of the host MPI's calls is measured
};

/// The arguments of the last MPI_Alltoall. A call with equal arguments (addresses may differ) reuses its decision.
struct Repeat {
  enum class By : std::uint8_t { nobody, plan, host };
  By by = By::nobody;  ///< what executed the call; nobody: no call is stored
  Plan* plan = nullptr;
  std::int64_t send_count = 0, receive_count = 0;
  MPI_Datatype send_type = MPI_DATATYPE_NULL, receive_type = MPI_DATATYPE_NULL;  ///< always predefined types
  Rows rows{};
  OnlineTuning* trying = nullptr;  ///< online tuning that counts such calls; nullptr: none

  /// Counts a call. Returns false if the call needs a new decision.
  bool again() { return !trying || !trying->due(); }

  bool is(std::int64_t sends, MPI_Datatype sent, std::int64_t receives, MPI_Datatype received) const {
    return send_count == sends && receive_count == receives && send_type == sent && receive_type == received;
  }
};

/// Set when every call of this collective is left to the host MPI and no statistics are kept: the fast path skips the
/// decision.
struct LeftToHost {
  bool all = false;
  OnlineTuning* trying = nullptr;  ///< online tuning that counts the calls; nullptr: none

  bool again() { return all && (!trying || !trying->due()); }
};

/// Reasons why a call is left to the host MPI.
inline constexpr const char* too_many_requests =
    "a rank has more messages in flight than SWAPMEET_REQUEST_LIMIT allows";
inline constexpr const char* first_call = "a first call on the communicator: another one is awaited before setting up";
inline constexpr const char* no_messages =
    "the ranks cannot send one another messages: the library was loaded after MPI_Init, or has no tags left";

/// Number of communicators whose next blocking call must prepare plans for non-blocking exchanges.
inline std::atomic<int> waiting_for_set_up{0};

struct GatheredRecords;

/// The arguments of an MPI_Alltoall that may be the first call on its communicator. Counts are in elements.
struct FirstCall {
  const void* send;  ///< MPI_IN_PLACE is allowed
  std::int64_t send_count;
  MPI_Datatype send_type;
  const void* receive;
  std::int64_t receive_count;
  MPI_Datatype receive_type;
};

class Communicator {
 public:
  /// Exchanges the ranks' parameters (records) and agrees on the options, if `set_up` asks for it now; otherwise
  /// finish_setting_up() does so later. Collective over `user` if records are exchanged, else local. All calls on an
  /// intercommunicator are left to the host MPI. `first`: the MPI_Alltoall in which the communicator is set up, or
  /// nullptr; its blocks are piggybacked on the records if they are small.
  Communicator(MPI_Comm user, const Options& options, SetUp set_up = SetUp::now, const FirstCall* first = nullptr);
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  Rank ranks() const { return shape_.ranks; }
  /// Whether every rank receives the records of all ranks. On more ranks they are only reduced.
  bool gathers() const { return shape_.ranks <= gathered().ranks; }

  /// The number of this communicator: unique in the job, and the same on all ranks.
  std::uint64_t number() const { return number_; }
  Rank rank() const { return rank_; }
  MPI_Comm user() const { return user_; }
  const Peers& peers() const { return peers_; }
  /// Whether its ranks can send messages to each other. False until the records are exchanged; the same on all ranks.
  bool has_messages() const { return team_ && team_->has_messages(); }

  /// A communicator of this rank alone for MPI_Pack and MPI_Unpack, whose errors are returned. Local.
  MPI_Comm packing() const { return peers_.alone; }

  /// This rank's neighbours in the virtual topology of the communicator; nullptr on all ranks if it has none. Local.
  const Neighbourhood* neighbourhood() { return shared_neighbourhood().get(); }
  const std::shared_ptr<const Neighbourhood>& shared_neighbourhood();

  /// Starts the next exchange. All ranks call it for the same exchanges in the same order.
  Invocation next_exchange() { return {&peers_, ++exchanges_, MPI_SUCCESS, true, clock()}; }
  const Options& options() const { return options_; }
  Datatypes& datatypes() { return datatypes_; }
  /// Datatypes of the blocks of an MPI_Alltoallw, from BlockTypes::look_up().
  std::span<const Datatype> send_types(const MPI_Datatype* handles, Rank blocks) {
    return send_types_.look_up(datatypes_, handles, static_cast<std::size_t>(blocks));
  }
  std::span<const Datatype> receive_types(const MPI_Datatype* handles, Rank blocks) {
    return receive_types_.look_up(datatypes_, handles, static_cast<std::size_t>(blocks));
  }
  Repeat& repeat() { return repeat_; }
  /// Clears the fast paths, so that the next call of each collective makes its decision anew.
  void decide_anew();
  LeftToHost& left_to_host(Collective collective) { return left_to_host_[static_cast<std::size_t>(collective)]; }
  Staging& send_staging() { return send_staging_; }
  Staging& receive_staging() { return receive_staging_; }
  HostCopy& send_host_copy() { return send_host_copy_; }
  HostCopy& receive_host_copy() { return receive_host_copy_; }

  /// Records all calls from now on. Collective if all ranks have the same options.
  void record(Recorder& recorder);
  RecordedCommunicator* recorded() const { return recorded_; }  ///< nullptr: calls are not recorded

  /// Begins and ends the measurement of the phases of calls. end_phases() returns nothing if it was not begun. Local.
  void begin_phases();
  std::optional<PhaseTimes> end_phases();

  /// Traces the next call, or the call that is beginning, into `file` (significant on rank 0). Collective. Returns
  /// MPI_SUCCESS or an error of MPI, the same on all ranks.
  int trace(const char* file);

  /// Whether calls are timed, traced or watched. The functions below, up to call_ends(), require it, except suits().
  bool observed() const { return observer_ != nullptr; }
  PhaseClock* clock() const { return observer_ ? &observer_->clock() : nullptr; }

  /// Checks the arguments of a call against those of the other ranks. Returns false on all ranks if they do not match;
  /// then rank 0 prints the mistake. Collective.
  bool check_arguments(const CheckedCall& mine);

  /// Hooks around each observed call. They are collective for a call that is traced. call_ends() returns the time of
  /// the call by phase.
  void call_begins(Collective collective);
  void call_decided(const Decision& decision, std::uint64_t bytes_sent);
  void call_goes_to_host();
  PhaseTimes call_ends(const Decision& decision, std::uint64_t bytes_sent);

  /// Shows the watchdog that this rank is doing `what`, until the returned object is destroyed.
  [[nodiscard]] DoingNow doing(Doing what) const { return {observer_ && !Coroutine::here() ? post() : nullptr, what}; }

  /// The queue of non-blocking exchanges of this communicator. nullptr, on all ranks: this exchange is left to the host
  /// MPI. The queue is made in one of the first calls. This call comes in the order of collectives, but does not wait
  /// for other ranks. Where the host MPI's progress is locked, the call is only recorded by request_preparation(), and
  /// the next blocking call prepares for it.
  StartedQueue* started(Collective collective, std::int64_t block_bytes);

  /// Starts an MPI_Ialltoall without data by the host MPI, on the application's communicator. This is done with MPICH,
  /// which completes it at once, in less time than a request of ours takes. Returns as MPI does.
  int start_nothing(Collective collective, MPI_Request* request);

  /// Records a kind of non-blocking call, for which prepare_wanted() will make a decision.
  void request_preparation(Collective collective, std::int64_t block_bytes);
  /// Makes the decisions for recorded kinds of non-blocking calls, if there are any. Collective; may wait.
  void prepare_wanted() {
    if (!wanted_.empty()) [[unlikely]]
      prepare_for_started();
  }
  /// Waits until all started exchanges, and an exchange of records for them, are complete. During that time the
  /// application cannot free its communicator.
  void finish_started() {
    if (started_) started_->finish();
    if (arrival_ != MPI_REQUEST_NULL) [[unlikely]]
      finish_suspended(arrival_);
  }
  /// Whether this blocking call is left to the host MPI because it is one of the first. A communicator with few
  /// exchanges is not worth setting up. Counts the call. The same on all ranks. Local.
  bool leaves_call() { return setup_policy_.leaves_call(); }
  /// Completes started exchanges and sets up the communicator. To be called before any other exchange or agreement on
  /// it. Collective.
  void be_ready() {
    finish_started();
    if (!ready()) [[unlikely]]
      finish_setting_up();
    prepare_wanted();
  }
  /// Whether the records have been exchanged, or are not needed because all calls are left to the host MPI.
  bool records_known() const { return records_known_ || !refusal_.empty(); }
  /// Whether the blocks of the current call, one from each rank, have arrived piggybacked on the records. The call must
  /// then take them.
  bool has_piggybacked() const { return !piggybacked_.empty(); }
  std::vector<char> take_piggybacked() { return std::exchange(piggybacked_, {}); }
  /// Whether no exchange of records is outstanding.
  bool ready() const { return records_known(); }
  /// Whether duplicates of its communicator can use this object for their exchanges (duplicates.hpp). The same on all
  /// ranks. Local.
  bool can_serve_duplicates();
  bool shared() const { return shared_; }
  void share() { shared_ = true; }
  /// Sets the communicator of the current blocking call, which has the same ranks. They make their agreements on it
  /// from then on. Local.
  void called_on(MPI_Comm comm) {
    user_ = peers_.comm = comm;
    if (team_) team_->called(comm);
  }
  /// Whether work within the host MPI's progress must not call the host MPI, because progress_is_locked() holds on some
  /// rank.
  bool locked() const { return locked_; }
  /// Whether persistent exchanges are left to the host MPI, because a rank asks for it. Non-blocking ones are left to
  /// it also if a rank leaves all calls to the host MPI. The same on all ranks.
  bool plans_on_host() const { return starts_on_host_; }
  bool starts_on_host() const {
    const bool native = options_.algorithm && options_.algorithm->family == Family::native;
    return starts_on_host_ || (was_set_ ? native : context().job.facts().native);
  }
  /// Exchanges the records, or completes their exchange, if this was postponed. Collective.
  void finish_setting_up();
  /// Announces many more calls: the next decision sets up the communicator.
  void expect_calls() { setup_policy_.end(); }
  /// Handles an `error` of an operation on this communicator. If a rank has died, or the application has revoked the
  /// communicator, no rank waits for another here from now on. Returns the error for the application. Local.
  int failed(int error);
  /// Ends all waiting on this communicator, because the application has revoked it or a rank has died. Local.
  void revoke();
  /// The node peers; nullptr if the ranks of this node have not joined.
  NodePeers* node_peers() const { return node_peers_.get(); }

  /// The decision that decide() would return, if it is known. nullptr: decide() would be collective. Local.
  Decision* decided(Collective collective, std::int64_t block_bytes) const {
    for (const auto& decision : decisions_[static_cast<std::size_t>(collective)])
      if (decision->least_bytes <= block_bytes && block_bytes <= decision->most_bytes) return decision.get();
    return nullptr;
  }

  /// The decision for blocks of `block_bytes` bytes; 0 for unequal blocks, whose sizes are not shared. The same on all
  /// ranks. Decisions are cached: the first call for a range of sizes makes a plan and is collective, later calls are
  /// local.
  Decision& decide(Collective collective, std::int64_t block_bytes) {
    Decision* const known = decided(collective, block_bytes);
    return known ? *known : make_decision(collective, block_bytes);
  }

  /// Returns `decision`, or a decision for the host MPI if equal blocks of `block_bytes` bytes exceed its limits.
  Decision& within_limits(Decision& decision, Collective collective, bool in_place, std::int64_t block_bytes);

  /// Online tuning of calls by `decision` with blocks of `block_bytes` bytes (0: unequal ones). Made when first needed;
  /// nullptr for equal blocks of no bytes. Requires decision.trying not to be empty.
  OnlineTuning* trying(Collective collective, Decision& decision, std::int64_t block_bytes);

  /// Measures the network between nodes, so that the model can price trials by it, unless it is known, is not needed,
  /// or cannot be measured here. Collective.
  void measure_network();
  /// The candidates for blocks of `block_bytes` bytes on average, among them the host MPI and `usual`. Local.
  std::vector<Expectation> candidates_beside(const CallKind& kind, std::int64_t block_bytes, const Spec& usual) const;
  /// Counts the blocks and messages that exchanges with neighbours cost each rank, once. Collective on the first call.
  void count_neighbour_work();
  /// Number of blocks that all ranks together send to their neighbours; 0: not counted.
  double neighbour_blocks() const { return neighbour_work_ ? neighbour_work_->blocks : 0; }
  /// Describes the ranks that try algorithms for started exchanges. They agree among `peers`, and rank 0 reports
  /// results under `name` if explanations are requested.
  StartedTuning::Ranks ranks_of_trials(const Peers& peers, const std::string& name) const {
    return {peers, shape_.ranks, options_.trials_share, options_.explain && rank_ == 0 ? name : ""};
  }
  /// The decision for a call that tries `spec`. Collective.
  Decision& on_trial(Collective collective, const Spec& spec);

  /// The decision for a non-blocking call that would be left to the host MPI, but can no longer be: the host MPI can
  /// start it only in the order of the application's calls. Such a call sends all blocks at once by messages. The first
  /// call is collective. The decision has no exchange if a rank lacks memory.
  Decision& by_messages(Collective collective);
  /// The same decision, if it has been made; else nullptr. Local.
  Decision* known_by_messages(Collective collective) const {
    return by_messages_[static_cast<std::size_t>(collective)];
  }

  /// Measurements and facts that all ranks share, and note() to add a measurement. Local.
  const Knowledge& knowledge() const { return knowledge_; }
  void note(Evidence measured);
  CallKind kind_of_calls(Collective collective, std::int64_t block_bytes) const;
  /// Number of nodes, if known; else INT64_MAX.
  std::int64_t nodes() const { return nodes_; }
  /// Whether a prepared exchange by `spec` may send messages of the host MPI. With padded blocks it may do so within
  /// nodes, too, for blocks that do not fit.
  bool sends_messages(Collective collective, const Spec& spec) const {
    const bool padded = of_unequal_blocks(collective) && spec.sizes == Sizes::padded;
    return spec.intra == Transport::mpi || nodes() > 1 || padded;
  }

  /// A decision for the host MPI for a reason that depends on the single call. decide() does not find it.
  Decision& decline(Collective collective, const std::string& reason);

  /// Whether all its ranks have set an algorithm. Known before the records are exchanged.
  bool has_algorithm_everywhere() const {
    return was_set_ ? options_.algorithm.has_value() : context().job.facts().algorithm;
  }
  /// Replaces the chosen algorithm; without `options` by that of the environment. `valid`: whether this rank could read
  /// its arguments. Collective. Returns false, on all ranks, if a rank could not or the ranks differ.
  bool set_algorithm(const std::optional<Options>& options, bool valid);

  /// Plans an exchange by `options` (none: those of the communicator). `problem`: why `request` is missing on this
  /// rank, or "". Collective; may wait. Returns nullptr on all ranks if one has a problem; on an intercommunicator only
  /// on ranks with a problem. Then `error` and `problem` describe it.
  std::unique_ptr<Planned> plan(std::optional<Request> request, const std::optional<Options>& options,
                                std::string& problem, int& error);

  /// Plans an exchange for a persistent request, by the options of the communicator. Collective. nullptr on all ranks:
  /// the host MPI serves the request.
  std::unique_ptr<Planned> plan_persistent(std::optional<Request> request);

  /// Sends the messages of `request`, and receives the messages for this rank in any order of their sources.
  /// Collective; waits. Received messages are delivered even if others were lost, which is an error.
  int sparse_alltoallv(const SparseRequest& request, Arrivals& arrivals);

  /// Allocates `bytes` bytes for this rank, in memory that its node peers can map, or in private memory where sharing
  /// is impossible. context().regions keeps the memory. Collective. Returns MPI_SUCCESS, MPI_ERR_COMM or
  /// MPI_ERR_NO_MEM.
  int allocate(std::int64_t bytes, char*& memory);

  /// Leaves all calls to the host MPI from now on, and frees plans and memory. Collective if exchanges are under way.
  void close();

 private:
  /// The limits on gathering records, the same on all ranks.
  const Options::Gathered& gathered() const { return simulated ? options_.gathered : context().job.facts().gathered; }
  void leave_devices_alone(std::string_view driver);
  Decision& make_decision(Collective collective, std::int64_t block_bytes);
  /// Makes the exchange of `spec` for `decision`. Collective. Returns "", or why there is none.
  std::string execute_by(const Spec& spec, Collective collective, Decision& decision);
  /// The plan of `spec`, made if it is new; then collective. nullptr on all ranks if one lacks memory for it, or if it
  /// cannot be executed.
  Plan* plan_for(const Spec& spec);
  /// The choice for exchanges with neighbours. Collective on the first call.
  Choice choose_for_neighbours();
  std::unique_ptr<Plan> make_plan_for_neighbours(const Spec& spec, NodePeers* within_node) const;
  /// Returns nullptr if this rank does not know the neighbours of its node peers.
  std::unique_ptr<SizedPlan> make_sized_plan_for_neighbours(const Spec& spec, NodePeers* within_node) const;
  /// Exchanges the lists of neighbours among the ranks of each node, once. Collective on the first call. Returns "", or
  /// on all ranks the reason why neighbours' blocks cannot be forwarded.
  std::string gather_node_neighbourhoods();
  /// Whether no rank has more messages of such a plan in flight than SWAPMEET_REQUEST_LIMIT allows.
  bool few_requests(const Plan& plan) const;
  /// Chooses and makes an exchange with neighbours for `decision`; execute_for_neighbours() makes that of `spec`, and
  /// returns as execute_by() does. Both are collective.
  void decide_for_neighbours(Decision& decision);
  std::string execute_for_neighbours(const Spec& spec, Decision& decision);
  SizedPlan* sized_plan_for(const Spec& spec);

  /// Make plans. Local.
  std::unique_ptr<Plan> make_plan(const Spec& spec, NodePeers* node_peers) const;
  /// `waits`: whether its exchanges may wait, and so call the host MPI's MPI_Alltoall.
  std::unique_ptr<SizedPlan> make_sized_plan(const Spec& spec, NodePeers* node_peers, bool waits = true) const;

  int prepare_sparse();

  /// Makes the topology order that `spec` asks for, if any; then collective. Returns "", or why it cannot be made.
  std::string make_order_of(const Spec& spec);
  /// Warns of `problem`, and removes the order of `spec` from `options`, so that the automatic choice takes its place.
  void give_up_order(const Spec& spec, const std::string& problem, Options& options);
  std::shared_ptr<const Schedule> schedule_of(const Spec& spec) const {
    return context().schedules.generate(spec, orders_.shape_for(spec, shape_), rank_);
  }

  /// The exchange of the ranks' parameters, which comes before anything else. exchange_records() is collective.
  /// begin_record_exchange() is local, and returns as MPI does; end_record_exchange() waits for the result.
  void exchange_records(const FirstCall* first = nullptr);
  int begin_record_exchange();
  void end_record_exchange();
  RankRecord make_record();
  void apply_records(GatheredRecords records);
  /// Makes the communicator of the job if no rank has one and this communicator has all its ranks; then numbers the
  /// team anew.
  void make_job(const GatheredRecords& records);
  void refuse_strangers(const GatheredRecords& records);
  std::vector<char> blocks_to_piggyback(const FirstCall& first);
  bool may_leave_calls() const;
  bool records_known_ = false;
  bool locked_ = false, threaded_ = false, starts_on_host_ = false, shared_ = false;
  bool some_observed_ = false;  ///< calls are timed or watched on some rank
  void give_back_reserved();
  /// Distributes the measurements of earlier runs that rank 0 has recalled to all ranks. Collective.
  void use_recalled();
  void remember();
  void remember_calls(Collective collective);

  /// Determines which ranks share a node. Collective if records are not gathered. Returns "", or why it cannot.
  std::string find_nodes();
  Choice choose(Collective collective, std::int64_t block_bytes, const Means& means) const;
  bool awaits_calls(Collective collective) const;
  EarlierCalls in_earlier_runs(Collective collective, std::int64_t block_bytes) const;
  void learn_from_first_calls(Collective collective);
  Decision& postponed(Collective collective);

  /// Allocates `bytes` bytes of shared memory for this rank; ranks may differ in size. Collective. Returns nullptr on
  /// all ranks if memory cannot be shared, and on a rank that is alone on its node.
  char* allocate_shared(std::int64_t bytes);

  /// Joins the ranks of each node by shared memory, once, and makes a plan of `likely`, the probable next choice, in
  /// the same step. Collective. leave() is the opposite, and local.
  void join(const Spec& likely);
  void leave();

  /// Joins the ranks of each node. Sets `share_bytes` to this rank's share of the shared memory. Collective.
  NodePeers::Joined join_over(std::int64_t& share_bytes, const NodePeers::Prepare& prepare);

  bool agree_to_plan(const std::optional<Request>& request, PlanTeam& team);

  /// Makes a plan that executes `choice`. `for_request`: the plan is for a persistent request, which is left to the
  /// host MPI where the plan would use it; its starts may be trials. `team`: the ranks of the plan. Collective. Returns
  /// nullptr on all ranks if there is a problem.
  std::unique_ptr<Planned> make_planned(Request request, Choice choice, bool for_request,
                                        std::unique_ptr<PlanTeam> team, std::span<char> buffer, std::string& problem,
                                        int& error);
  /// Prepares starts of a plan to try single_step(), where it may be faster. Collective.
  void try_single_step(Executor& executor, const Request& request);

  /// The choice for a plan of `request` by the options `wanted`. Collective.
  Choice choice_for(const Request& request, const Options& wanted);

  /// Makes the exchange of a plan among `peers`, the ranks of the plan. Collective.
  Executor executor_for(Choice choice, const Request& request, const Peers& peers, std::uint16_t& exchanges);

  /// Expected time of an exchange of blocks of `block_bytes` bytes, in seconds. The first call measures messages, for
  /// which it needs `buffer`. Collective.
  double expected_seconds(const Spec& spec, double block_bytes, std::span<char> buffer);

  /// Whether `spec` may be tried for calls with blocks of any size.
  bool may_try(const Spec& spec, Collective collective) const;
  Decision& keep(Collective collective, std::unique_ptr<Decision> decision);

  Observer& observe();
  Post* post() const { return observer_ ? observer_->post() : nullptr; }
  void be_watched();
  void register_processes_with_watchdog();
  /// Deletes the observer if calls are no longer timed, traced or watched.
  void ignore();
  void trace_nothing();
  /// Counts a non-blocking start. Returns whether starts are now served by this library. Local.
  bool next_start_is_ours();
  void prepare_for_started();
  void trace_if_chosen();
  void write_trace(const Tally& call, std::int64_t bytes_sent);

  Options options_;
  MPI_Comm user_;
  std::uint64_t number_ = UINT64_MAX;
  Shape shape_;
  Rank rank_ = 0;
  std::int64_t checked_ = 0;    ///< number of checked calls
  bool ended_ = false;          ///< a rank has died, or the application has revoked the communicator
  std::unique_ptr<Team> team_;  ///< nullptr on an intercommunicator, or if ranks belong to several jobs or are threads
  Peers peers_;
  /// Plans that revoke() must end. Kept only where the host MPI survives faults.
  std::vector<std::weak_ptr<Planned* const>> planned_;
  std::uint16_t exchanges_ = 0;  ///< number of exchanges so far
  SetupPolicy setup_policy_;
  std::vector<char> piggybacked_;
  Recalled recalled_;                     ///< rank 0's memory of earlier runs
  std::size_t recalled_bytes_ = 0;        ///< its size, the same on all ranks; 0: it is used up or unusable
  bool recalled_many_ = false;            ///< Recalled::many of rank 0, the same on all ranks
  std::int64_t nodes_ = INT64_MAX;        ///< number of nodes; INT64_MAX: not known
  std::vector<std::uint64_t> hosts_;      ///< host of each rank, if gathered
  std::vector<NodeRecord> node_records_;  ///< of each rank, until the ranks of a node join next
  std::optional<NodeRecord> reserved_;    ///< this rank's reserved part of shared memory
  bool joined_ = false;                   ///< the ranks of nodes have joined, or have failed to
  Means means_;
  Knowledge knowledge_;
  std::int64_t share_bytes_ = 0;  ///< this rank's share of the shared memory
  std::unique_ptr<NodePeers> node_peers_;
  Orders orders_;
  bool inter_ = false;
  std::string refusal_;  ///< why all calls are left to the host MPI; "": they are not
  std::string device_;   ///< the same reason where a rank uses a device, so that buffers may be in device memory
  std::vector<std::unique_ptr<Decision>> decisions_[collective_names.size()];
  std::vector<std::unique_ptr<Plan>> plans_, neighbour_plans_;
  std::vector<std::unique_ptr<SizedPlan>> sized_plans_, neighbour_sized_plans_;
  std::unique_ptr<SparsePlan> sparse_;
  std::uint16_t sparse_calls_ = 0;  ///< number of sparse exchanges so far
  std::unique_ptr<StartedQueue> started_;
  RankRecord mine_;  ///< this rank's record
  /// Records of all ranks, while a non-blocking exchange of records is under way.
  std::vector<RankRecord> gathered_;
  MPI_Request arrival_ = MPI_REQUEST_NULL;  ///< its request
  Decision* by_messages_[collective_names.size()] = {};
  struct Kind {
    Collective collective;
    std::int64_t block_bytes;
    bool operator==(const Kind&) const = default;
  };
  bool cannot_prepare_ = false;
  bool was_set_ = false;      ///< set_algorithm() has set an algorithm
  bool own_options_ = false;  ///< options_ differ from those of the process
  static constexpr int first_start_of_ours = 5;
  int starts_ = 0;            ///< number of non-blocking exchanges, up to first_start_of_ours
  std::vector<Kind> wanted_;  ///< kinds of non-blocking exchanges that the host MPI had to serve
  std::shared_ptr<const Neighbourhood> neighbourhood_;
  bool looked_for_neighbours_ = false;
  std::unique_ptr<const NodeNeighbourhoods> node_neighbourhoods_;
  std::optional<NeighbourWork> neighbour_work_;
  std::optional<std::string>
      node_neighbourhoods_gathered_;  ///< result of gather_node_neighbourhoods(); nothing: not called yet
  Repeat repeat_;
  LeftToHost left_to_host_[collective_names.size()];
  std::unique_ptr<Observer> observer_;
  std::int64_t calls_to_trace_ = 0;  ///< number of calls up to and including the traced one; 0: none is traced
  RecordedCommunicator* recorded_ = nullptr;
  std::optional<Machine> machine_;  ///< measured times of messages
  const Tags tags_;
  Datatypes datatypes_;
  BlockTypes send_types_, receive_types_;
  Staging send_staging_, receive_staging_;
  HostCopy send_host_copy_, receive_host_copy_;
};

}  // namespace swapmeet
