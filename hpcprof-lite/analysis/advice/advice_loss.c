#include "hpcprof-lite/analysis/advice/advice_loss.h"

#include "common/words.h"
#include "hpcprof-lite/model/names.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* What is left of a category; in seconds of all threads. */
struct left {
  double s[TIMELINE_CATEGORIES];
  double outside_s;  /* of blocked time: threads outside OpenMP slept, beside those of OpenMP */
  double unplaced_s; /* of the rest of blocked time: its place is not known */
  double rest_s;
};

static bool is_loss(enum timeline_category category)
{
  return category != TIMELINE_WORK && category != TIMELINE_TOOL && category != TIMELINE_GAP;
}

/* Takes that much from the categories of a class.  Returns how much there was. */
static double take(struct left *left, uint32_t categories, double wanted_s)
{
  double taken_s = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++) {
    if (!(categories & 1u << i) || !is_loss(i))
      continue;
    double part_s = fmin(left->s[i], wanted_s - taken_s);
    left->s[i] -= part_s;
    taken_s += part_s;
  }
  return taken_s;
}

/* Appends "0.123 s WORDS" to a list. */
static void __attribute__((format(printf, 3, 4))) add_part(char *text, double s, const char *format, ...)
{
  size_t length = strlen(text);
  if (s < 0.0005)
    return;
  va_list arguments;
  length += (size_t)snprintf(text + length, ADVICE_EVIDENCE_MAX - length, "%s%.3f s ", length ? ", " : "", s);
  if (length >= ADVICE_EVIDENCE_MAX)
    return;
  va_start(arguments, format);
  vsnprintf(text + length, ADVICE_EVIDENCE_MAX - length, format, arguments);
  va_end(arguments);
}

static void add_rest(struct advice *advice, enum advice_class class, double loss_s, const char *text)
{
  if (loss_s <= 0)
    return;
  struct advice_finding *found =
      advice_add(advice, class, 0, "All threads together: %s", *text ? text : "less than 1 ms each");
  found->loss_s = loss_s;
}

static void add_other(const struct advice_input *input, struct advice *advice, struct left *left, double per)
{
  const struct advice_blocked *blocked = &input->all_blocked;
  double placed_s = left->s[TIMELINE_BLOCKED] - left->unplaced_s - left->outside_s,
         cores_s = left->s[TIMELINE_CORE_WAIT];
  double beside_s = take(left, 1u << TIMELINE_IDLE, per > 0 ? input->beside_s / per : 0);
  double sum_s = beside_s + left->s[TIMELINE_OVERHEAD] + left->s[TIMELINE_LOCK_WAIT] + placed_s + left->outside_s +
                 cores_s + left->s[TIMELINE_NO_CORE] + left->s[TIMELINE_MPI] + left->s[TIMELINE_DEVICE];
  char text[ADVICE_EVIDENCE_MAX] = "", symbol[WORDS_SYMBOL];
  add_part(text, beside_s, "without work while threads outside OpenMP ran");
  add_part(text, left->s[TIMELINE_OVERHEAD], "in the OpenMP runtime");
  add_part(text, left->s[TIMELINE_LOCK_WAIT], "waiting for locks");
  add_part(text, left->s[TIMELINE_MPI], "in calls of MPI");
  add_part(text, left->s[TIMELINE_DEVICE], "waiting for devices");
  if (blocked->function && *blocked->function && *blocked->file && blocked->s > 0)
    add_part(text, placed_s, "blocked in calls, most of it %s %s (%.80s:%" PRIu32 ")", blocked->near ? "near" : "in",
             words_symbol(blocked->function, symbol), names_base(blocked->file), blocked->line);
  else
    add_part(text, placed_s, "blocked in calls");
  add_part(text, left->outside_s, "blocked in threads outside OpenMP");
  add_part(text, cores_s, "ready to run without a core");
  add_part(text, left->s[TIMELINE_NO_CORE], "waiting for threads without a core");
  add_rest(advice, ADVICE_OTHER, sum_s * per, text);
}

static void add_unexplained(struct advice *advice, const struct left *left, double per)
{
  char text[ADVICE_EVIDENCE_MAX] = "";
  add_part(text, left->s[TIMELINE_IDLE], "without work ('hpcrun-lite -t' and the view timeline show when)");
  add_part(text, left->unplaced_s, "blocked in calls that are not known ('hpcrun-lite -e wall' shows them)");
  add_part(text, left->rest_s, "not accounted for by the measurement");
  add_rest(advice, ADVICE_UNEXPLAINED, (left->s[TIMELINE_IDLE] + left->unplaced_s + left->rest_s) * per, text);
}

/* For how long threads outside OpenMP slept in processes with OpenMP. */
static double blocked_outside_s(const struct profile *profile)
{
  double sum_s = 0;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    for (uint32_t j = 0; j < process->threads_count && process->flags & PROCESS_OMPT; j++)
      sum_s += process->threads[j].flags & THREAD_OPENMP ? 0 : advice_seconds(process->threads[j].blocked_ns);
  }
  return sum_s;
}

/* The elapsed time for a second of all threads. */
static double elapsed_of(const struct advice_input *input, const struct advice *advice)
{
  double all_s = advice_seconds(input->all_ns + input->rest_ns) - advice_seconds(input->ns[TIMELINE_TOOL]);
  return all_s > 0 ? advice->elapsed_s / all_s : 0;
}

double advice_loss_most(const struct advice_input *input, const struct advice *advice, enum advice_class class)
{
  assert(class < ADVICE_REMARKS);
  double sum_s = 0;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (advice_classes[class].categories & 1u << i)
      sum_s += advice_seconds(input->ns[i]);
  return sum_s * elapsed_of(input, advice);
}

/* Whether samples, of which there are none, would have to tell what threads did with their time: with OpenMP that is
 * what no category has, without it all CPU time. */
static bool lacks_samples(const struct advice_input *input)
{
  enum { SMALL_PART = 100 };
  uint64_t unknown_ns = input->rest_ns;
  for (uint32_t i = 0; i < input->profile->processes_count; i++) {
    const struct profile_process *process = &input->profile->processes[i];
    if (process->flags & PROCESS_OMPT)
      continue;
    for (uint32_t j = 0; j < process->threads_count; j++)
      model_add(&unknown_ns, process->threads[j].cpu_ns);
  }
  return !input->samples && !input->unsampled && unknown_ns > input->all_ns / SMALL_PART;
}

void advice_loss_divide(const struct advice_input *input, struct advice *advice)
{
  double per = elapsed_of(input, advice);
  advice->loss_s = -1;
  if (lacks_samples(input))
    return;
  double placed_s = input->by_wall ? INFINITY : input->all_blocked.all_s;
  struct left left = {.rest_s = advice_seconds(input->rest_ns)};
  advice->loss_s = left.rest_s * per;
  for (unsigned i = 0; i < TIMELINE_CATEGORIES; i++)
    if (is_loss(i)) {
      left.s[i] = advice_seconds(input->ns[i]);
      advice->loss_s += left.s[i] * per;
    }
  left.unplaced_s = fmax(0, left.s[TIMELINE_BLOCKED] - placed_s);
  for (uint32_t i = 0; i < advice->count && per > 0; i++) {
    struct advice_finding *found = &advice->found[i];
    double explained_s = found->explained_s > 0 ? found->explained_s : found->gain_s;
    found->loss_s = take(&left, advice_classes[found->class].categories, explained_s / per) * per;
  }
  left.outside_s = fmin(blocked_outside_s(input->profile), left.s[TIMELINE_BLOCKED]);
  advice->outside_s = left.outside_s * per;
  left.unplaced_s = fmin(left.unplaced_s, left.s[TIMELINE_BLOCKED] - left.outside_s);
  add_other(input, advice, &left, per);
  add_unexplained(advice, &left, per);
}
