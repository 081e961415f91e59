#include "hpcprof-lite/merge/device_records.h"

#include "common/order.h"
#include "common/xalloc.h"

#include <stdio.h>
#include <stdlib.h>

/* The lower bits of `open`: when the device became busy. */
static const uint64_t since_mask = (UINT64_C(1) << 48) - 1;

/* How long a device has been busy that still is; nothing if it became so after the process was seen last. */
static uint64_t open_ticks(uint64_t open, uint64_t end)
{
  uint64_t ticks = (end - open) & since_mask;
  return ticks <= since_mask / 2 ? ticks : 0;
}

ORDER(by_number, struct profile_device, COMPARE(x->number, y->number))

void device_records_read(struct read_file *file, struct profile_process *process)
{
  const struct format_device *records = read_records(file, FORMAT_DEVICES);
  uint32_t count = read_count(file, FORMAT_DEVICES);
  double tick_ns = process->workspan.tick_ns;
  process->devices = xcalloc(count, sizeof *process->devices);
  for (uint32_t i = 0; i < count && tick_ns > 0; i++) {
    const struct format_device *from = &records[i];
    if (!from->number || from->number > DEVICES_MOST || from->first < process->start_ticks || !from->first)
      continue;
    uint64_t end = model_sum(process->start_ticks, model_rounded((double)process->wall_ns / tick_ns));
    uint64_t open = process->unfinished && from->open ? open_ticks(from->open, end) : 0;
    uint64_t life_ns = MIN(model_rounded((double)model_difference(end, from->first) * tick_ns),
                           profile_measured_ns(process->wall_ns, process->paused_ns));
    uint64_t busy_ns = MIN(model_rounded((double)model_sum(from->busy, open) * tick_ns), life_ns);
    struct profile_device *device = &process->devices[process->devices_count++];
    *device = (struct profile_device){.number = from->number,
                                      .on_host = (from->flags & FORMAT_DEVICE_ON_HOST) != 0,
                                      .busy_ns = busy_ns,
                                      .idle_ns = life_ns - busy_ns,
                                      .beside_ns = MIN(from->beside_ns, busy_ns),
                                      .recorded_ns = model_rounded((double)from->recorded * tick_ns),
                                      .rejected = from->rejected,
                                      .traced = (from->flags & FORMAT_DEVICE_TRACED) != 0};
    snprintf(device->type, sizeof device->type, "%s", read_string(file, from->type));
  }
  if (process->devices_count)
    qsort(process->devices, process->devices_count, sizeof *process->devices, by_number);
}
