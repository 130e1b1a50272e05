#include "interpose/kept_types.hpp"

#include <algorithm>
#include <memory>

#include "interpose/requests.hpp"
#include "mpi/type_reader.hpp"

namespace swapmeet {

namespace {

/// A struct type that is made of the types to keep. MPI keeps the constituents of a derived type alive for
/// MPI_Type_get_contents. (MPI_Type_dup would call the application's attribute callbacks.)
class KeptTypes final : public Persistent {
 public:
  explicit KeptTypes(MPI_Datatype made_of_them) : made_of_them_(made_of_them) {}
  ~KeptTypes() override { PMPI_Type_free(&made_of_them_); }
  KeptTypes(const KeptTypes&) = delete;
  KeptTypes& operator=(const KeptTypes&) = delete;

  int start() override { return MPI_SUCCESS; }
  void close() override { delete this; }

 private:
  MPI_Datatype made_of_them_;
};

/// Makes a struct type of `types` whose block lengths are all 0.
int make_of(const std::vector<MPI_Datatype>& types, MPI_Datatype* made) {
  const std::vector<int> lengths(types.size());
  const std::vector<MPI_Aint> displacements(types.size());
  return PMPI_Type_create_struct(static_cast<int>(types.size()), lengths.data(), displacements.data(), types.data(),
                                 made);
}

}  // namespace

int keep_types(MPI_Request request, std::vector<MPI_Datatype> types) {
  std::ranges::sort(types);
  types.erase(std::ranges::unique(types).begin(), types.end());
  std::erase_if(types, [](MPI_Datatype type) { return type == MPI_DATATYPE_NULL || is_predefined(type); });
  if (types.empty()) return MPI_SUCCESS;
  MPI_Datatype made = MPI_DATATYPE_NULL;
  if (const int error = make_of(types, &made)) return error;
  auto kept = std::make_unique<KeptTypes>(made);
  watch(request, *kept);
  kept.release();  // close() deletes it when the request is freed
  return MPI_SUCCESS;
}

}  // namespace swapmeet
