/* The text of a workload: kind:key=value,key=value. One table lists all parameters. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "workload/workload.h"

typedef enum { SIZE, EXPONENT, DENSITY, RANK, END } Value;

#define BILLION INT64_C(1000000000)

static const struct {
  const char *expected;
  int64_t most;
} values[] = {
    {"bytes up to 1024GiB, such as 4096, 64KiB or 1MiB", INT64_C(1) << 40},
    {"0 to 16, with at most 9 decimals", 16 * BILLION},
    {"0 to 1, with at most 9 decimals", BILLION},
    {"a rank, or any", INT32_MAX},
    {"source or destination", WORKLOAD_OF_DESTINATION},
};

static const char *const kind_names[WORKLOAD_KINDS] = {"constant", "uniform", "normal",  "power-law",
                                                       "skewed",   "sparse",  "hot-spot"};

static const char *const end_names[] = {"source", "destination"};

typedef struct {
  WorkloadKind kind;
  const char *key;
  Value value;
  size_t offset;
  bool required;
} Parameter;

static const Parameter parameters[] = {
    {WORKLOAD_CONSTANT, "bytes", SIZE, offsetof(Workload, bytes), true},
    {WORKLOAD_UNIFORM, "max", SIZE, offsetof(Workload, max_bytes), true},
    {WORKLOAD_NORMAL, "mean", SIZE, offsetof(Workload, mean_bytes), true},
    {WORKLOAD_NORMAL, "deviation", SIZE, offsetof(Workload, deviation_bytes), true},
    {WORKLOAD_NORMAL, "max", SIZE, offsetof(Workload, max_bytes), false},
    {WORKLOAD_POWER_LAW, "exponent", EXPONENT, offsetof(Workload, exponent_billionths), true},
    {WORKLOAD_POWER_LAW, "max", SIZE, offsetof(Workload, max_bytes), true},
    {WORKLOAD_SKEWED, "exponent", EXPONENT, offsetof(Workload, exponent_billionths), true},
    {WORKLOAD_SKEWED, "max", SIZE, offsetof(Workload, max_bytes), true},
    {WORKLOAD_SKEWED, "of", END, offsetof(Workload, of), false},
    {WORKLOAD_SPARSE, "density", DENSITY, offsetof(Workload, density_billionths), true},
    {WORKLOAD_SPARSE, "bytes", SIZE, offsetof(Workload, bytes), true},
    {WORKLOAD_HOT_SPOT, "bytes", SIZE, offsetof(Workload, bytes), true},
    {WORKLOAD_HOT_SPOT, "hot", SIZE, offsetof(Workload, hot_bytes), true},
    {WORKLOAD_HOT_SPOT, "source", RANK, offsetof(Workload, source), false},
    {WORKLOAD_HOT_SPOT, "destination", RANK, offsetof(Workload, destination), false},
};
enum { PARAMETERS = sizeof parameters / sizeof parameters[0] };

/* The units of sizes, the longest first: the first one that ends a text is its unit. */
static const struct {
  const char *name;
  int shift;
} units[] = {{"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"G", 30}, {"M", 20}, {"K", 10}, {"k", 10}, {"B", 0}, {"", 0}};
enum { UNITS = sizeof units / sizeof units[0], PRINTED_UNITS = 3 };

/* A part of the text without the blanks around it. */
typedef struct {
  const char *begin, *end;
} Word;

static Word word_of(const char *begin, const char *end) {
  while (begin < end && *begin == ' ') ++begin;
  while (begin < end && end[-1] == ' ') --end;
  return (Word){begin, end};
}

static size_t length_of(Word word) { return (size_t)(word.end - word.begin); }

static bool equals(Word word, const char *name) {
  return length_of(word) == strlen(name) && memcmp(word.begin, name, length_of(word)) == 0;
}

static const char *find(Word word, char wanted) {
  const char *found = memchr(word.begin, wanted, length_of(word));
  return found ? found : word.end;
}

/* --- error messages --- */

typedef struct {
  const char *text; /* the whole text, for counting columns */
  char *message;
  size_t bytes;
} Reader;

static bool refuse(const Reader *reader, const char *at, const char *format, ...) {
  if (reader->bytes == 0) return false;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reader->message, reader->bytes, format, arguments);
  va_end(arguments);
  const size_t length = strlen(reader->message);
  snprintf(reader->message + length, reader->bytes - length, " (column %d)", (int)(at - reader->text) + 1);
  return false;
}

enum { QUOTED = 40, QUOTED_BYTES = QUOTED + 3 };

/* Writes the word in quotes to `to`. A long word is truncated between two characters of UTF-8. @return to */
static const char *quote(Word word, char to[QUOTED_BYTES]) {
  size_t length = length_of(word);
  if (length > QUOTED) {
    length = QUOTED;
    while (length > 0 && ((unsigned char)word.begin[length] & 0xc0) == 0x80) --length;
  }
  to[0] = to[length + 1] = '"';
  to[length + 2] = '\0';
  for (size_t k = 0; k < length; ++k) {
    const unsigned char c = (unsigned char)word.begin[k];
    to[k + 1] = c < ' ' || c == 0x7f ? '?' : (char)c;
  }
  return to;
}

/* Refuses a name with a message such as "unknown ... (known: ...)". */
static bool refuse_name(const Reader *reader, Word word, const char *what, const char *const *names, int count) {
  char quoted[QUOTED_BYTES], known[160] = "";
  for (int k = 0; k < count; ++k) {
    const size_t used = strlen(known);
    snprintf(known + used, sizeof known - used, "%s%s", k > 0 ? ", " : "", names[k]);
  }
  if (length_of(word) == 0) return refuse(reader, word.begin, "expected a %s (known: %s)", what, known);
  return refuse(reader, word.begin, "unknown %s %s (known: %s)", what, quote(word, quoted), known);
}

static bool refuse_key(const Reader *reader, WorkloadKind kind, Word key) {
  const char *names[PARAMETERS];
  int count = 0;
  for (int k = 0; k < PARAMETERS; ++k)
    if (parameters[k].kind == kind) names[count++] = parameters[k].key;
  return refuse_name(reader, key, "parameter", names, count);
}

/* --- values --- */

/* Reads a decimal number with at most `decimals` digits after the point, as a multiple of 10^-decimals. */
static bool read_number(Word word, int decimals, int64_t most, int64_t *number) {
  const char *point = find(word, '.'), *c = word.begin;
  if (point == word.begin || point + 1 == word.end || word.end - point - 1 > decimals) return false;
  if (decimals == 0 && point < word.end) return false;
  *number = 0;
  for (; c < word.end; ++c) {
    if (c == point) continue;
    if (*c < '0' || *c > '9' || *number > most) return false;
    *number = 10 * *number + (*c - '0');
  }
  for (int k = point < word.end ? (int)(word.end - point) - 1 : 0; k < decimals; ++k) {
    if (*number > most) return false;
    *number *= 10;
  }
  return *number <= most;
}

static bool read_size(Word word, int64_t *bytes) {
  for (int k = 0; k < UNITS; ++k) {
    const size_t length = strlen(units[k].name);
    if (length_of(word) < length || memcmp(word.end - length, units[k].name, length) != 0) continue;
    if (!read_number((Word){word.begin, word.end - length}, 0, values[SIZE].most >> units[k].shift, bytes))
      return false;
    *bytes <<= units[k].shift;
    return true;
  }
  return false;
}

static bool read_value(Value value, Word word, int64_t *number) {
  switch (value) {
    case SIZE: return read_size(word, number);
    case RANK:
      if (equals(word, "any")) return *number = WORKLOAD_ANY, true;
      return read_number(word, 0, values[value].most, number);
    case END: *number = equals(word, end_names[WORKLOAD_OF_DESTINATION]); return equals(word, end_names[*number]);
    default: return read_number(word, 9, values[value].most, number);
  }
}

static void print_value(Value value, int64_t number, char *to, size_t bytes) {
  if (value == RANK && number == WORKLOAD_ANY) {
    snprintf(to, bytes, "any");
  } else if (value == END) {
    snprintf(to, bytes, "%s", end_names[number]);
  } else if (value == EXPONENT || value == DENSITY) {
    snprintf(to, bytes, "%lld.%09lld", (long long)(number / BILLION), (long long)(number % BILLION));
    char *end = to + strlen(to);
    while (end[-1] == '0') *--end = '\0';
    if (end[-1] == '.') *--end = '\0';
  } else {
    int unit = UNITS - 1;
    for (int k = 0; value == SIZE && number != 0 && k < PRINTED_UNITS && unit == UNITS - 1; ++k)
      if (number % (INT64_C(1) << units[k].shift) == 0) unit = k;
    snprintf(to, bytes, "%lld%s", (long long)(number >> units[unit].shift), units[unit].name);
  }
}

/* --- whole workloads --- */

static int64_t *field(Workload *workload, const Parameter *parameter) {
  return (int64_t *)(void *)((char *)workload + parameter->offset);
}

static bool read_parameter(const Reader *reader, Word text, Workload *workload, bool seen[PARAMETERS]) {
  const char *sign = find(text, '=');
  const Word key = word_of(text.begin, sign);
  char quoted[QUOTED_BYTES];
  int k = 0;
  while (k < PARAMETERS && !(parameters[k].kind == workload->kind && equals(key, parameters[k].key))) ++k;
  if (k == PARAMETERS) return refuse_key(reader, workload->kind, key);
  if (sign == text.end) return refuse(reader, text.end, "expected \"=\" behind %s", quote(key, quoted));
  if (seen[k]) return refuse(reader, key.begin, "%s is given twice", quote(key, quoted));
  seen[k] = true;
  const Word value = word_of(sign + 1, text.end);
  if (read_value(parameters[k].value, value, field(workload, &parameters[k]))) return true;
  return refuse(reader, value.begin, "%s must be %s, not %s", parameters[k].key, values[parameters[k].value].expected,
                quote(value, quoted));
}

static bool read_parameters(const Reader *reader, Word list, Workload *workload, bool seen[PARAMETERS]) {
  for (;;) {
    const char *comma = find(list, ',');
    if (!read_parameter(reader, word_of(list.begin, comma), workload, seen)) return false;
    if (comma == list.end) return true;
    list.begin = comma + 1;
  }
}

bool workload_parse(const char *text, Workload *workload, char *message, size_t message_bytes) {
  const Reader reader = {text, message, message_bytes};
  const Word whole = word_of(text, text + strlen(text));
  const char *colon = find(whole, ':');
  const Word name = word_of(whole.begin, colon);
  int kind = 0;
  while (kind < WORKLOAD_KINDS && !equals(name, kind_names[kind])) ++kind;
  if (kind == WORKLOAD_KINDS) return refuse_name(&reader, name, "workload", kind_names, WORKLOAD_KINDS);

  Workload read = {.kind = (WorkloadKind)kind, .max_bytes = -1, .source = WORKLOAD_ANY, .destination = WORKLOAD_ANY};
  bool seen[PARAMETERS] = {false};
  if (colon < whole.end && !read_parameters(&reader, word_of(colon + 1, whole.end), &read, seen)) return false;
  for (int k = 0; k < PARAMETERS; ++k)
    if (parameters[k].kind == read.kind && parameters[k].required && !seen[k])
      return refuse(&reader, whole.end, "%s needs %s: %s", kind_names[kind], parameters[k].key,
                    values[parameters[k].value].expected);
  if (read.kind == WORKLOAD_HOT_SPOT && read.source == WORKLOAD_ANY && read.destination == WORKLOAD_ANY)
    return refuse(&reader, whole.end, "hot-spot needs a source or a destination: if both are any, all blocks are hot");
  if (read.max_bytes < 0) {
    const int64_t most = values[SIZE].most;
    read.max_bytes = 2 * read.mean_bytes < most ? 2 * read.mean_bytes : most;
  }
  *workload = read;
  return true;
}

const char *workload_print(const Workload *workload, char *text, size_t text_bytes) {
  char value[32];
  snprintf(text, text_bytes, "%s", kind_names[workload->kind]);
  char separator = ':';
  for (int k = 0; k < PARAMETERS; ++k) {
    if (parameters[k].kind != workload->kind) continue;
    Workload copy = *workload;
    print_value(parameters[k].value, *field(&copy, &parameters[k]), value, sizeof value);
    const size_t used = strlen(text);
    snprintf(text + used, text_bytes - used, "%c%s=%s", separator, parameters[k].key, value);
    separator = ',';
  }
  return text;
}

const char *workload_kind_name(WorkloadKind kind) { return kind_names[kind]; }
