/// Expected times: for each spec the price by the model, corrected by measurements, with its uncertainty.
///
/// Let t_i be the time of spec i and p_i its price. The model of its error is log(t_i / p_i) = M + e_i. M is the error
/// that all specs share because the description of the machine is wrong; it is normal with the deviation `common`. e_i
/// is the error of the model for this spec; it is normal with the deviation `own`.
///
/// A measurement is a sample of M + e_i with a spread of its own. A measurement with another block size counts less the
/// further away that size is, and the more the share of the price that is due to messages, not bytes, differs. It does
/// not count if the spec was measured with a size in between. The expectations given all measurements have closed forms
/// (posterior()). If the measurements differ from one another by more than `own` allows, the model is worse than
/// assumed, and `own` is increased until it explains them.
///
/// Source:  birge1932: uncertainties are widened by the root of chi squared over the degrees of freedom, if that is
///          above 1.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "choose/family.hpp"

namespace swapmeet {

/// A normal distribution of the logarithm of a time or of a ratio.
struct Belief {
  double log_mean = 0, deviation = 0;
};

/// The combined result of all measurements of one spec, as a distribution of log(t / p).
struct Measured {
  double own = 0.3;  ///< deviation of e_i
  Belief ratio{};
  std::int64_t calls = 0;  ///< number of measured calls; 0: none

  /// Adds a measurement of `of_calls` calls. Measurements are weighted by the inverse of their variances.
  void add(const Belief& one, std::int64_t of_calls);
};

/// The assumed uncertainty of the model.
struct Doubt {
  double common = 1;  ///< deviation that all specs share, for a machine without a description
  double own = 0.3;   ///< deviation of each spec
  double host = 0.6;  ///< deviation of the host MPI: its algorithms and their quality are unknown

  bool operator==(const Doubt&) const = default;
};

/// Sets for each spec the distribution of log(t_i / p_i) given all measurements. Increases `own` of all specs if the
/// measurements require it. Allocates no memory.
void posterior(std::span<Measured> measured, double common, std::span<Belief> beliefs);

struct Expectation {
  Spec spec;
  Belief time{};  ///< distribution of the logarithm of the time in seconds
  double price_s = 0;
  std::int64_t calls = 0;  ///< number of measured calls
  double measured_s = 0;   ///< their mean time
  Measurer by = Measurer::model;
  std::int64_t date = 0;  ///< of the latest measurement; 0: this run, or no measurement

  double seconds() const;
};

/// Returns the basis of an expected time as a text such as "by the model" or "3 calls of this run".
std::string basis(const Expectation& expected);

/// Returns the expectations of the host MPI (first), of all points of the family, and of the other specs in `evidence`
/// that can be priced. Evidence with another block size counts with a larger uncertainty; evidence that differs in
/// anything else does not count.
std::vector<Expectation> expectations(const CallKind& kind, const PricedSpecs& family,
                                      std::span<const Evidence> evidence, const Doubt& doubt = {});

/// Whether a spec may be chosen by its price alone, without a measurement of it: the host MPI, and specs that use
/// shared memory within nodes, since that was measured (docs/measurements). Other specs must be measured on the machine
/// first.
bool trusts_model(const Spec& spec);

/// Returns the index of the spec to use: the host MPI, unless another spec is expected to be faster.
///
/// A spec without measurements must be expected to take less than 90 % of the host MPI's time. A measured spec must be
/// expected to take less than 95 %; if it was measured in another run only and trusts_model() is false, it must instead
/// be faster with a confidence of 95 %. A spec whose measured mean is above that of the host MPI is never chosen,
/// whatever the model says. Measured specs precede those without measurements, which online tuning may try
/// (trials.hpp).
std::size_t decide(std::span<const Expectation> expected);

}  // namespace swapmeet
