/* Persistent all-to-alls of types with an attribute: the request, or the type, is freed first. Rank 0 prints for each
 * of MPI_Alltoall_init, v and w how often the attribute's delete callback was called once both are freed, on all ranks. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 8 };

static int deleted;

static int delete(MPI_Datatype type, int key, void *value, void *extra) {
  (void)type, (void)key, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

int main(int count, char **words) {
  int ranks, key, sent[2 * MOST] = {0}, received[2 * MOST], counts[MOST], places[MOST], bytes[MOST], found[6], all[6];
  MPI_Init(&count, &words);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete, &key, NULL);
  for (int i = 0; i < 6; ++i) {
    MPI_Datatype type, types[MOST];
    MPI_Request request;
    const int before = deleted;
    MPI_Type_contiguous(2, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Type_set_attr(type, key, NULL);
    for (int j = 0; j < MOST; ++j) types[j] = type, counts[j] = 1, places[j] = j, bytes[j] = 2 * j * (int)sizeof(int);
    if (i % 3 == 0) MPI_Alltoall_init(sent, 1, type, received, 1, type, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    if (i % 3 == 1)
      MPI_Alltoallv_init(sent, counts, places, type, received, counts, places, type, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
    if (i % 3 == 2)
      MPI_Alltoallw_init(sent, counts, bytes, types, received, counts, bytes, types, MPI_COMM_WORLD, MPI_INFO_NULL,
                         &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (i < 3) MPI_Request_free(&request);
    MPI_Type_free(&type);
    if (i >= 3) MPI_Request_free(&request);
    found[i] = deleted - before;
  }
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Reduce(found, all, 6, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d %d %d, %d %d %d\n", all[0], all[1], all[2], all[3], all[4], all[5]);
  MPI_Finalize();
  return 0;
}
