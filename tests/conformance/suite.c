/* The harness. A rank that fails a check goes on, so that its peers do not hang, and reports at suite_end(). */
#define _POSIX_C_SOURCE 200809L
#include "suite.h"

#include <execinfo.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "oracle.h"

enum { CASE_LIMIT_S = 300 };

/* The signal handler's only way to the name. */
static const char *current_case = "(none)";

#ifdef __SANITIZE_ADDRESS__
/* What a module of the MPI (Open MPI 4) has left is known by the module's name, hence only while that is loaded. */
int dlclose(void *module);
int dlclose(void *module) { return (void)module, 0; }
#endif

static void write_text(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) _exit(1);
}

static void on_signal(int signal_number, siginfo_t *info, void *context) {
  (void)context;
  static char line[800]; /* in one write, so that ranks do not interleave; psiginfo() is not safe here */
  snprintf(line, sizeof line, "conformance: %s in case %s: signal %d, code %d, address %p\n",
           signal_number == SIGALRM ? "hangs" : "dies", current_case, signal_number, info->si_code, info->si_addr);
  write_text(line);
  void *frames[48];
  backtrace_symbols_fd(frames, backtrace(frames, 48), STDERR_FILENO);
  signal(SIGABRT, SIG_DFL);
  abort();
}

void suite_open(Suite *suite, const Options *options) {
  memset(suite, 0, sizeof *suite);
  suite->options = *options;
  MPI_Comm_dup(MPI_COMM_WORLD, &suite->comm);
  MPI_Comm_rank(suite->comm, &suite->rank);
  MPI_Comm_size(suite->comm, &suite->ranks);
  /* After the dup: an error in a tested call is a failing case, an error in the suite's own calls is fatal. */
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  current_case = suite->name;
  const int fatal[] = {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
  void *frame;
  backtrace(&frame, 1); /* loads what it needs now, not in the handler */
  struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
  for (size_t k = 0; k < sizeof fatal / sizeof fatal[0]; ++k) sigaction(fatal[k], &action, NULL);
}

int suite_close(Suite *suite) {
  int counts[3] = {suite->passed, suite->failed, suite->skipped};
  MPI_Bcast(counts, 3, MPI_INT, 0, suite->comm);
  const bool nothing_ran = counts[0] + counts[1] + counts[2] == 0;
  alarm(0);
  current_case = "(none)";
  MPI_Comm_free(&suite->comm);
  if (suite->options.list) return 0;
  if (suite->rank == 0) {
    if (nothing_ran) printf("no case's name contains \"%s\"\n", suite->options.only ? suite->options.only : "");
    printf("%d passed, %d failed, %d skipped\n", counts[0], counts[1], counts[2]);
    fflush(stdout);
  }
  return counts[1] > 0 || nothing_ran;
}

bool suite_begin(Suite *suite, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(suite->name, sizeof suite->name, format, arguments);
  va_end(arguments);
  if (suite->options.only && !strstr(suite->name, suite->options.only)) return false;
  if (suite->options.except && strstr(suite->name, suite->options.except)) return false;
  if (suite->options.list) {
    if (suite->rank == 0) puts(suite->name);
    return false;
  }
  suite->case_failed = suite->case_skipped = false;
  alarm(CASE_LIMIT_S);
  return true;
}

void suite_fail(Suite *suite, const char *format, ...) {
  if (suite->case_failed) return;
  suite->case_failed = true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(suite->message, sizeof suite->message, format, arguments);
  va_end(arguments);
}

void suite_skip(Suite *suite, const char *reason) {
  if (suite->rank == 0) printf("SKIP %s: %s\n", suite->name, reason);
  suite->case_skipped = true;
}

void suite_come_late(Suite *suite, int one_in) {
  static const long delays_ns[] = {0, 1000, 100000, 2000000};
  enum { DELAYS = sizeof delays_ns / sizeof delays_ns[0] };
  if (suite->late == 0) return;
  suite->late = oracle_mix(suite->late) | 1;
  const uint64_t drawn = suite->late >> 1;
  const struct timespec delay = {0, delays_ns[drawn / (uint64_t)one_in % DELAYS]};
  if (drawn % (uint64_t)one_in == 0) nanosleep(&delay, NULL);
}

/* Every rank tells rank 0 its message, empty if it has none. Point to point, because some MPIs' reductions take tens of
 * milliseconds where processors are oversubscribed, and a broadcast is not needed before the end. */
void suite_end(Suite *suite) {
  char text[sizeof suite->message];
  int failing = 0;
  if (!suite->case_failed) suite->message[0] = '\0';
  if (suite->rank > 0) {
    MPI_Send(suite->message, (int)strlen(suite->message) + 1, MPI_CHAR, 0, 0, suite->comm);
    return;
  }
  for (int rank = 0; rank < suite->ranks; ++rank) {
    if (rank == 0) memcpy(text, suite->message, sizeof text);
    else MPI_Recv(text, (int)sizeof text, MPI_CHAR, rank, 0, suite->comm, MPI_STATUS_IGNORE);
    if (text[0] != '\0' && failing++ == 0) printf("FAIL %s: rank %d: %s", suite->name, rank, text);
  }
  if (failing > 1) printf(" (and %d more ranks)", failing - 1);
  if (failing > 0) puts("");
  fflush(stdout);
  if (failing > 0) ++suite->failed;
  else if (suite->case_skipped) ++suite->skipped;
  else ++suite->passed;
}
