#include "hpcrun-lite/rt/control/command.h"

#include <stdatomic.h>
#include <string.h>

#include "hpcrun-lite/rt/construct/construct.h"
#include "hpcrun-lite/rt/control/answer.h"
#include "hpcrun-lite/rt/control/reconfiguration.h"
#include "hpcrun-lite/rt/core/ctl_calls.h"
#include "hpcrun-lite/rt/core/pinned.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/marks/marks.h"
#include "hpcrun-lite/rt/sampling/live_threads.h"
#include "hpcrun-lite/rt/sampling/source.h"
#include "hpcrun-lite/rt/sampling/times.h"
#include "hpcrun-lite/rt/span/span.h"

/* The value of a signal by which a thread that carries out a command asks another one. */
static const char command_request = 0;

struct control_process control_process;

enum {
  INLINE_FRAMES_MAX = 40
}; /* of asking all threads: then it goes on without those that do not receive the signal */

/* Whether a thread counts (rt.pauses) and is sampled (sampling_process.unsampled). */
struct mode {
  bool paused, unsampled;
};

enum { MARK_MAX = 255 }; /* bytes of a mark's name */

/* `busy` is held by the thread that uses the plain fields.  answered and pending are also read without it: a repeated
 * signal that sees an old value finds no new command. */
static struct {
  char path[PINNED_PATH_BYTES];
  atomic_flag busy;
  _Atomic uint32_t answered; /* the last command that needs no further signal */
  _Atomic uint32_t pending;  /* the flush that CTL will answer; 0: none */
  uint32_t under_way;        /* the command whose steps are counted */
  unsigned steps;
  _Atomic uint64_t ended_samples, ended_lost;
  struct reconfiguration change;  /* of the command that is under way */
  struct filter *_Atomic waiting; /* CTL will publish it; NULL: none */
  atomic_uint cuts;               /* how often all threads were asked to end their intervals */
  atomic_bool rearm;              /* threads that follow arm their sources anew */
  struct control_command command;
  struct control_answer answer;
} state = {.busy = ATOMIC_FLAG_INIT};

/* ---- the answer's text ---- */

static void put_text(const char *text)
{
  answer_text(&state.answer, text);
}

static void put_number(const char *name, uint64_t number)
{
  answer_number(&state.answer, name, number);
}

static enum control_state refuse(const char *why)
{
  put_text(why);
  return CONTROL_REFUSED;
}

/* ---- the control file ---- */

/* Opens the file if it is private to the user that the process runs as, and reads the command. */
static bool read_command(struct sys_own *file)
{
  struct control_command *command = &state.command;
  struct sys_facts facts;
  if (!state.path[0] || pinned_find(state.path, file))
    return false;
  if (sys_facts(file, &facts) && !facts.shared && facts.size == CONTROL_FILE_SIZE &&
      sys_read_at(file, 0, command, sizeof *command) && command->magic == CONTROL_MAGIC &&
      command->length < sizeof command->text && !memchr(command->text, 0, command->length)) {
    command->text[command->length] = 0;
    return true;
  }
  sys_close_own(file);
  return false;
}

void command_start(const char *path)
{
  struct sys_own file;
  size_t length = strlen(path);
  __builtin_memset(&state, 0, sizeof state);
  atomic_flag_clear(&state.busy);
  atomic_store(&control_process.serial_wanted, false);
  if (length < sizeof state.path)
    memcpy(state.path, path, length + 1);
  if (!read_command(&file))
    return;
  if (state.command.deferred) /* by a process that was killed, and had the same id */
    pinned_remove_opened(state.path, &file);
  sys_close_own(&file);
}

void command_finish(void)
{
  struct sys_own file;
  if (state.path[0] && !pinned_find(state.path, &file)) { /* whatever is in it: a handler may be reading the command */
    pinned_remove_opened(state.path, &file);
    sys_close_own(&file);
  }
  state.path[0] = 0;
}

static void write_answer(const struct sys_own *file)
{
  const struct control_answer *answer = &state.answer;
  const size_t head = offsetof(struct control_answer, text);
  int error;
  sys_write_at(file, CONTROL_ANSWER_OFFSET + head, answer->text, answer->length, &error);
  if (!error)
    sys_write_at(file, CONTROL_ANSWER_OFFSET, answer, head, &error);
}

/* ---- commands ---- */

/* Losses in records of threads and of the process, except those that are none of samples or structure. */
static bool is_loss(unsigned kind)
{
  return kind != FORMAT_LOST_IN_TOOL && kind != FORMAT_LOST_RATE && kind != FORMAT_LOST_WRITES;
}

static uint64_t losses(const uint64_t *lost)
{
  uint64_t sum = 0;
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    sum += is_loss(i) ? lost[i] : 0;
  return sum;
}

void command_thread_started(struct thread_state *t)
{
  control_of(t)->cuts = atomic_load(&state.cuts); /* a command that comes in between asks this thread again */
}

void command_thread_ended(const struct format_thread *record)
{
  atomic_fetch_add(&state.ended_samples, record->samples);
  atomic_fetch_add(&state.ended_lost, losses(record->lost));
}

/* How long measuring has been paused, or has gone on since. */
static uint64_t since_ns(uint64_t elapsed_ns)
{
  uint32_t changes = atomic_load(&rt.pauses);
  uint64_t now = rt_ticks(), at = changes ? atomic_load(&rt.paused_at[(changes - 1) % RT_PAUSES]) : 0;
  uint64_t passed_ns = changes && now > at ? rt_ticks_to_ns(now - at) : elapsed_ns;
  return passed_ns < elapsed_ns ? passed_ns : elapsed_ns;
}

static enum control_state status(void)
{
  uint64_t samples = atomic_load(&state.ended_samples), lost = atomic_load(&state.ended_lost), process_lost = 0;
  uint64_t elapsed_ns = times_elapsed_ns();
  uint32_t threads = 0;
  for (uint32_t i = 0; i < live_threads(); i++) {
    const struct thread_state *t = live_thread(i);
    const struct format_thread *record = t ? t->record : NULL;
    if (!record)
      continue;
    threads++;
    samples += record->samples;
    lost += losses(record->lost);
  }
  for (unsigned i = 0; i < FORMAT_LOST_MAX; i++)
    process_lost += is_loss(i) && i != FORMAT_LOST_UNKNOWN ? atomic_load(&rt.lost[i]) : 0; /* of no measured thread */
  put_number("paused=", rt_paused());
  put_number(" by=", atomic_load(&rt.paused_by));
  put_number(" summary=", atomic_load(&sampling_process.unsampled));
  put_number(" samples=", samples);
  put_number(" threads=", threads);
  put_number(" lost=", lost + process_lost);
  put_number(" elapsed_ns=", elapsed_ns);
  put_number(" since_ns=", since_ns(elapsed_ns));
  return CONTROL_DONE;
}

/* The calling thread ends the interval that it counts, and arms or disarms its sources.  It is inside. */
static void follow(struct thread_state *t)
{
  uint32_t cuts = atomic_load(&state.cuts); /* first: a change that comes meanwhile is followed at the next signal */
  bool unsampled = atomic_load(&sampling_process.unsampled), quiet = unsampled || !filter_thread(t->index);
  times_unsampled(t, unsampled && filter_thread(t->index));
  if (quiet || atomic_load(&state.rearm))
    source_quiet(t);
  if (!quiet)
    source_wake(t);
  if (filter_now()->before)
    reconfiguration_forget(t);
  if (span_process.online && span_of(t)->end_slot && !rt_graph_suspended()) {
    construct_pause(t, rt_ticks());
    span_cut(t);
  }
  __atomic_store_n(&control_of(t)->cuts, cuts, __ATOMIC_RELEASE);
}

/* Asks all threads that have not followed yet.  Returns how many there are; those that sleep in a call of the program
 * do not run, and are asked without being waited for. */
static unsigned ask_others(const struct thread_state *self)
{
  unsigned missing = 0;
  for (uint32_t i = 0; i < live_threads(); i++) {
    struct thread_state *t = live_thread(i);
    if (!t || t == self || __atomic_load_n(&control_of(t)->cuts, __ATOMIC_ACQUIRE) == atomic_load(&state.cuts))
      continue;
    sys_signal_thread(rt.pid, t->tid, SAMPLE_SIGNAL, (void *)&command_request);
    missing += !__atomic_load_n(&t->activity.call, __ATOMIC_RELAXED);
  }
  return missing;
}

/* The filter's skip-first or only pauses measuring now. */
static bool time_is_filtered(void)
{
  return atomic_load(&rt.paused_by) & RT_PAUSED_TIME_FILTER;
}

/* follow_anyway: all threads follow in any case. */
static enum control_state change_mode(struct thread_state *t, struct mode mode, bool follow_anyway)
{
  bool paused = atomic_load(&rt.paused_by) & RT_PAUSED_PROGRAM; /* a filter may pause it as well */
  bool same = paused == mode.paused && atomic_load(&sampling_process.unsampled) == mode.unsampled && !follow_anyway;
  if (state.steps == 0 && same) {
    put_text(!mode.paused && time_is_filtered() ? "filtered" : "already");
    return CONTROL_DONE;
  }
  if (state.steps++ == 0) {
    times_process_unsampled(mode.unsampled);
    atomic_store(&state.rearm, state.change.rates);
    atomic_fetch_add(&state.cuts, 1);
  }
  if (control_of(t)->cuts != atomic_load(&state.cuts))
    follow(t);
  if (ask_others(t) && state.steps < INLINE_FRAMES_MAX && !state.command.deferred)
    return CONTROL_AGAIN;
  rt_pause(mode.paused);
  put_number("threads=", ask_others(t));
  if (!mode.paused && time_is_filtered())
    put_text(" filtered");
  return CONTROL_DONE;
}

/* What is written to a change's answer goes to its end, and what waits for CTL is asked for. */
static enum control_state ask_serial(void)
{
  atomic_store(&state.pending, state.command.id);
  atomic_store(&control_process.serial_wanted, true);
  return CONTROL_PENDING;
}

/* New settings.  All that can be refused is refused before anything changes. */
static enum control_state configure(struct thread_state *t, const char *text)
{
  struct reconfiguration *change = &state.change;
  if (state.steps == 0) {
    const char *reason = reconfiguration_read(text, state.path, change);
    if (reason)
      return refuse(reason);
    if (change->rates)
      reconfiguration_set_rates(change);
    bool waits = change->filter && rt.ompt && span_process.online && reconfiguration_is_structure(change->filter);
    if (change->filter)
      atomic_store(&state.waiting, waits ? change->filter : NULL);
    if (change->filter && !waits) {
      reconfiguration_publish(change->filter);
      filter_settings_record();
    }
  }
  bool was_excluded = atomic_load(&rt.paused_by) & RT_PAUSED_RANK;
  bool follow_anyway = change->rates || change->filter || change->excluded != was_excluded;
  enum control_state reached = change_mode(t, (struct mode){change->paused, change->unsampled}, follow_anyway);
  if (reached != CONTROL_DONE)
    return reached;
  rt_pause_at(RT_PAUSED_RANK, change->excluded, rt_ticks());
  if (change->filter && atomic_load(&state.waiting) == change->filter)
    return ask_serial();
  return reached;
}

void command_change_filter(void)
{
  struct filter *filter = atomic_exchange(&state.waiting, NULL);
  if (!filter)
    return;
  reconfiguration_publish(filter);
  filter_settings_record();
  for (uint32_t i = 0; i < live_threads(); i++)
    if (live_thread(i))
      reconfiguration_forget(live_thread(i));
  atomic_fetch_add(&state.cuts, 1); /* a filter of threads: each arms or disarms its own sources */
}

/* Tables that only CTL can write are written when the process is single-threaded. */
static enum control_state flush(void)
{
  if (!arena_kept())
    return refuse("nothing was measured yet: no sample has been taken");
  if (!span_process.online || !rt.ompt) {
    put_text(span_process.online ? "no OpenMP" : "no graph");
    return CONTROL_DONE;
  }
  return ask_serial();
}

void command_flushed(bool written)
{
  enum { TRIES = 1000 };
  ask_others(NULL);
  struct sys_own file;
  uint32_t id = atomic_exchange(&state.pending, 0);
  for (int tries = 0; atomic_flag_test_and_set(&state.busy); tries++) {
    if (tries == TRIES)
      return;
    sys_yield();
  }
  if (id && read_command(&file)) {
    if (state.command.id == id) {
      bool flush_only = !strcmp(state.command.text, "flush"), done = written || !flush_only;
      state.answer = (struct control_answer){.id = id, .state = done ? CONTROL_DONE : CONTROL_REFUSED};
      if (flush_only)
        put_text(written ? "written" : "the file cannot be written");
      else
        put_text("threads=0");
      write_answer(&file);
    }
    sys_close_own(&file);
  }
  atomic_flag_clear(&state.busy);
}

static enum control_state mark(struct thread_state *t, const char *name)
{
  if (!*name || strlen(name) > MARK_MAX)
    return refuse("a mark has a name of 1 to 255 bytes");
  marks_add(t, FORMAT_MARK, name);
  return CONTROL_DONE;
}

static enum control_state carry_out(struct thread_state *t)
{
  static const char mark_word[] = "mark ", config_word[] = "config\n";
  const char *text = state.command.text;
  bool unsampled = atomic_load(&sampling_process.unsampled);
  if (!strcmp(text, "status"))
    return status();
  if (!strcmp(text, "start"))
    return change_mode(t, (struct mode){false, unsampled}, false);
  if (!strcmp(text, "stop"))
    return change_mode(t, (struct mode){true, unsampled}, false);
  if (!strcmp(text, "flush"))
    return flush();
  if (!strncmp(text, mark_word, sizeof mark_word - 1))
    return mark(t, text + sizeof mark_word - 1);
  if (!strncmp(text, config_word, sizeof config_word - 1))
    return configure(t, text + sizeof config_word - 1);
  if (!strcmp(text, "settings")) {
    const struct filter *waiting = atomic_load(&state.waiting);
    reconfiguration_put(&state.answer, waiting ? waiting : filter_now());
    return CONTROL_DONE;
  }
  return refuse("this process does not know the command: it was measured by another version of hpcrun-lite");
}

/* ---- signals ---- */

static bool from_commander(const siginfo_t *info)
{
  uint64_t value = (uint64_t)info->si_value.sival_ptr;
  return info->si_code == SI_QUEUE && value == control_signal_value(control_id((uint32_t)value)) && rt_home.ours &&
         (atomic_load(&rt.closed) || rt.pid == sys_pid()); /* closed: a sandbox may forbid system calls */
}

static bool from_thread(const siginfo_t *info)
{
  return info->si_code == SI_QUEUE && info->si_value.sival_ptr == &command_request && info->si_pid == rt.pid;
}

/* Carries out the command of that file, whose thread is inside. */
static void serve(struct thread_state *t, const struct sys_own *file)
{
  uint32_t id = state.command.id;
  if (state.under_way != id) {
    state.steps = 0;
    state.change = (struct reconfiguration){0};
  }
  state.under_way = id;
  state.answer = (struct control_answer){.id = id};
  state.answer.state = carry_out(t);
  if (state.answer.state != CONTROL_AGAIN)
    atomic_store(&state.answered, id);
  write_answer(file);
}

/* The commander's signal of that id. */
static void hear(uint32_t id, bool act)
{
  struct sys_own file;
  struct thread_state *t = rt_thread();
  if (!read_command(&file))
    return;
  bool waits = state.command.id != atomic_load(&state.answered) && (state.command.id == id || state.command.deferred);
  if (waits && !strcmp(state.command.text, CONTROL_WITHDRAWN)) {
    atomic_store(&state.answered, state.command.id);
    pinned_remove_opened(state.path, &file);
  } else if (act && waits && t && rt_enter(t)) {
    if (!rt_stopped())
      serve(t, &file);
    rt_leave(t);
  }
  sys_close_own(&file);
}

/* Also an old signal, which has been pending since its command was over. */
static void on_commander(const siginfo_t *info, bool act)
{
  if (atomic_load(&rt.closed) || atomic_flag_test_and_set(&state.busy))
    return;
  hear((uint32_t)(uint64_t)info->si_value.sival_ptr, act);
  atomic_flag_clear(&state.busy);
}

/* Follows a change of which the signal was dropped, too, because another one was pending. */
static void catch_up(void)
{
  struct thread_state *t = rt_thread();
  if (t && control_of(t)->cuts != atomic_load(&state.cuts) && rt_enter(t)) {
    if (!rt_stopped())
      follow(t);
    rt_leave(t);
  }
}

bool command_signal(const siginfo_t *info)
{
  bool commander = from_commander(info), ours = commander || from_thread(info);
  if (commander)
    on_commander(info, true);
  if (ours)
    catch_up();
  return ours;
}

bool command_absorb(const siginfo_t *info)
{
  bool commander = from_commander(info);
  if (commander)
    on_commander(info, false);
  return commander || from_thread(info);
}
