/* Every kind of non-blocking and persistent all-to-all on a graph communicator, three times, with a barrier after each:
 * for ranks that have not the same variables. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 16, kinds = 6, times = 3 };

int main(int argc, char **argv) {
  int rank, ranks, right = 1, all_right;
  int out[most_ranks], in[most_ranks], ones[most_ranks], bytes[most_ranks], places[most_ranks];
  MPI_Datatype types[most_ranks];
  MPI_Comm ring;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int peers[] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks}, weights[] = {1, 1};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, peers, weights, 2, peers, weights, MPI_INFO_NULL, 0, &ring);
  for (int i = 0; i < ranks; ++i) ones[i] = 1, places[i] = i, bytes[i] = i * (int)sizeof(int), types[i] = MPI_INT;
  for (int kind = 0; kind < kinds; ++kind) {
    MPI_Request request = MPI_REQUEST_NULL;
    if (kind == 3) MPI_Alltoallw_init(out, ones, bytes, types, in, ones, bytes, types, ring, MPI_INFO_NULL, &request);
    if (kind == 4) MPI_Neighbor_alltoall_init(out, 1, MPI_INT, in, 1, MPI_INT, ring, MPI_INFO_NULL, &request);
    for (int time = 0; time < times; ++time) {
      const int among_neighbours = kind == 0 || kind == 4, blocks = among_neighbours ? 2 : ranks;
      for (int i = 0; i < blocks; ++i) out[i] = 100 * rank + (among_neighbours ? peers[i] : i) + time, in[i] = -1;
      if (kind == 0) MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
      if (kind == 1) MPI_Ialltoallw(out, ones, bytes, types, in, ones, bytes, types, ring, &request);
      if (kind == 5) MPI_Ialltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring, &request);
      if (kind == 2) MPI_Ialltoallv(out, ones, places, MPI_INT, in, ones, places, MPI_INT, ring, &request);
      if (kind == 3 || kind == 4) MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      for (int i = 0; i < blocks; ++i) right &= in[i] == 100 * (among_neighbours ? peers[i] : i) + rank + time;
      MPI_Barrier(ring);
    }
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
  MPI_Allreduce(&right, &all_right, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
  if (rank == 0) puts(all_right ? "all_starts: right" : "all_starts: WRONG");
  MPI_Comm_free(&ring);
  MPI_Finalize();
  return !all_right;
}
