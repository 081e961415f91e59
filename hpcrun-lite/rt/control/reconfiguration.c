#include "hpcrun-lite/rt/control/reconfiguration.h"

#include "hpcrun-lite/rt/construct/construct_table.h"
#include "hpcrun-lite/rt/control/answer.h"
#include "hpcrun-lite/rt/control/control_process.h"
#include "hpcrun-lite/rt/core/budget.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/core/modules.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/task_creation.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/span/graph_log.h"

/* ---- what is in force ---- */

static void put_words(struct control_answer *answer, const char *key, const char *value)
{
  answer_text(answer, key);
  answer_text(answer, value);
  answer_text(answer, "\n");
}

static void put_number(struct control_answer *answer, const char *key, uint64_t number)
{
  answer_number(answer, key, number);
  answer_text(answer, "\n");
}

static void put_events(struct control_answer *answer)
{
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    const struct event *event = &sampling_process.events[i];
    answer_text(answer, "event ");
    answer_text(answer, event->name);
    answer_number(answer, " ", __atomic_load_n(&event->frequency, __ATOMIC_RELAXED));
    answer_number(answer, " ", __atomic_load_n(&event->period, __ATOMIC_RELAXED));
    answer_text(answer, "\n");
  }
}

static void put_part(struct control_answer *answer, const char *key, struct filter_part part)
{
  if (!part.length)
    return;
  answer_text(answer, key);
  answer_bytes(answer, part.text, part.length);
  answer_text(answer, "\n");
}

void reconfiguration_put(struct control_answer *answer, const struct filter *filter)
{
  static const char *const units[] = {[WORK_CPU_TIME] = "cpu-time",
                                      [WORK_USER] = "user",
                                      [WORK_INSTRUCTIONS] = "instructions",
                                      [WORK_CYCLES] = "cycles"};
  static const char *const traces[] = {
      [RT_TRACE_OFF] = "off", [RT_TRACE_SAMPLES] = "samples", [RT_TRACE_STATES] = "states"};
  put_words(answer, "program ", control_process.program);
  const char *online = graph_log_on() ? "log" : "online";
  put_words(answer, "parallelism ", span_process.online ? online : "off");
  put_words(answer, "work ", units[span_process.work_unit]);
  put_number(answer, "overhead-limit ", span_process.overhead_limit);
  put_words(answer, "trace ", traces[trace_process.what]);
  put_words(answer, "task-context ", sampling_process.task_creation ? "creation" : "region");
  put_words(answer, "arguments ", control_process.no_arguments ? "no" : "yes");
  put_words(answer, "unsampled ", atomic_load(&sampling_process.unsampled) ? "1" : "0");
  put_words(answer, "paused ", atomic_load(&rt.paused_by) & RT_PAUSED_PROGRAM ? "1" : "0");
  put_number(answer, "memory-limit ", budget_limit());
  if (trace_process.what != RT_TRACE_OFF) {
    put_number(answer, "trace-limit ", trace_process.limit);
    put_words(answer, "trace-keep ", trace_process.keep_last ? "last" : "first");
  }
  if (control_process.rank >= 0)
    put_number(answer, "rank ", (uint64_t)control_process.rank);
  put_events(answer);
  for (unsigned i = 0; i < counts_process.count; i++)
    put_words(answer, "counter ", counts_process.counters[i].name);
  if (sampling_process.count_locks)
    put_words(answer, "counter ", COUNTERS_LOCKS);
  put_number(answer, "filter-hash ", filter->hash); /* its text may be longer than an answer */
  put_part(answer, "skip-first ", filter->skip_first);
  put_part(answer, "only ", filter->only);
}

/* ---- a change ---- */

/* Takes a word and the blank behind it. */
static bool take_word(const char **at, const char *word)
{
  size_t length = strlen(word);
  if (strncmp(*at, word, length) != 0)
    return false;
  *at += length;
  return true;
}

static uint64_t take_number(const char **at)
{
  uint64_t number = 0;
  for (; **at >= '0' && **at <= '9'; ++*at)
    number = number * 10 + (uint64_t)(**at - '0');
  *at += **at == ' ';
  return number;
}

static bool take_event(const char *at, struct reconfiguration *change)
{
  uint64_t index = take_number(&at), frequency = take_number(&at), period = take_number(&at);
  if (index >= sampling_process.event_count || frequency > UINT32_MAX || (!frequency && !period))
    return false;
  change->rates = true;
  change->events[index].frequency = (uint32_t)frequency;
  change->events[index].period = period;
  return true;
}

/* Reads the filter from its file, whose name ends with the line. */
static const char *take_filter(const char *at, size_t length, const char *control_path, struct reconfiguration *change)
{
  static char path[4096 + 300]; /* too large for the interrupted stack */
  const char *end = at + length, *reason = "there is not enough memory for its filter";
  const char *slash = strrchr(control_path, '/');
  size_t before = slash ? (size_t)(slash - control_path) + 1 : 0;
  uint64_t size = take_number(&at);
  if (at > end || before + (size_t)(end - at) >= sizeof path || memchr(at, '/', (size_t)(end - at)))
    return "its filter has no name that it can use";
  memcpy(path, control_path, before);
  memcpy(path + before, at, (size_t)(end - at));
  path[before + (size_t)(end - at)] = 0;
  if (size)
    change->filter = filter_settings_read(path, size, &reason);
  else
    change->filter = sys_map(sizeof *change->filter);
  return change->filter ? NULL : reason;
}

static const char *take_line(const char *at, size_t length, const char *control_path, struct reconfiguration *change)
{
  if (take_word(&at, "level "))
    change->unsampled = *at == 's' && at[1] == 'u';
  else if (take_word(&at, "paused "))
    change->paused = *at == '1';
  else if (take_word(&at, "excluded "))
    change->excluded = *at == '1';
  else if (take_word(&at, "filter "))
    return take_filter(at, length - strlen("filter "), control_path, change);
  else if (!take_word(&at, "event ") || !take_event(at, change))
    return "it was measured by another version of hpcrun-lite";
  return NULL;
}

const char *reconfiguration_read(const char *text, const char *control_path, struct reconfiguration *change)
{
  const char *reason = NULL;
  *change = (struct reconfiguration){.paused = atomic_load(&rt.paused_by) & RT_PAUSED_PROGRAM,
                                     .unsampled = atomic_load(&sampling_process.unsampled),
                                     .excluded = atomic_load(&rt.paused_by) & RT_PAUSED_RANK};
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    change->events[i].frequency = sampling_process.events[i].frequency;
    change->events[i].period = sampling_process.events[i].period;
  }
  while (!reason && *text) {
    const char *newline = strchr(text, '\n'), *end = newline ? newline : text + strlen(text);
    reason = take_line(text, (size_t)(end - text), control_path, change);
    text = newline ? newline + 1 : end;
  }
  return reason;
}

void reconfiguration_set_rates(const struct reconfiguration *change)
{
  for (unsigned i = 0; i < sampling_process.event_count; i++) {
    uint32_t frequency = change->events[i].frequency;
    uint64_t period = change->events[i].period;
    if (sampling_process.events[i].frequency == frequency && (frequency || sampling_process.events[i].period == period))
      continue;
    __atomic_store_n(&sampling_process.events[i].frequency, frequency, __ATOMIC_RELAXED);
    __atomic_store_n(&sampling_process.events[i].period, period, __ATOMIC_RELAXED);
    atomic_store(&control_process.rates_ns[i], times_elapsed_ns());
  }
}

/* ---- filters ---- */

bool reconfiguration_is_structure(const struct filter *filter)
{
  return filter->constructs || filter_now()->constructs;
}

void reconfiguration_publish(struct filter *filter)
{
  if (filter->paths)
    atomic_store(&sampling_process.known_contexts, true);
  filter_publish(filter, times_elapsed_ns());
}

void reconfiguration_forget(struct thread_state *t)
{
  bool limited = filter_now()->regions.length;
  for (unsigned i = 0; i < construct_of(t)->user_depth && i < RT_USER_REGIONS; i++) {
    struct user_region *region = &construct_of(t)->user_regions[i];
    region->wanted = limited && region->name && filter_user_region(table_at(modules_strings(), region->name));
  }
  task_creation_forget(t);
  construct_forget(t);
}
