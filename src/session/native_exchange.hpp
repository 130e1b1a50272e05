/// A non-blocking all-to-all of the host MPI, which executes a plan of the application.
#pragma once

#include <vector>

#include "session/call_arguments.hpp"

namespace swapmeet {

class NativeExchange {
 public:
  /// Copies the arguments in the form in which MPI takes them, but not the types, which must outlive this object.
  explicit NativeExchange(const Arguments& arguments);

  /// Starts the exchange on `comm`. Returns an error of MPI; then the exchange is not under way.
  int start(MPI_Comm comm);
  bool under_way() const { return request_ != MPI_REQUEST_NULL; }
  /// Returns `unfinished`, MPI_SUCCESS or an error.
  int advance();

 private:
#if MPI_VERSION >= 4
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
#else
  using Count = int;
  using Displacement = int;
#endif
  struct Side {
    Side(const Blocks& blocks, Rank count);

    void* base;
    std::vector<Count> counts;  ///< one for all blocks if they are equal; so are types
    std::vector<Displacement> displacements;
    std::vector<MPI_Datatype> types;
  };

  Collective collective_;
  Side out_, in_;
  const void* from_;  ///< the send buffer, or MPI_IN_PLACE
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace swapmeet
