/* The devices view as text, and its table.  Context: BATCH. */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/model/names.h"
#include "hpcprof-lite/report/legend.h"
#include "hpcprof-lite/report/text_table.h"
#include "hpcprof-lite/views/device_rows.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACE_MAX = 4096 };

static const char *kind_name(enum device_row_kind kind)
{
  static const char *const names[] = {
      [DEVICE_ROW_DEVICE] = "device", [DEVICE_ROW_WORK] = "work", [DEVICE_ROW_REST] = "rest"};
  return names[kind];
}

static const char *times_name(const struct device_row *row)
{
  uint64_t timed = model_sum(row->to.timed, row->from.timed), all = model_sum(row->to.count, row->from.count);
  if (!timed)
    return all ? "host" : "";
  return timed == all ? "device" : "both";
}

/* What a row is about. */
static void write_where(const struct device_row *row, char out[PLACE_MAX])
{
  const struct call_place *place = &row->place;
  if (row->kind == DEVICE_ROW_REST)
    snprintf(out, PLACE_MAX, "  (no thread ran)");
  else if (row->kind == DEVICE_ROW_DEVICE)
    snprintf(out, PLACE_MAX, "device %" PRIu32 "%s%s", row->number, row->device && *row->device->type ? ": " : "",
             row->device ? row->device->type : "");
  else if (*place->file && place->line)
    snprintf(out, PLACE_MAX, "  %.2000s at %.1000s:%" PRIu32, place->function, names_base(place->file), place->line);
  else
    snprintf(out, PLACE_MAX, "  %.2000s", *place->function ? place->function : "(not known)");
}

static void fill(const void *context, const void *which, struct cell *cell)
{
  const struct report *report = context;
  const struct device_row *row = which;
  const struct profile_process *process = &report->profile->processes[row->process];
  const struct profile_device *known = row->device;
  bool device = row->kind == DEVICE_ROW_DEVICE, operations = device && row->operations_known;
  static char where[PLACE_MAX]; /* until the next row is filled */
  write_where(row, where);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/devices.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/devices.def"
};
#undef COLUMN
static const struct schema devices_schema = SCHEMA(columns, fill);

REPORT_EACH(each_device, report->devices->rows, report->list.count)

void devices_table(const struct report *report, struct table *table)
{
  table->each = each_device;
  table->source = report;
  table_add(table, &devices_schema, report);
}

void devices_text(const struct report *report)
{
  struct text_table text;
  text_table_init(&text, report, devices_table);
  text_table_heading(&text);
  for (uint32_t i = 0; i < report->list.count; i++)
    text_table_row(&text, &report->devices->rows[i]);
  for (uint32_t i = 0; i < report->list.count; i++) {
    const struct device_row *row = &report->devices->rows[i];
    if (row->kind == DEVICE_ROW_DEVICE && !row->operations_known)
      fprintf(report->stream,
              "device %" PRIu32
              ": the runtime reports neither copies nor waiting for the device, which may be the host\n",
              row->number);
  }
  legend_print(report, "Busy: a target construct for the device was open, as the host sees it; see --legend\n",
               "Busy: at least one target construct for the device, or an operation, was open.\n"
               "That is what the host sees: the device need not have worked all that time.\n"
               "Idle: the remaining time since it was first used. Below a device, that is\n"
               "divided by what threads of the host worked on meanwhile; sampled. Overlap: of\n"
               "Busy, threads of the host worked, too; sampled. Empty: not known.\n"
               "To, From: bytes copied to the device and from it; Copies: how long that took.\n");
  legend_omitted(report);
  text_table_release(&text);
}
