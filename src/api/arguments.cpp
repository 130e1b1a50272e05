#include "api/arguments.hpp"

#include "mpi/type_reader.hpp"

namespace swapmeet {

std::string to_text(const Mistake& mistake) {
  using What = Mistake::What;
  const std::string side = mistake.received ? "receive" : "send", block = std::to_string(mistake.block);
  switch (mistake.what) {
    case What::none: break;
    case What::receive_in_place: return "the receive buffer is MPI_IN_PLACE";
    case What::no_array: return "an array of the " + side + " side is NULL";
    case What::negative_count: return side + " count " + block + " is negative";
    case What::no_type: return side + " type " + block + " is MPI_DATATYPE_NULL";
    case What::no_buffer: return "the " + side + " buffer is NULL";
    case What::same_buffer: return "the buffers are the same; give MPI_IN_PLACE";
  }
  return "";
}

bool refused_at_null(MPI_Datatype type) { return host_is_mpich && is_predefined(type); }

}  // namespace swapmeet
