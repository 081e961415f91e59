#define _GNU_SOURCE
#include "hpcrun-lite/rt/device_trace.h"

#include <dlfcn.h>
#include <string.h>

#include "hpcrun-lite/rt/construct/devices.h"
#include "hpcrun-lite/rt/core/sys.h"

enum { BUFFERS = 16, BUFFER_BYTES = 64 * 1024 };

/* A moment by the device's clock, and in ticks of the host. */
struct clock_pair {
  uint64_t device, ticks;
};

static struct traced {
  atomic_bool on;
  int number;
  ompt_device_t *device;
  struct clock_pair first;
  ompt_get_device_time_t get_time;
  ompt_advance_buffer_cursor_t advance;
  ompt_get_record_type_t type_of;
  ompt_get_record_ompt_t record_at;
  ompt_trace_command_t flush, stop;
} traced[DEVICES_TRACED_MAX];

static struct {
  void *_Atomic memory; /* NULL: not mapped yet */
  atomic_bool used;
} buffers[BUFFERS];

void device_trace_start(void)
{
  for (unsigned i = 0; i < DEVICES_TRACED_MAX; i++)
    atomic_store(&traced[i].on, false);
  for (unsigned i = 0; i < BUFFERS; i++)
    atomic_store(&buffers[i].used, false);
}

static struct traced *find(int number)
{
  struct traced *found = number >= 0 && number < DEVICES_TRACED_MAX ? &traced[number] : NULL;
  return found && atomic_load_explicit(&found->on, memory_order_acquire) ? found : NULL;
}

/* ---- clocks ---- */

/* Both clocks now: of a few attempts the one that was interrupted least. */
static struct clock_pair read_clocks(const struct traced *traced)
{
  enum { ATTEMPTS = 5 };
  struct clock_pair best = {0};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < ATTEMPTS; i++) {
    uint64_t before = rt_ticks(), time = traced->get_time(traced->device), took = rt_ticks() - before;
    if (took < least) {
      least = took;
      best = (struct clock_pair){time, before + took / 2};
    }
  }
  return best;
}

/* How many ticks pass in a unit of the device's time, as a fraction of 2^32. */
struct clock_rate {
  uint64_t whole, fraction;
};

static struct clock_rate rate_between(struct clock_pair from, struct clock_pair to)
{
  uint64_t units = to.device - from.device, ticks = to.ticks - from.ticks;
  while (units >> 31) { /* so that remainders can be shifted */
    units >>= 1;
    ticks >>= 1;
  }
  return units ? (struct clock_rate){ticks / units, (ticks % units << 32) / units} : (struct clock_rate){0};
}

/* False: it is not between the two. */
static bool translate(struct clock_pair from, struct clock_pair to, struct clock_rate rate, uint64_t time,
                      uint64_t *ticks)
{
  uint64_t passed = time - from.device;
  if (time < from.device || time > to.device)
    return false;
  *ticks = from.ticks + passed * rate.whole + (uint64_t)((unsigned __int128)passed * rate.fraction >> 32);
  return true;
}

/* ---- records ---- */

/* What a record says of an operation: false if it is none. */
static bool operation_of(const ompt_record_ompt_t *record, uint64_t *number, uint64_t *end, bool *busy)
{
  switch (record->type) {
  case ompt_callback_target_data_op:
  case ompt_callback_target_data_op_emi: {
    int kind = record->record.target_data_op.optype & ~ompt_target_data_async;
    *number = record->record.target_data_op.host_op_id;
    *end = record->record.target_data_op.end_time;
    *busy = kind == ompt_target_data_transfer_to_device || kind == ompt_target_data_transfer_from_device;
    return true;
  }
  case ompt_callback_target_submit:
  case ompt_callback_target_submit_emi:
    *number = record->record.target_kernel.host_op_id;
    *end = record->record.target_kernel.end_time;
    *busy = true;
    return true;
  default:
    return false;
  }
}

/* False: it cannot be used. */
static bool add_record(const struct traced *traced, const ompt_record_ompt_t *record, struct clock_pair now,
                       struct clock_rate rate)
{
  uint64_t number, end_time, begin, end;
  bool busy;
  if (!operation_of(record, &number, &end_time, &busy))
    return true; /* it was not asked for */
  if (!translate(traced->first, now, rate, record->time, &begin) ||
      !translate(traced->first, now, rate, end_time, &end) || end < begin)
    return false;
  bool known = number <= UINT32_MAX && devices_add_times((uint32_t)number, begin, end, busy);
  return (!busy || devices_add_busy(traced->number, begin, end)) && known;
}

static void add_records(const struct traced *traced, ompt_buffer_t *buffer, size_t bytes, ompt_buffer_cursor_t cursor)
{
  enum { MOST = BUFFER_BYTES / 16 };
  struct clock_pair now = read_clocks(traced);
  struct clock_rate rate = rate_between(traced->first, now);
  for (unsigned i = 0; i < MOST; i++) {
    const ompt_record_ompt_t *record =
        traced->type_of(buffer, cursor) == ompt_record_ompt ? traced->record_at(buffer, cursor) : NULL;
    if (!record || !add_record(traced, record, now, rate))
      devices_reject(traced->number);
    if (!traced->advance(traced->device, buffer, bytes, cursor, &cursor))
      break;
  }
}

/* ---- buffers ---- */

static void on_request(int number, ompt_buffer_t **buffer, size_t *bytes)
{
  *buffer = NULL;
  *bytes = 0;
  for (unsigned i = 0; i < BUFFERS && !*buffer; i++) {
    if (atomic_exchange(&buffers[i].used, true))
      continue;
    if (!atomic_load(&buffers[i].memory))
      atomic_store(&buffers[i].memory, sys_map(BUFFER_BYTES));
    *buffer = atomic_load(&buffers[i].memory);
    if (!*buffer)
      atomic_store(&buffers[i].used, false);
  }
  if (*buffer)
    *bytes = BUFFER_BYTES;
  else
    devices_reject(number);
}

static void on_complete(int number, ompt_buffer_t *buffer, size_t bytes, ompt_buffer_cursor_t begin, int owned)
{
  struct thread_state *t = rt_thread();
  const struct traced *traced = find(number);
  if (t)
    rt_inside_inc(t);
  if (bytes && traced && !atomic_load(&rt.closed))
    add_records(traced, buffer, bytes, begin);
  else if (bytes)
    devices_reject(number);
  for (unsigned i = 0; i < BUFFERS && owned; i++)
    if (buffer && atomic_load(&buffers[i].memory) == buffer)
      atomic_store(&buffers[i].used, false);
  if (t)
    rt_inside_dec(t);
}

/* ---- begin and end ---- */

/* Looks up all functions that are needed; false if the device lacks one. */
static bool look_up(struct traced *traced, ompt_function_lookup_t lookup, ompt_set_trace_ompt_t *choose,
                    ompt_start_trace_t *start)
{
  traced->get_time = (ompt_get_device_time_t)lookup("ompt_get_device_time");
  traced->advance = (ompt_advance_buffer_cursor_t)lookup("ompt_advance_buffer_cursor");
  traced->type_of = (ompt_get_record_type_t)lookup("ompt_get_record_type");
  traced->record_at = (ompt_get_record_ompt_t)lookup("ompt_get_record_ompt");
  traced->flush = (ompt_trace_command_t)lookup("ompt_flush_trace");
  traced->stop = (ompt_trace_command_t)lookup("ompt_stop_trace");
  *choose = (ompt_set_trace_ompt_t)lookup("ompt_set_trace_ompt");
  *start = (ompt_start_trace_t)lookup("ompt_start_trace");
  return traced->get_time && traced->advance && traced->type_of && traced->record_at && traced->flush && traced->stop &&
         *choose && *start;
}

void device_trace_initialize(struct thread_state *t, int number, ompt_device_t *device, ompt_function_lookup_t lookup)
{
  static const unsigned types[] = {ompt_callback_target_data_op, ompt_callback_target_submit};
  struct traced *made = number >= 0 && number < DEVICES_TRACED_MAX ? &traced[number] : NULL;
  ompt_set_trace_ompt_t choose;
  ompt_start_trace_t start;
  unsigned chosen = 0;
  if (!made || !lookup || find(number) || !look_up(made, lookup, &choose, &start))
    return;
  made->device = device;
  made->number = number;
  for (unsigned i = 0; i < sizeof types / sizeof *types; i++)
    chosen += choose(device, 1, types[i]) >= ompt_set_sometimes;
  made->first = read_clocks(made);
  atomic_store(&made->on, chosen > 0);
  if (chosen && !start(device, on_request, on_complete)) /* which may call these at once */
    atomic_store(&made->on, false);
  else if (chosen)
    devices_trace(t, number);
}

void device_trace_finalize(int number)
{
  struct traced *traced = find(number);
  if (!traced)
    return;
  if (!devices_busy(number)) { /* a device that hangs would keep the program from ending */
    traced->flush(traced->device);
    traced->stop(traced->device);
  }
  atomic_store(&traced->on, false);
}

/* Is the runtime still there?  A program may unload one that has not ended its devices. */
static bool is_loaded(const struct traced *traced)
{
  struct dl_find_object object;
  return _dl_find_object((void *)traced->flush, &object) == 0;
}

void device_trace_end(void)
{
  for (int i = 0; i < DEVICES_TRACED_MAX; i++)
    if (find(i) && is_loaded(&traced[i]))
      device_trace_finalize(i);
}
