/// Records for other ranks: an Alltoall tells how many, an Alltoallv brings them.
#pragma once

#include "exchange.hpp"

/// Record: trivially copyable.
template <class Record>
class Mail {
 public:
  explicit Mail(MPI_Comm comm)
      : comm_(comm), ranks_(size_of(comm)), sent_(ranks_), received_(ranks_), outgoing_(ranks_),
        counts_(sent_.data(), received_.data(), 1, MPI_INT, comm) {
    MPI_Type_contiguous(sizeof(Record), MPI_BYTE, &type_);
    MPI_Type_commit(&type_);
  }
  Mail(const Mail&) = delete;
  Mail& operator=(const Mail&) = delete;
  ~Mail() { MPI_Type_free(&type_); }

  void post(int rank, const Record& record) { outgoing_[static_cast<std::size_t>(rank)].push_back(record); }

  /// What all ranks have posted to this one, by rank. Collective.
  std::vector<Record> deliver() {
    std::vector<Record> out;
    for (std::size_t rank = 0; rank < ranks_; ++rank) {
      sent_[rank] = static_cast<int>(outgoing_[rank].size());
      out.insert(out.end(), outgoing_[rank].begin(), outgoing_[rank].end());
      outgoing_[rank].clear();
    }
    counts_.run();
    const Shares to(sent_), from(received_);
    std::vector<Record> in(static_cast<std::size_t>(from.all()));
    exchange_once(out.data(), to, in.data(), from, type_, comm_);
    return in;
  }

 private:
  static std::size_t size_of(MPI_Comm comm) {
    int ranks = 0;
    MPI_Comm_size(comm, &ranks);
    return static_cast<std::size_t>(ranks);
  }

  MPI_Comm comm_;
  std::size_t ranks_;
  std::vector<int> sent_, received_;
  std::vector<std::vector<Record>> outgoing_;
  Exchange counts_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};
