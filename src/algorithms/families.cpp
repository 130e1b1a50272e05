#include "algorithms/families.hpp"

#include <stdexcept>

namespace swapmeet {

extern const Algorithm direct_family, bruck_family, leaders_family;

const Algorithm& algorithm_of(Family family) {
  switch (family) {
    case Family::direct: return direct_family;
    case Family::bruck: return bruck_family;
    case Family::leaders: return leaders_family;
    case Family::native: break;
  }
  throw std::logic_error("the host MPI has no schedule");
}

}  // namespace swapmeet
