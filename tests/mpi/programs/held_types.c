/* All-to-alls that do not block, with derived types that the library holds. "attribute": the types have an attribute whose
 * copy callback counts, and refuses. "uncommitted": they are not committed, on all ranks; in the first calls, and after
 * ranks have met. Rank 0 prints the error class of each call: MPI_Ialltoall, v, w, their _init, and (where there is a
 * request) MPI_Start and MPI_Wait; then how often the callback was called on any rank. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 8, ROUNDS = 3 };

static int calls;

static int copy(MPI_Datatype type, int key, void *extra, void *in, void *out, int *flag) {
  (void)type, (void)key, (void)extra, (void)in, (void)out;
  *flag = 0;
  ++calls;
  return MPI_ERR_OTHER;
}

static int class_of(int error) {
  int found;
  MPI_Error_class(error, &found);
  return found == MPI_ERR_TYPE ? 't' : found == MPI_SUCCESS ? '.' : 'e';
}

int main(int count, char **words) {
  if (count != 2) return 2;
  const int commits = strcmp(words[1], "uncommitted") != 0;
  int rank, ranks, key, sent[4 * MOST], received[4 * MOST], counts[MOST], places[MOST], bytes[MOST], wrong = 0;
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank), MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Datatype type, types[MOST];
  MPI_Type_vector(2, 1, 2, MPI_INT, &type);
  MPI_Type_create_resized(type, 0, 4 * (MPI_Aint)sizeof(int), &types[0]);
  if (commits) MPI_Type_commit(&types[0]);
  MPI_Type_create_keyval(copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Type_set_attr(types[0], key, NULL);
  for (int i = 0; i < MOST; ++i) types[i] = types[0], counts[i] = 1, places[i] = i, bytes[i] = 4 * i * (int)sizeof(int);
  char classes[ROUNDS * 20];
  int number = 0;
  for (int round = 0; round < ROUNDS; ++round) {
    for (int form = 0; form < 6; ++form) {
      MPI_Request request = MPI_REQUEST_NULL;
      int error = MPI_SUCCESS;
      for (int i = 0; i < 4 * ranks; ++i) sent[i] = 1000 * form + 100 * rank + i, received[i] = -1;
      if (form == 0) error = MPI_Ialltoall(sent, 1, types[0], received, 1, types[0], MPI_COMM_WORLD, &request);
      if (form == 1)
        error = MPI_Ialltoallv(sent, counts, places, types[0], received, counts, places, types[0], MPI_COMM_WORLD,
                               &request);
      if (form == 2)
        error = MPI_Ialltoallw(sent, counts, bytes, types, received, counts, bytes, types, MPI_COMM_WORLD, &request);
      if (form == 3)
        error = MPI_Alltoall_init(sent, 1, types[0], received, 1, types[0], MPI_COMM_WORLD, MPI_INFO_NULL, &request);
      if (form == 4)
        error = MPI_Alltoallv_init(sent, counts, places, types[0], received, counts, places, types[0], MPI_COMM_WORLD,
                                   MPI_INFO_NULL, &request);
      if (form == 5)
        error = MPI_Alltoallw_init(sent, counts, bytes, types, received, counts, bytes, types, MPI_COMM_WORLD,
                                   MPI_INFO_NULL, &request);
      classes[number++] = (char)class_of(error);
      if (error) continue;
      if (form > 2) classes[number++] = (char)class_of(MPI_Start(&request));
      classes[number++] = (char)class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
      if (form > 2) MPI_Request_free(&request);
      for (int i = 0; i < 4 * ranks; ++i)
        wrong += received[i] != (i % 2 ? -1 : 1000 * form + 100 * (i / 4) + 4 * rank + i % 4);
    }
    int value[MOST] = {0}, values[MOST];
    MPI_Alltoall(value, 1, MPI_INT, values, 1, MPI_INT, MPI_COMM_WORLD); /* they meet */
    classes[number++] = ' ';
  }
  int mine[2] = {calls, wrong}, all[2];
  MPI_Reduce(mine, all, 2, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.*scalls %d, wrong %d\n", number, classes, all[0], all[1]);
  MPI_Type_free(&types[0]), MPI_Type_free(&type);
  MPI_Finalize();
  return 0;
}
