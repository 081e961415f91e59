#include "hpcprof-lite/report/timeline/phase_names.h"

#include "hpcprof-lite/report/terminal.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

const char *phase_kind_name(enum phases_kind kind)
{
  assert(kind <= PHASES_GAP);
  static const char *const names[] = {[PHASES_SERIAL] = "serial",
                                      [PHASES_REGION] = "region",
                                      [PHASES_PATTERN] = "pattern",
                                      [PHASES_MIXED] = "mixed",
                                      [PHASES_GAP] = "gap"};
  return names[kind];
}

static void __attribute__((format(printf, 2, 3))) append(char out[PHASE_NAME_MAX], const char *format, ...)
{
  size_t length = strlen(out);
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(out + length, PHASE_NAME_MAX - length, format, arguments);
  va_end(arguments);
}

static void append_construct(const struct report *report, uint32_t number, bool brief, char out[PHASE_NAME_MAX])
{
  if (number >= report->constructs->count) {
    append(out, "serial");
    return;
  }
  const struct construct_entry *entry = &report->constructs->entries[number];
  bool place = *entry->file && entry->line;
  if (place)
    append(out, "%.300s:%" PRIu32, names_base(entry->file), entry->line);
  if (*entry->name && !(place && brief))
    append(out, place ? " (%.300s)" : "%.300s", entry->name);
  if (!place && !*entry->name)
    append(out, "%s", profile_directive_name(entry->kind));
}

bool phase_step_shown(const struct phases *phases, uint32_t step)
{
  assert(step < phases->steps_count);
  return phases->steps[step].into == step && phases->steps[step].spread.total_ns;
}

/* Whether a step is in the order of a pattern, also if it took no time in the part that is shown. */
static bool is_own_step(const struct phases *phases, uint32_t step)
{
  assert(step < phases->steps_count);
  return phases->steps[step].into == step;
}

/* How many steps of serial time a pattern has, besides what belongs to none of them. */
static uint32_t serial_steps(const struct phases *phases, const struct phases_phase *phase)
{
  uint32_t count = 0;
  for (uint32_t i = 1; i < phase->steps; i++)
    count += is_own_step(phases, phase->first_step + i) && phases->steps[phase->first_step + i].construct == MODEL_NONE;
  return count;
}

/* Appends the name of a step's construct and, if the pattern has it several times, at which place. */
static void append_step(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                        uint32_t step, bool brief, char out[PHASE_NAME_MAX])
{
  uint32_t construct = phases->steps[step].construct, place = 0, places = 0;
  append_construct(report, construct, brief, out);
  for (uint32_t i = phase->first_step; i < phase->first_step + phase->steps && construct != MODEL_NONE; i++)
    if (is_own_step(phases, i) && phases->steps[i].construct == construct) {
      places++;
      place += i <= step;
    }
  if (places > 1)
    append(out, " (place %u of %u)", place, places);
}

void phase_step_name(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                     uint32_t step, bool brief, char out[PHASE_NAME_MAX])
{
  assert(step < phases->steps_count);
  uint32_t construct = phases->steps[step].construct;
  uint32_t serial = construct == MODEL_NONE && phase->kind == PHASES_PATTERN ? serial_steps(phases, phase) : 0;
  *out = 0;
  if (phase->kind == PHASES_GAP)
    append(out, "not recorded");
  else if (serial && step == phase->first_step)
    append(out, "serial, other");
  else if (serial > 1) {
    append(out, "serial after ");
    append_step(report, phases, phase, step - 1, true, out); /* the step before it is its region */
  } else
    append_step(report, phases, phase, step, brief, out);
}

/* Appends a number of repetitions: a whole number, or a mean with one decimal. */
static void append_times(double times, char out[PHASE_NAME_MAX])
{
  append(out, fabs(times - round(times)) < 0.05 ? "%.0f x " : "%.1f x ", times);
}

/* Whether only one step of a loop in the pattern is shown. */
static bool is_single(const struct phases *phases, const struct phases_phase *phase, uint32_t open)
{
  assert(open < phase->tokens);
  uint32_t steps = 0, depth = 0;
  for (uint32_t i = open; i < phase->tokens; i++) {
    const struct phases_token *token = &phases->tokens[phase->first_token + i];
    depth += token->kind == PHASES_OPEN;
    steps += token->kind == PHASES_STEP && is_own_step(phases, token->step);
    if (token->kind == PHASES_CLOSE && --depth == 0)
      break;
  }
  return steps == 1;
}

static void append_order(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                         char out[PHASE_NAME_MAX])
{
  bool first = true, single = false;
  bool outer = true; /* the count of the whole pattern is not part of its name */
  for (uint32_t i = 0; i < phase->tokens; i++) {
    const struct phases_token *token = &phases->tokens[phase->first_token + i];
    if (token->kind == PHASES_CLOSE) {
      if (!single)
        append(out, "]");
      first = single = false;
      continue;
    }
    if (token->kind == PHASES_STEP && !is_own_step(phases, token->step))
      continue;
    if (!first)
      append(out, ", ");
    if (token->kind == PHASES_OPEN) {
      if (!outer)
        append_times(token->times, out);
      single = is_single(phases, phase, i); /* then it is a run of one region, without inner loops */
      if (!single)
        append(out, "[");
      first = true;
    } else {
      append_construct(report, phases->steps[token->step].construct, true, out);
      first = false;
    }
    outer = false;
  }
}

/* The region of a phase that consists of one region. */
static uint32_t region_of(const struct phases *phases, const struct phases_phase *phase)
{
  for (uint32_t i = 0; i < phase->steps; i++)
    if (phases->steps[phase->first_step + i].construct != MODEL_NONE)
      return phases->steps[phase->first_step + i].construct;
  return MODEL_NONE;
}

void phase_name(const struct report *report, const struct phases *phases, const struct phases_phase *phase,
                char out[PHASE_NAME_MAX])
{
  *out = 0;
  if (phase->kind == PHASES_PATTERN)
    append_order(report, phases, phase, out);
  else if (phase->kind == PHASES_REGION)
    append_construct(report, region_of(phases, phase), false, out);
  else if (phase->kind == PHASES_SERIAL)
    append(out, "serial");
  else if (phase->kind == PHASES_GAP)
    append(out, "not recorded");
  else
    append(out, "%" PRIu32 " regions in no order", phase->regions);
}

void phase_spread_text(const struct phases_spread *spread, char out[PHASE_NAME_MAX])
{
  static const struct {
    double ns;
    const char *name;
    int decimals;
  } units[] = {{1e9, "s", 3}, {1e6, "ms", 2}, {1e3, "us", 1}, {1, "ns", 0}};
  size_t unit = 0;
  int of_start = 3; /* decimals of times in s: they are right to 1 percent of the mean */
  for (double ns = 1e8; of_start < 9 && spread->mean_ns < ns; ns /= 10)
    of_start++;
  while (unit < 3 && spread->mean_ns < units[unit].ns)
    unit++;
  *out = 0;
  if (!spread->whole) {
    append(out, "all are cut by what was not recorded");
    return;
  }
  append(out, "%.*f", units[unit].decimals, spread->mean_ns / units[unit].ns);
  if (spread->whole >= PHASES_LEAST)
    append(out, " +- %.*f", units[unit].decimals, phases_deviation(spread) / units[unit].ns);
  append(out, "%c%s each", TERMINAL_GLUE, units[unit].name);
  if (spread->whole < spread->count)
    append(out, ", without %" PRIu64 " that %s cut", spread->count - spread->whole,
           spread->count - spread->whole == 1 ? "is" : "are");
  append(out, "; the slowest, number%c%" PRIu64 ", from %.*f to%c%.*f%cs", TERMINAL_GLUE, spread->slowest, of_start,
         (double)spread->slowest_start_ns / 1e9, TERMINAL_GLUE, of_start,
         (double)model_sum(spread->slowest_start_ns, spread->slowest_ns) / 1e9, TERMINAL_GLUE);
}
