/* The computation of block sizes. It is compiled without contraction (a * b + c with one rounding), so that sizes are
 * the same on all machines. */
#include "workload/workload.h"

#include <float.h>
#include <math.h>

#if FLT_EVAL_METHOD < 0 || FLT_EVAL_METHOD == 2 || DBL_MANT_DIG != 53
#error "sizes are the same on every machine only where double is IEEE binary64 and evaluated as such"
#endif

/* One step of SplitMix64 (steele2014): the output that follows the state `value`. */
#define GOLDEN_GAMMA UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t value) {
  value += GOLDEN_GAMMA;
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

static uint64_t stream_of(uint64_t seed, int source, int destination) {
  return mix(mix(mix(seed) + (uint64_t)source) + (uint64_t)destination);
}

static uint64_t draw(uint64_t stream, int index) { return mix(stream + (uint64_t)index * GOLDEN_GAMMA); }

/* A logarithm, a power of two and a power that give the same results on all machines, unlike those of libm, whose
 * rounding differs. They are accurate to some units in the last place. */
static double log2_of(double x) {
  int exponent;
  double mantissa = frexp(x, &exponent);
  if (mantissa < 0.7071067811865476) mantissa *= 2, --exponent;
  const double t = (mantissa - 1) / (mantissa + 1), square = t * t; /* ln(m) = 2 (t + t^3/3 + t^5/5 + ...), t < 0.172 */
  double sum = 0;
  for (int k = 27; k > 0; k -= 2) sum = sum * square + 1.0 / k;
  return exponent + 2 * t * sum * 1.4426950408889634;
}

static double exp2_of(double x) {
  const int whole = (int)(x < 0 ? x - 0.5 : x + 0.5);
  const double y = (x - whole) * 0.6931471805599453; /* e^y = 1 + y (1 + y/2 (1 + y/3 (...))), |y| < 0.347 */
  double sum = 1;
  for (int k = 15; k > 0; --k) sum = 1 + sum * (y * (1.0 / k));
  return ldexp(sum, whole);
}

static double power(double base, double exponent) { return exp2_of(exponent * log2_of(base)); }

static int64_t normal(const Workload *workload, uint64_t stream) {
  int64_t sum = 0; /* of 12 integers below 2^16, each with mean 65535 / 2 and deviation 65536 / sqrt(12) */
  for (int k = 0; k < 3; ++k)
    for (uint64_t word = draw(stream, k); word != 0; word >>= 16) sum += (int64_t)(word & 0xffff);
  const int64_t scaled = workload->mean_bytes * 65536 + workload->deviation_bytes * (sum - 6 * 65535) + 32768;
  const int64_t bytes = scaled < 0 ? 0 : scaled / 65536;
  return bytes < workload->max_bytes ? bytes : workload->max_bytes;
}

static int64_t power_law(const Workload *workload, uint64_t stream) {
  const double u = (double)(draw(stream, 0) >> 11) / 9007199254740992.0; /* 2^53 */
  const double end = (double)workload->max_bytes + 1;
  const int64_t rest_billionths = 1000000000 - workload->exponent_billionths;
  const double rest = (double)rest_billionths / 1e9;
  /* This close to exponent 1, the general formula loses digits and the special one is as good. */
  const bool is_one = -1000 < rest_billionths && rest_billionths < 1000;
  const double x = is_one ? power(end, u) : power(1 + u * (power(end, rest) - 1), 1 / rest);
  const int64_t bytes = x < 1 ? 1 : (int64_t)x;
  return bytes < workload->max_bytes ? bytes : workload->max_bytes;
}

static bool is_hot(const Workload *workload, int source, int destination) {
  return (workload->source == WORKLOAD_ANY || workload->source == source) &&
         (workload->destination == WORKLOAD_ANY || workload->destination == destination);
}

int64_t workload_bytes(const Workload *workload, uint64_t seed, int ranks, int source, int destination) {
  (void)ranks;
  const uint64_t stream = stream_of(seed, source, destination);
  const int owner = workload->of == WORKLOAD_OF_SOURCE ? source : destination;
  switch (workload->kind) {
    case WORKLOAD_CONSTANT: return workload->bytes;
    case WORKLOAD_UNIFORM: return (int64_t)(draw(stream, 0) % ((uint64_t)workload->max_bytes + 1));
    case WORKLOAD_NORMAL: return normal(workload, stream);
    case WORKLOAD_POWER_LAW: return power_law(workload, stream);
    case WORKLOAD_SKEWED: return power_law(workload, stream_of(seed, owner, owner));
    case WORKLOAD_SPARSE:
      return (int64_t)(draw(stream, 0) % 1000000000) < workload->density_billionths ? workload->bytes : 0;
    case WORKLOAD_HOT_SPOT: return is_hot(workload, source, destination) ? workload->hot_bytes : workload->bytes;
    default: return 0;
  }
}

int64_t workload_most_bytes(const Workload *workload) {
  switch (workload->kind) {
    case WORKLOAD_CONSTANT: return workload->bytes;
    case WORKLOAD_UNIFORM:
    case WORKLOAD_POWER_LAW:
    case WORKLOAD_SKEWED: return workload->max_bytes;
    case WORKLOAD_NORMAL: {
      const int64_t bound = workload->mean_bytes + 6 * workload->deviation_bytes;
      return bound < workload->max_bytes ? bound : workload->max_bytes;
    }
    case WORKLOAD_SPARSE: return workload->density_billionths > 0 ? workload->bytes : 0;
    case WORKLOAD_HOT_SPOT: return workload->bytes > workload->hot_bytes ? workload->bytes : workload->hot_bytes;
    default: return 0;
  }
}

static void add_block(WorkloadShare *share, int64_t bytes) {
  share->bytes += bytes;
  share->blocks += bytes > 0;
  if (bytes > share->largest_bytes) share->largest_bytes = bytes;
}

WorkloadShare workload_sent(const Workload *workload, uint64_t seed, int ranks, int rank) {
  WorkloadShare share = {0, 0, 0};
  for (int peer = 0; peer < ranks; ++peer) add_block(&share, workload_bytes(workload, seed, ranks, rank, peer));
  return share;
}

WorkloadShare workload_received(const Workload *workload, uint64_t seed, int ranks, int rank) {
  WorkloadShare share = {0, 0, 0};
  for (int peer = 0; peer < ranks; ++peer) add_block(&share, workload_bytes(workload, seed, ranks, peer, rank));
  return share;
}
