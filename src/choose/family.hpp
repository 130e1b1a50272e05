/// The points of the family that may serve calls of one kind, with what each makes ranks do, to be priced for any size.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "choose/evidence.hpp"
#include "choose/means.hpp"
#include "model/machine.hpp"
#include "model/price.hpp"
#include "model/work.hpp"

namespace swapmeet {

/// Of calls on `shape` with blocks of about so many bytes, or of unknown_class.
CallKind kind_of(Collective collective, const Shape& shape, std::int32_t size_class);

/// What the host MPI is expected to take. MPIs have throttled and pairwise exchanges, of equal blocks Bruck's algorithm,
/// too, and rules for which of them is the best. Within a node they copy twice, through memory of their own.
class HostPrice {
 public:
  /// Of exchanges of all with all; or of what it may do.
  HostPrice(Collective collective, const Shape& shape, const Nodes& nodes);
  explicit HostPrice(std::vector<Work> works) : works_(std::move(works)) {}
  double seconds(Machine machine, Model model, std::int64_t block_bytes) const;

 private:
  std::vector<Work> works_;
};

/// How many calls of MPI_Alltoall with the smallest blocks the host MPI is expected to make in the time of one such call;
/// at least 1.
double in_small_calls(const CallKind& kind, const Machine& machine, Model model);

/// Specs with their work, and what the host MPI takes. The same on every rank.
class PricedSpecs {
 public:
  PricedSpecs(const Machine& machine, Model model, HostPrice host)
      : machine_(machine), model_(model), host_(std::move(host)) {}
  virtual ~PricedSpecs() = default;

  void add(Spec spec, Work work) { points_.push_back({std::move(spec), std::move(work)}); }

  /// What may be chosen besides the host MPI.
  std::size_t size() const { return points_.size(); }
  const Spec& spec(std::size_t point) const { return points_[point].spec; }

  /// Seconds that the point is expected to take for blocks of so many bytes.
  double seconds(std::size_t point, std::int64_t block_bytes) const;
  /// The same of any spec that can be priced here; negative: it cannot.
  double seconds(const Spec& spec, std::int64_t block_bytes) const;
  /// The sum of the differences between what two specs are expected to take for each cause: latency, messages, bytes,
  /// copies. Infinite if one of them cannot be priced here.
  double apart_s(const Spec& spec, const Spec& other, std::int64_t block_bytes) const;

 protected:
  double seconds(const Work& work, std::int64_t block_bytes) const;
  double host_seconds(std::int64_t block_bytes) const { return host_.seconds(machine_, model_, block_bytes); }
  /// Counts the work of a spec that is no point. False: it cannot be priced.
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

/// Of exchanges of all with all: built for equal nodes of consecutive ranks, or for as many of the same size on average:
/// O(ranks + points · digits), and a price is O(points).
class PricedFamily : public PricedSpecs {
 public:
  /// `kind.size_class` does not matter. `crowded`: ranks share cores, and this job has measured the
  /// network.
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
  bool crowded_;
  std::int32_t per_node_;
  Shape shape_;
  Nodes nodes_;
};

/// The size for which blocks of a class are priced.
std::int64_t typical_bytes(std::int32_t size_class);

}  // namespace swapmeet
