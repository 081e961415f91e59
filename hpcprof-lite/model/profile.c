#include "hpcprof-lite/model/profile.h"

#include "common/mpi_functions.h"
#include "common/order.h"
#include "common/xalloc.h"

#include <assert.h>
#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

static void release_workspan(struct profile_workspan *workspan)
{
  for (uint32_t i = 0; i < workspan->directives_count; i++)
    free(workspan->directives[i].name);
  free(workspan->directives);
  free(workspan->unit);
  *workspan = (struct profile_workspan){0};
}

static void release_marks(struct profile_marks *marks)
{
  free(marks->marks);
  free(marks->counts);
  free(marks->text);
  *marks = (struct profile_marks){0};
}

uint64_t profile_user_phase_end(const struct profile_process *process, uint32_t mark)
{
  assert(mark < process->marks.marks_count && process->marks.marks[mark].user_phase);
  const struct profile_marks *marks = &process->marks;
  uint64_t start_ns = marks->marks[mark].at_ns;
  for (uint32_t i = mark + 1; i < marks->marks_count; i++)
    if (marks->marks[i].user_phase)
      return marks->marks[i].at_ns;
  return MAX(process->wall_ns, start_ns);
}

void profile_release_process(struct profile_process *process)
{
  free(process->path);
  free(process->host);
  free(process->command);
  free(process->runtime);
  free(process->notes);
  free(process->limits);
  free(process->mpi_library);
  free(process->threads);
  free(process->directive_map);
  construct_times_release(&process->constructs);
  release_marks(&process->marks);
  free(process->devices);
  release_workspan(&process->workspan);
}

void profile_release(struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    profile_release_process(&profile->processes[i]);
    problems_release(&profile->problems[i]);
  }
  free(profile->processes);
  free(profile->problems);
  construct_times_release(&profile->constructs);
  release_workspan(&profile->workspan);
  contexts_release(&profile->contexts);
  catalog_release(&profile->catalog);
}

const char *profile_lock_name(uint64_t kind)
{
  assert(kind < LOCK_KINDS);
#define NAME(enumerator, name) name,
  static const char *const names[LOCK_KINDS] = {FORMAT_LOCK_LIST(NAME)};
#undef NAME
  return names[kind];
}

const char *profile_directive_name(uint32_t kind)
{
  assert(kind < CONSTRUCT_KINDS);
#define NAME(prefix, enumerator, name) name,
  static const char *const names[CONSTRUCT_KINDS] = {FORMAT_CONSTRUCT_LIST(NAME)};
  return names[kind];
}

const char *profile_chunks_note(const struct profile *profile)
{
  bool unseen = profile->workspan.known && profile->workspan.unseen & UNSEEN_CHUNKS;
  return unseen ? "Chunks of loops are not known: all that one thread runs of a loop counts as one" : NULL;
}

bool profile_by_wall(const struct profile_process *process)
{
  static const char wall[] = "event: wall,";
  const char *at = strstr(process->notes, wall);
  return at && (at == process->notes || at[-1] == '\n');
}

bool profile_unsampled(const struct profile_process *process)
{
  static const char none[] = "event: none,";
  return strncmp(process->notes, none, sizeof none - 1) == 0;
}

/* ---- filters ---- */

/* A part of a process's notes. */
struct note {
  const char *text;
  size_t length;
};

/* What stands behind `begin` in the line of the notes that begins so; text NULL: there is none. */
static struct note find_note(const struct profile_process *process, const char *begin)
{
  size_t skip = strlen(begin);
  for (const char *at = process->usable ? process->notes : ""; *at;) {
    size_t line = strcspn(at, "\n");
    if (line >= skip && !strncmp(at, begin, skip))
      return (struct note){at + skip, line - skip};
    at += line + (at[line] == '\n');
  }
  return (struct note){0};
}

bool profile_paused(const struct profile_process *process)
{
  return find_note(process, PROFILE_NOTE_PAUSED).text;
}

/* For how long the process was paused, or not sampled. */
static uint64_t lacking_ns(const struct profile_process *process, bool paused)
{
  if (!process->usable)
    return 0;
  if (paused)
    return process->paused_ns;
  return profile_unsampled(process) ? 0 : process->unsampled_ns;
}

struct construct_figures profile_light_regions(const struct profile *profile)
{
  struct construct_figures sum = {0};
  for (uint32_t i = 1; i < profile->workspan.directives_count; i++) {
    const struct profile_directive *directive = &profile->workspan.directives[i];
    if (directive->kind != DIRECTIVE_PARALLEL || !directive->light)
      continue;
    model_add(&sum.count, directive->instances);
    model_add(&sum.light, directive->light);
    model_add(&sum.error_squares, directive->error_squares);
  }
  return sum;
}

struct profile_untimed profile_untimed(const struct profile *profile)
{
  struct profile_untimed sum = {0};
  for (uint32_t i = 1; i < profile->workspan.directives_count; i++) {
    const struct profile_directive *directive = &profile->workspan.directives[i];
    model_add(&sum.tasks, directive->untimed);
    model_add(&sum.early, directive->early);
  }
  return sum;
}

bool profile_untimed_text(const struct profile *profile, char text[PROFILE_UNTIMED_MAX])
{
  const struct profile_workspan *workspan = &profile->workspan;
  struct profile_untimed untimed = profile_untimed(profile);
  text[0] = '\0';
  if (untimed.tasks)
    snprintf(
        text, PROFILE_UNTIMED_MAX,
        "spans may be too short, by at most %.2g %.80s: %" PRIu64 " tasks were created without a reading of the clock",
        (double)untimed.early / (workspan->is_time ? 1e9 : 1), workspan->is_time ? "s" : workspan->unit, untimed.tasks);
  return untimed.tasks;
}

struct construct_figures profile_light(const struct profile *profile)
{
  struct construct_figures sum = {0};
  const struct construct_node *nodes = profile->constructs.nodes;
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct construct_times *times = &profile->processes[i].constructs;
    for (uint32_t j = 0; j < times->rows_count && profile->processes[i].usable; j++) {
      const struct construct_figures *figures = &times->rows[j].figures;
      uint32_t kind = nodes[times->rows[j].node].kind;
      if (kind != DIRECTIVE_LOCK && kind != DIRECTIVE_CRITICAL && kind != CONSTRUCT_ATOMIC)
        continue;
      model_add(&sum.count, figures->light ? figures->count : 0);
      model_add(&sum.light, figures->light);
    }
  }
  return sum;
}

bool profile_pauses(const struct profile *profile, bool paused, char *text, size_t size)
{
  assert(text && size);
  enum { SHOWN = 4 };
  uint32_t found = 0;
  size_t at = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    const struct profile_process *process = &profile->processes[i];
    uint64_t ns = lacking_ns(process, paused);
    char name[32] = "";
    if (!ns || found++ >= SHOWN || at >= size)
      continue;
    if (profile->processes_usable > 1)
      snprintf(name, sizeof name, " in process %" PRIu32, process->pid);
    at += (size_t)snprintf(text + at, size - at, "%s%.3f s of %.3f s%s", found > 1 ? ", " : "", (double)ns / 1e9,
                           (double)process->wall_ns / 1e9, name);
  }
  if (found > SHOWN && at < size)
    snprintf(text + at, size - at, ", and in %" PRIu32 " more", found - SHOWN);
  return found;
}

static bool same(struct note a, struct note b)
{
  return a.text && b.text && a.length == b.length && !memcmp(a.text, b.text, a.length);
}

/* Takes a moment in seconds off, which stands behind that word in a note of a filter: "(from 1.5 s to 2.0 s)". */
static bool take_moment(struct note *note, const char *word, double *moment_s)
{
  size_t skip = strlen(word);
  char number[32];
  if (note->length <= skip || strncmp(note->text, word, skip) != 0)
    return false;
  size_t length = strspn(note->text + skip, "0123456789.");
  snprintf(number, sizeof number, "%.*s", (int)length, note->text + skip);
  *moment_s = strtod(number, NULL);
  *note = (struct note){note->text + skip + length, note->length - skip - length};
  return length;
}

/* Whether two processes had the same filters at about the same times: each hears a command at its own moment, and
 * counts from its own start. */
static bool same_filter(struct note a, struct note b)
{
  static const char *const words[] = {"(from ", "(until ", " to "};
  enum { APART_S = 1 };
  double first_s, second_s;
  while (a.length && b.length) {
    bool moments = false;
    for (size_t i = 0; i < sizeof words / sizeof *words && !moments; i++) {
      struct note rest = a, others = b;
      moments = take_moment(&rest, words[i], &first_s) && take_moment(&others, words[i], &second_s);
      a = moments ? rest : a;
      b = moments ? others : b;
    }
    if (moments ? first_s > second_s + APART_S || second_s > first_s + APART_S : *a.text != *b.text)
      return false;
    a = moments ? a : (struct note){a.text + 1, a.length - 1};
    b = moments ? b : (struct note){b.text + 1, b.length - 1};
  }
  return a.text && b.text && a.length == b.length;
}

/* Takes the next name of a list. */
static bool next_name(struct note *list, struct note *name)
{
  if (!list->length)
    return false;
  const char *comma = memchr(list->text, ',', list->length);
  *name = (struct note){list->text, comma ? (size_t)(comma - list->text) : list->length};
  size_t taken = name->length;
  while (taken < list->length && (list->text[taken] == ',' || list->text[taken] == ' '))
    taken++;
  *list = (struct note){list->text + taken, list->length - taken};
  return true;
}

/* Whether no process with that filter has found the name. */
static bool in_no_program(const struct profile *profile, struct note filter, struct note name)
{
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    struct note list = find_note(&profile->processes[i], PROFILE_NOTE_MISSING), other;
    bool missing = !same_filter(filter, find_note(&profile->processes[i], PROFILE_NOTE_FILTERED));
    while (!missing && next_name(&list, &other))
      missing = same(name, other);
    if (!missing)
      return false;
  }
  return true;
}

/* Appends to a text of `size` bytes what fits; "..." at its end stands for what does not. */
static void append(char *text, size_t size, const char *before, struct note note)
{
  assert(size && strlen(text) < size);
  static const char cut[] = "...";
  size_t at = strlen(text);
  int length = snprintf(text + at, size - at, "%s%.*s", before, (int)note.length, note.text);
  if (length >= 0 && (size_t)length >= size - at && size >= sizeof cut)
    memcpy(text + size - sizeof cut, cut, sizeof cut);
}

/* Appends what the filter named and no program has. */
static void append_missing(const struct profile *profile, const struct profile_process *process, struct note filter,
                           char *text, size_t size)
{
  struct note list = find_note(process, PROFILE_NOTE_MISSING), name;
  for (unsigned count = 0; next_name(&list, &name);)
    if (in_no_program(profile, filter, name))
      append(text, size, count++ ? ", " : "; found in no program: ", name);
}

bool profile_filtered(const struct profile *profile, char *text, size_t size)
{
  assert(text && size);
  enum { SHOWN = 8 };
  struct note shown[SHOWN];
  unsigned count = 0, more = 0;
  text[0] = '\0';
  for (uint32_t i = 0; i < profile->processes_count; i++) {
    struct note filter = find_note(&profile->processes[i], PROFILE_NOTE_FILTERED);
    bool known = !filter.text;
    for (unsigned before = 0; before < count && !known; before++)
      known = same_filter(filter, shown[before]);
    more += !known && count == SHOWN;
    if (known || count == SHOWN)
      continue;
    shown[count++] = filter;
    append(text, size, *text ? "; in other processes: " : "", filter);
    append_missing(profile, &profile->processes[i], filter, text, size);
  }
  if (more) {
    char others[64];
    int length = snprintf(others, sizeof others, "others in %u more process%s", more, more == 1 ? "" : "es");
    append(text, size, "; ", (struct note){others, (size_t)length});
  }
  return *text;
}

const struct profile_process *profile_with_runtime(const struct profile *profile)
{
  for (uint32_t i = 0; i < profile->processes_count; i++)
    if (profile->processes[i].usable && *profile->processes[i].runtime)
      return &profile->processes[i];
  return NULL;
}

const struct profile_thread *profile_initial_thread(const struct profile_process *process)
{
  for (uint32_t i = 0; i < process->threads_count; i++)
    if (process->threads[i].flags & THREAD_OPENMP)
      return &process->threads[i];
  return NULL;
}

void profile_clocks_text(const struct profile_clocks *clocks, char *text, size_t size)
{
  int length = snprintf(text, size, "clocks of %u hosts are corrected by their messages", clocks->hosts);
  if (clocks->open_ns < 0)
    snprintf(text + length, size - (size_t)length, ", some of which arrive too early by them: by up to %.3f us",
             -clocks->open_ns / 1e3);
  else
    snprintf(text + length, size - (size_t)length,
             ": if they are linear, times are exact to +-%.3f us, each wait between hosts to +-%.3f us",
             clocks->open_ns / 1e3, clocks->wait_ns / 1e3);
}

bool profile_in_job(const struct profile_process *process)
{
  return process->usable && process->workspan.known && process->mpi_size > 1;
}

uint32_t profile_thread_position(const struct profile_process *process, uint32_t index)
{
  uint32_t at = (uint32_t)FIRST_WHERE(i, process->threads_count, process->threads[i].index >= index);
  return at < process->threads_count && process->threads[at].index == index ? at : MODEL_NONE;
}

uint64_t profile_system_error_ns(uint64_t tick_ns, uint64_t system_ns, uint64_t user_ns)
{
  double cpu_ns = (double)system_ns + (double)user_ns;
  return cpu_ns > 0 ? model_rounded(sqrt((double)tick_ns * (double)system_ns * ((double)user_ns / cpu_ns))) : 0;
}

/* A thread's life begins or ends. */
struct life_event {
  uint64_t at_ns;
  int change;
};

ORDER(by_time, struct life_event, COMPARE(x->at_ns, y->at_ns) ?: COMPARE(x->change, y->change))

uint32_t profile_most_at_once(const struct profile_process *process, profile_thread_meant *meant, const void *of)
{
  struct life_event *events = xcalloc(process->threads_count, 2 * sizeof *events);
  uint32_t count = 0;
  for (uint32_t i = 0; i < process->threads_count; i++) {
    const struct profile_thread *thread = &process->threads[i];
    if (meant && !meant(thread, of))
      continue;
    events[count++] = (struct life_event){thread->start_ns, 1};
    events[count++] = (struct life_event){model_sum(thread->start_ns, thread->wall_ns), -1};
  }
  if (count)
    qsort(events, count, sizeof *events, by_time);
  int now = 0, most = 0;
  for (uint32_t i = 0; i < count; i++) {
    now += events[i].change;
    most = MAX(most, now);
  }
  free(events);
  return (uint32_t)most;
}

bool profile_any_usage(const struct profile *profile)
{
  bool any = false;
  for (uint32_t i = 0; i < profile->processes_usable; i++)
    any |= profile_usage_known(&profile->processes[i]);
  return any;
}

const char *profile_mpi_name(uint32_t function)
{
  return function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS ? mpi_function_name(function) : "";
}

const char *profile_mpi_kind(uint32_t function)
{
  static const char *const kinds[] = {[MPI_KIND_INIT] = "init",
                                      [MPI_KIND_FINALIZE] = "finalize",
                                      [MPI_KIND_SEND] = "send",
                                      [MPI_KIND_RECEIVE] = "receive",
                                      [MPI_KIND_SENDRECV] = "send and receive",
                                      [MPI_KIND_START_SEND] = "start send",
                                      [MPI_KIND_START_RECEIVE] = "start receive",
                                      [MPI_KIND_START_SENDRECV] = "start send and receive",
                                      [MPI_KIND_PREPARE] = "prepare",
                                      [MPI_KIND_START] = "start",
                                      [MPI_KIND_WAIT] = "wait",
                                      [MPI_KIND_TEST] = "test",
                                      [MPI_KIND_REQUEST] = "request",
                                      [MPI_KIND_PROBE] = "probe",
                                      [MPI_KIND_BUFFER] = "buffer",
                                      [MPI_KIND_COLLECTIVE] = "collective",
                                      [MPI_KIND_START_COLLECTIVE] = "start collective",
                                      [MPI_KIND_COMMUNICATOR] = "communicator",
                                      [MPI_KIND_CONNECT] = "connect",
                                      [MPI_KIND_ONE_SIDED] = "one-sided",
                                      [MPI_KIND_ONE_SIDED_SYNC] = "one-sided synchronization",
                                      [MPI_KIND_WINDOW] = "window",
                                      [MPI_KIND_FILE] = "file"};
  return function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS ? kinds[mpi_function_kind(function)] : "";
}

static bool mpi_is_of_kind(uint32_t function, const enum mpi_kind *kinds, size_t count)
{
  for (size_t i = 0; i < count && function > MPI_FUNCTION_NONE && function < MPI_FUNCTIONS; i++)
    if (mpi_function_kind(function) == kinds[i])
      return true;
  return false;
}

bool profile_mpi_sends(uint32_t function)
{
  static const enum mpi_kind kinds[] = {MPI_KIND_SEND, MPI_KIND_START_SEND, MPI_KIND_SENDRECV, MPI_KIND_START_SENDRECV};
  return mpi_is_of_kind(function, kinds, sizeof kinds / sizeof *kinds);
}

bool profile_mpi_begins_or_ends(uint32_t function)
{
  static const enum mpi_kind kinds[] = {MPI_KIND_INIT, MPI_KIND_FINALIZE};
  return mpi_is_of_kind(function, kinds, sizeof kinds / sizeof *kinds);
}
