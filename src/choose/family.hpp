/// The points of the family that may serve calls of one kind, with what each makes ranks do, to be priced for any size.
#pragma once

#include <utility>
#include <vector>

#include "choose/evidence.hpp"
#include "choose/means.hpp"
#include "model/machine.hpp"
#include "model/work.hpp"

namespace swapmeet {

/// Of calls on `shape` with blocks of about so many bytes, or of unknown_class.
CallKind kind_of(Collective collective, const Shape& shape, std::int32_t size_class);

/// Specs with their work, and the work of what the host MPI may do. The same on every rank.
class PricedSpecs {
 public:
  PricedSpecs(const Machine& machine, Model model) : machine_(machine), model_(model) {}
  virtual ~PricedSpecs() = default;

  void add(Spec spec, Work work) { points_.push_back({std::move(spec), std::move(work)}); }
  void add_host(Work work) { host_.push_back(std::move(work)); }

  /// What may be chosen besides the host MPI.
  std::size_t size() const { return points_.size(); }
  const Spec& spec(std::size_t point) const { return points_[point].spec; }

  /// Seconds that the point is expected to take for blocks of so many bytes.
  double seconds(std::size_t point, std::int64_t block_bytes) const;
  /// The same of any spec that can be priced here; negative: it cannot.
  double seconds(const Spec& spec, std::int64_t block_bytes) const;

 protected:
  double seconds(const Work& work, std::int64_t block_bytes) const;
  double host_seconds(std::int64_t block_bytes) const;
  /// Counts the work of a spec that is no point. False: it cannot be priced.
  virtual bool count(const Spec&, Work&) const { return false; }

 private:
  struct Point {
    Spec spec;
    Work work;
  };

  Machine machine_;
  Model model_;
  std::vector<Point> points_;
  std::vector<Work> host_;
};

/// Of exchanges of all with all: built for equal nodes of consecutive ranks, or for as many of the same size on average:
/// O(ranks + points · digits), and a price is O(points).
class PricedFamily : public PricedSpecs {
 public:
  /// `kind.size_class` does not matter. `crowded`: ranks share cores, and this job has measured the
  /// network.
  PricedFamily(const CallKind& kind, const Means& means, const Machine& machine, Model model, bool crowded);

 private:
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
