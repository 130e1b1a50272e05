/// The candidate specs for one kind of call, with the work that each causes, so that they can be priced for any block
/// size.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "choose/means.hpp"
#include "evidence/evidence.hpp"
#include "model/machine.hpp"
#include "model/price.hpp"
#include "model/work.hpp"

namespace swapmeet {

/// Returns the kind of calls on `shape` with blocks of a size class, which may be unknown_class.
CallKind kind_of(Collective collective, const Shape& shape, std::int32_t size_class);

/// The expected time of the host MPI: the least price of the algorithms that it is likely to have. MPIs have throttled
/// and pairwise exchanges, Bruck's algorithm for equal blocks, and rules that choose among them. Within a node they
/// copy each block twice, through shared memory of their own.
class HostPrice {
 public:
  /// For all-to-all exchanges on `shape`. The second constructor takes the work of the host MPI's likely algorithms
  /// instead.
  HostPrice(Collective collective, const Shape& shape, const Nodes& nodes);
  explicit HostPrice(std::vector<Work> works) : works_(std::move(works)) {}
  double seconds(Machine machine, Model model, std::int64_t block_bytes) const;

 private:
  std::vector<Work> works_;
};

/// Returns the expected time of such a call by the host MPI in units of an MPI_Alltoall with the smallest blocks; at
/// least 1.
double in_small_calls(const CallKind& kind, const Machine& machine, Model model);

/// A list of specs with their work, and the expected time of the host MPI. The same on every rank.
class PricedSpecs {
 public:
  PricedSpecs(const Machine& machine, Model model, HostPrice host)
      : machine_(machine), model_(model), host_(std::move(host)) {}
  virtual ~PricedSpecs() = default;

  void add(Spec spec, Work work) { points_.push_back({std::move(spec), std::move(work)}); }

  /// The candidate specs; the host MPI is not among them.
  std::size_t size() const { return points_.size(); }
  const Spec& spec(std::size_t point) const { return points_[point].spec; }

  /// Returns the expected time of a point for blocks of this size.
  double seconds(std::size_t point, std::int64_t block_bytes) const;
  /// Returns the expected time of any spec that can be priced here; negative if it cannot.
  double seconds(const Spec& spec, std::int64_t block_bytes) const;
  /// Returns the sum, over the parts of a price (latency, messages, bytes, copies, ...), of the absolute differences
  /// between two specs. Infinite if one of them cannot be priced here.
  double apart_s(const Spec& spec, const Spec& other, std::int64_t block_bytes) const;

 protected:
  double seconds(const Work& work, std::int64_t block_bytes) const;
  double host_seconds(std::int64_t block_bytes) const { return host_.seconds(machine_, model_, block_bytes); }
  /// Counts the work of a spec that is not in the list. Returns false if it cannot be priced.
  virtual bool count(const Spec&, Work&) const { return false; }

 private:
  struct Point {
    Spec spec;
    Work work;
  };

  std::optional<Price> price_of(const Spec& spec, std::int64_t block_bytes) const;

  Machine machine_;
  Model model_;
  std::vector<Point> points_;
  HostPrice host_;
};

/// The candidates for all-to-all exchanges. They are counted for nodes of consecutive ranks and equal size; if the
/// nodes differ, for nodes of the mean size. Cost: O(ranks + points · digits) to build, O(points) for each set of
/// prices.
class PricedFamily : public PricedSpecs {
 public:
  /// `kind.size_class` is not used. `crowded`: ranks share cores, and the network has been measured in this job.
  PricedFamily(const CallKind& kind, const Means& means, const Machine& machine, Model model, bool crowded);

 private:
  PricedFamily(const CallKind& kind, const Means& means, const Machine& machine, Model model, bool crowded,
               const Shape& shape);
  void add(Spec spec);
  std::int64_t most_forwarded(const Work& work) const;
  void add_direct();
  void add_bruck();
  void add_nodes();
  bool may_rotate() const;
  bool count(const Spec& spec, Work& work) const override;

  CallKind kind_;
  Means means_;
  bool oversubscribed_;
  std::int32_t per_node_;
  Shape shape_;
  Nodes nodes_;
};

/// Returns the block size at which a class is priced.
std::int64_t typical_bytes(std::int32_t size_class);

}  // namespace swapmeet
