/// The functions swapmeet_sparse_alltoallv() and swapmeet_sparse_free().
#include <mpi.h>

#include <swapmeet/swapmeet.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/export.hpp"
#include "api/failure.hpp"
#include "buffers/staging.hpp"

namespace swapmeet {

namespace {

/// The result of a call, with the arrays and messages to which its public part points.
struct Received : swapmeet_sparse_messages {
  Arrivals arrivals;
  std::vector<int> all_sources;
  std::vector<MPI_Count> all_sizes;
  std::vector<void*> all_data;

  /// Sorts the messages that have arrived and fills the public part.
  void lay_out() {
    arrivals.sort();
    const auto& messages = arrivals.messages();
    all_sources.reserve(messages.size()), all_sizes.reserve(messages.size()), all_data.reserve(messages.size());
    for (const Arrivals::Message& message : messages) {
      all_sources.push_back(message.source);
      all_sizes.push_back(message.bytes);
      all_data.push_back(message.data);
    }
    count = static_cast<int>(messages.size());
    sources = all_sources.data();
    sizes = all_sizes.data();
    data = all_data.data();
  }
};

/// The arguments of a call, as the application gave them.
struct Given {
  const void* base;
  int messages;
  const int* destinations;
  const MPI_Count* counts;
  const MPI_Aint* displacements;
  MPI_Datatype type;
  const void* into;
};

/// The error of a refused call. `why` is "" if MPI's own text for the error suffices.
struct Refusal {
  int error = MPI_SUCCESS;
  std::string why;
};

Refusal mistake_in(const Given& given, const Datatype* type, Rank ranks) {
  if (!given.into) return {MPI_ERR_ARG, "the address for the messages that are received is NULL"};
  if (given.messages < 0) return {MPI_ERR_COUNT, "the number of messages is negative"};
  if (given.messages == 0) return {};
  if (!given.destinations || !given.counts) return {MPI_ERR_ARG, "the destinations or the counts are NULL"};
  if (!type) return {MPI_ERR_TYPE, "the type is MPI_DATATYPE_NULL"};
  if (given.base == MPI_IN_PLACE) return {MPI_ERR_BUFFER, "the send buffer is MPI_IN_PLACE"};
  for (int i = 0; i < given.messages; ++i) {
    const std::string message = "message " + std::to_string(i) + ": ";
    const int to = given.destinations[i];
    if (to < 0 || to >= ranks)
      return {MPI_ERR_RANK, message + "there is no rank " + std::to_string(to) + " among " + std::to_string(ranks)};
    std::int64_t bytes = 0;
    if (given.counts[i] < 0) return {MPI_ERR_COUNT, message + "its count is negative"};
    if (__builtin_mul_overflow(std::int64_t{given.counts[i]}, type->size, &bytes) || bytes > INT64_MAX / 4)
      return {MPI_ERR_COUNT, message + "it has more bytes than can be counted"};
  }
  return {};
}

/// The messages to send in a valid call, with all data that must live until the call is complete.
struct Sending {
  std::vector<SparseSend> sends;
  std::vector<MPI_Aint> places;  ///< displacements if the application gave none: messages are contiguous
  Staging staging;
  std::optional<Blocks> blocks;

  /// Checks the arguments and prepares the messages.
  Refusal take(const Given& given, Datatypes& types, Communicator& communicator) {
    const auto number = static_cast<std::size_t>(std::max(0, given.messages));
    const Datatype* const type = number == 0 || given.type == MPI_DATATYPE_NULL ? nullptr : &types[given.type];
    if (Refusal refusal = mistake_in(given, type, communicator.ranks()); refusal.error) return refusal;
    if (number == 0) return {};
    if (!given.displacements) {
      places.reserve(number);
      for (std::size_t i = 0; i < number; ++i)
        places.push_back(i == 0 ? 0 : places.back() + static_cast<MPI_Aint>(given.counts[i - 1]));
    }
    blocks.emplace(given.base, given.counts, given.displacements ? given.displacements : places.data(), *type);
    const MPI_Comm packing = communicator.members().packing();
    if (const int error = blocks->committed() ? MPI_SUCCESS : Staging::check(*blocks, 1, packing)) return {error, ""};
    int error = staging.take(*blocks, given.messages, {}, false);
    if (!error && staging.in_use()) error = staging.pack(*blocks, packing);
    if (error) return {error, ""};
    if (staging.in_use()) blocks.emplace(staging.blocks());
    sends.reserve(number);
    for (std::size_t i = 0; i < number; ++i)
      sends.push_back({given.destinations[i], blocks->bytes(static_cast<int>(i))});
    return {};
  }
};

/// Makes the exchange. A rank with a mistake takes part nevertheless, without messages, because the other ranks wait
/// for it. Returns an MPI error code.
int exchange(const Given& given, Communicator& communicator, std::unique_ptr<Received>& received) {
  Refusal refusal;
  Sending sending;
  const int lacking = prepared(refusal.why, [&] {
    received = std::make_unique<Received>();
    refusal = sending.take(given, communicator.memory().datatypes, communicator);
  });
  if (lacking) refusal.error = lacking;
  if (refusal.error) sending.sends.clear();
  if (!sending.blocks) sending.blocks.emplace(nullptr, std::int64_t{0}, byte_type());
  Arrivals dropped;
  const int error =
      communicator.sparse_alltoallv({sending.sends, *sending.blocks}, received ? received->arrivals : dropped);
  if (refusal.error) return refusal.why.empty() ? failed(refusal.error) : failed(refusal.error, refusal.why);
  if (error == MPI_ERR_NO_MEM) return failed(error, "out of memory for messages that are received or passed on");
  if (error == MPI_ERR_OTHER)
    return failed(error, "a rank had no memory for messages that it passed on, or MPI failed");
  return error ? failed(error) : error;
}

}  // namespace

}  // namespace swapmeet

SWAPMEET_EXPORT int swapmeet_sparse_alltoallv(const void* sendbuf, int messages, const int destinations[],
                                              const MPI_Count sendcounts[], const MPI_Aint sdispls[],
                                              MPI_Datatype sendtype, MPI_Comm comm,
                                              swapmeet_sparse_messages** received) {
  return swapmeet::call_on(comm, [&](swapmeet::Communicator& communicator) -> int {
    std::unique_ptr<swapmeet::Received> made;
    const swapmeet::Given given{sendbuf, messages, destinations, sendcounts, sdispls, sendtype, received};
    if (const int error = swapmeet::exchange(given, communicator, made)) return error;
    made->lay_out();
    *received = made.release();
    return MPI_SUCCESS;
  });
}

SWAPMEET_EXPORT int swapmeet_sparse_free(swapmeet_sparse_messages** received) {
  if (!received) return swapmeet::failed(MPI_ERR_ARG, "the address of the messages is NULL");
  delete static_cast<swapmeet::Received*>(*received);
  *received = nullptr;
  return MPI_SUCCESS;
}
