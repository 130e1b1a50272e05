#include "proofs/rehearsal.hpp"

#include <memory>
#include <numeric>
#include <variant>

#include "sparse/forwarding.hpp"
#include "schedule/random.hpp"
#include "proofs/mailbox.hpp"
#include "sparse/direct.hpp"

namespace swapmeet {

namespace {

std::vector<SparseSend> sends_of(const SparsePattern& pattern, Rank ranks, Rank rank, std::uint32_t call) {
  Random random(mixed(mixed(pattern.seed + call) + static_cast<std::uint64_t>(rank)));
  const auto draw = [&](std::uint64_t end) { return random.below(end); };
  std::vector<SparseSend> sends(draw(static_cast<std::uint64_t>(2 * pattern.messages) + 1));
  for (std::size_t i = 0; i < sends.size(); ++i) {
    const std::uint64_t kind = draw(8);
    SparseSend& send = sends[i];
    send.destination = kind == 0            ? rank
                       : kind == 1 && i > 0 ? sends[i - 1].destination
                                            : static_cast<Rank>(draw(static_cast<std::uint64_t>(ranks)));
    send.bytes = kind == 2 ? 0 : static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(pattern.most_bytes) + 1));
    if (pattern.loses_hops) send.bytes = 16 * send.bytes + call;
  }
  return sends;
}

/// One rank in its present call.
struct Member {
  Member(SparseMail& mail, const Spec& spec, const SparseRoute* route, const SparsePattern& pattern, Rank rank,
         std::uint32_t call)
      : sends(sends_of(pattern, mail.ranks(), rank, call)), mailbox(mail, rank, call, sends) {
    if (route) exchange.emplace<1>(*route, sends, rank, arrivals);
    else exchange.emplace<2>(sends, rank, spec.window, spec.sparse == Sparse::census, arrivals);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  int advance() {
    if (auto* const forwarding = std::get_if<1>(&exchange)) return forwarding->advance(mailbox);
    return std::get_if<2>(&exchange)->advance(mailbox);
  }

  std::vector<SparseSend> sends;
  SparseMailbox mailbox;
  Arrivals arrivals;
  std::variant<std::monostate, SparseForwarding<SparseMailbox>, SparseDirect<SparseMailbox>> exchange;
};

class Rehearsal {
 public:
  Rehearsal(const Spec& spec, const Shape& shape, const SparsePattern& pattern, std::uint32_t calls)
      : spec_(spec), pattern_(pattern), calls_(calls), mail_(shape.ranks, pattern.seed),
        members_(static_cast<std::size_t>(shape.ranks)), call_of_(members_.size(), 0), expected_(calls) {
    if (pattern.loses_hops) mail_.lose_hops(pattern.late);
    for (Rank rank = 0; rank < shape.ranks; ++rank)
      if (spec.sparse == Sparse::forward) routes_.emplace_back(spec, shape, rank);
    for (std::uint32_t call = 0; call < calls; ++call) expect(call);
  }

  SparseRehearsal run() {
    constexpr int most_idle = 400;
    constexpr std::size_t most_delayed = 4096;  // number of ranks above which delays would take minutes
    std::vector<std::size_t> order(members_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t rank = 0; rank < members_.size(); ++rank) enter(rank);
    std::size_t over = 0;
    for (int idle = 0; over < members_.size() && result_.problem.empty(); ++idle) {
      if (idle == most_idle) return result_.problem = "no rank gets any further", result_;
      mail_.hurry(idle > most_idle / 2 || members_.size() > most_delayed);
      for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[mail_.draw(i)]);
      for (const std::size_t rank : order) {
        if (!members_[rank] || members_[rank]->advance() == unfinished) continue;
        idle = 0;
        leave(rank);
        if (++call_of_[rank] < calls_) enter(rank);
        else ++over;
      }
    }
    return result_;
  }

 private:
  struct Expected {
    Rank source;
    std::uint32_t number;
    std::int64_t bytes;
  };

  void expect(std::uint32_t call) {
    expected_[call].resize(members_.size());
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      const std::vector<SparseSend> sends = sends_of(pattern_, mail_.ranks(), static_cast<Rank>(rank), call);
      result_.messages += static_cast<std::int64_t>(sends.size());
      for (std::uint32_t i = 0; i < sends.size(); ++i)
        expected_[call][static_cast<std::size_t>(sends[i].destination)].push_back(
            {static_cast<Rank>(rank), i, sends[i].bytes});
    }
  }

  void enter(std::size_t rank) {
    members_[rank] = std::make_unique<Member>(mail_, spec_, routes_.empty() ? nullptr : &routes_[rank], pattern_,
                                              static_cast<Rank>(rank), call_of_[rank]);
  }

  void leave(std::size_t rank) {
    Member& member = *members_[rank];
    if (!pattern_.loses_hops || call_of_[rank] > 0) check(rank, member.arrivals);
    std::int64_t bytes = member.arrivals.bytes();
    if (auto* const forwarding = std::get_if<1>(&member.exchange)) {
      bytes += forwarding->peak_bytes() + routes_[rank].bytes();
      result_.hops = std::max(result_.hops, forwarding->hops());
      result_.header_bytes += forwarding->header_bytes();
    }
    result_.working_bytes = std::max(result_.working_bytes, bytes + static_cast<std::int64_t>(sizeof member));
    members_[rank].reset();
  }

  void check(std::size_t rank, Arrivals& arrivals) {
    const std::uint32_t call = call_of_[rank];
    const std::vector<Expected>& expected = expected_[call][rank];
    const auto wrong = [&](const std::string& what) {
      if (result_.problem.empty())
        result_.problem = "rank " + std::to_string(rank) + ", call " + std::to_string(call) + ": " + what;
    };
    arrivals.sort();
    const auto& got = arrivals.messages();
    if (got.size() != expected.size())
      return wrong(std::to_string(got.size()) + " messages in place of " + std::to_string(expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      if (got[i].source != expected[i].source || got[i].bytes != expected[i].bytes)
        return wrong("message " + std::to_string(i) + " is another");
      for (std::int64_t k = 0; k < got[i].bytes; ++k)
        if (got[i].data[k] != sparse_byte(got[i].source, call, expected[i].number, k))
          return wrong("message " + std::to_string(i) + " has a wrong byte");
    }
  }

  const Spec& spec_;
  const SparsePattern& pattern_;
  std::uint32_t calls_;
  SparseMail mail_;
  std::vector<SparseRoute> routes_;
  std::vector<std::unique_ptr<Member>> members_;
  std::vector<std::uint32_t> call_of_;
  std::vector<std::vector<std::vector<Expected>>> expected_;  ///< by call and rank
  SparseRehearsal result_;
};

}  // namespace

SparseRehearsal rehearse(const Spec& spec, const Shape& shape, const SparsePattern& pattern, std::uint32_t calls) {
  return Rehearsal(spec, shape, pattern, calls).run();
}

}  // namespace swapmeet
