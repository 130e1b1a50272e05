/// What each spec is expected to take, and how sure that is: prices of the model, corrected by what was measured.
///
/// With t_i the time of spec i and p_i its price, log(t_i / p_i) is taken to be M + e_i: M, how far the description of the
/// machine is off for all specs, normal with deviation `common`; e_i, how far the model is off for this one, with `own`.
/// A measurement is a sample of M + e_i, with its own spread; one of blocks of another size is worth the less the further
/// that is, and the more another share of the price is for bytes, not for messages; and nothing where one of a size between
/// is known. What follows of all measurements together has closed forms (posterior()). Where measurements are further apart
/// than `own` allows for, the model is worse than was thought here, and `own` is widened to what they show.
///
/// Source:  birge1932: uncertainties are widened by the root of chi squared over the degrees of freedom, where that is
///          above 1.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "choose/family.hpp"

namespace swapmeet {

/// A normal distribution of the logarithm of a time or a ratio.
struct Belief {
  double log_mean = 0, deviation = 0;
};

/// Of one spec: what its measurements say of log(t / p) together.
struct Measured {
  double own = 0.3;  ///< deviation of e_i
  Belief ratio{};
  std::int64_t calls = 0;  ///< 0: nothing

  /// What one more measurement says, of so many calls. All count as much as they are sure.
  void add(const Belief& one, std::int64_t of_calls);
};

/// How far the model may be off.
struct Doubt {
  double common = 1;  ///< for all specs alike: where nobody has described the machine
  double own = 0.3;   ///< for each
  double host = 0.6;  ///< for the host MPI: nobody knows which algorithm it takes, nor how well it is made

  bool operator==(const Doubt&) const = default;
};

/// What is to be believed of log(t_i / p_i) of each spec, after what was measured of any. Widens `own` where it must be.
std::vector<Belief> posterior(std::span<Measured> measured, double common);

struct Expectation {
  Spec spec;
  Belief time{};  ///< of the logarithm of seconds
  double price_s = 0;
  std::int64_t calls = 0;  ///< that were measured
  double measured_s = 0;   ///< what these took, in the mean
  Measurer by = Measurer::model;
  std::int64_t date = 0;  ///< of the latest measurement; 0: of this run, or none

  double seconds() const;
};

/// What a time rests on, as in "by the model" or "3 calls of this run".
std::string basis(const Expectation& expected);

/// Of the host MPI, which comes first, and of all others: points of the family, and specs that `evidence` is about and
/// that can be priced. Evidence of other kinds of calls counts for its neighbours in size.
std::vector<Expectation> expectations(const CallKind& kind, const PricedSpecs& family,
                                      std::span<const Evidence> evidence, const Doubt& doubt = {});

/// Whether calls may go by such a spec because of a model: through shared memory, which was measured (docs/measurements).
/// The rest is for those who have tried.
bool trusts_model(const Spec& spec);

/// Which of them to take: the host MPI, unless another is expected to take less. One that was never measured must be
/// expected to take less than 90 % of its time; one that was measured, 95 %, but surely less (95 % interval) if that was in
/// another run and the model is not to be trusted; and it must not have taken longer, whatever the model has it. What was
/// measured goes before what was not: that may be tried (trials.hpp). Indices.
std::size_t decide(std::span<const Expectation> expected);

}  // namespace swapmeet
