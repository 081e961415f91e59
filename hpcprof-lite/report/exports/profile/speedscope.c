/* Speedscope's own format (https://www.speedscope.app/file-format-schema.json): for each metric a profile, in which
 * frames open and close in the order of the tree. */
#include "hpcprof-lite/report/exports/profile/frame_table.h"
#include "hpcprof-lite/report/exports/profile/profile_exports.h"
#include "hpcprof-lite/report/row_writer.h"

#include <inttypes.h>
#include <string.h>

struct speedscope {
  FILE *stream;
  const struct frame_table *frames;
  uint64_t at; /* sum of the rows so far */
  bool any;    /* there are events */
};

/* Puts a text before `end`; returns where it begins. */
static char *put_before(char *end, const char *text)
{
  size_t length = strlen(text);
  return memcpy(end - length, text, length);
}

/* Large trees have millions of events: each is written at once, composed from its end because numbers are. */
static void event(struct speedscope *speedscope, const char *begin, uint32_t number)
{
  char text[128], *end = text + sizeof text;
  char *at = put_before(end, "}");
  at = row_writer_digits(at, speedscope->at, 0);
  at = put_before(at, ",\"at\":");
  at = row_writer_digits(at, speedscope->frames->frame_of[number], 0);
  at = put_before(at, begin);
  at = put_before(at, speedscope->any ? ",\n" : "\n");
  fwrite_unlocked(at, 1, (size_t)(end - at), speedscope->stream);
  speedscope->any = true;
}

static void enter(void *context, const struct walk_row *here)
{
  struct speedscope *speedscope = context;
  if (!here->incl[0])
    return;
  event(speedscope, "{\"type\":\"O\",\"frame\":", here->number);
  model_add(&speedscope->at, here->excl[0]);
}

static void leave(void *context, const struct walk_row *here)
{
  struct speedscope *speedscope = context;
  if (here->incl[0])
    event(speedscope, "{\"type\":\"C\",\"frame\":", here->number);
}

static void write_frames(const struct report *report, const struct frame_table *frames)
{
  FILE *stream = report->stream;
  for (uint32_t i = 0; i < frames->count; i++) {
    const struct tree_row *row = frames->rows[i];
    fputs_unlocked(i ? ",\n{\"name\":" : "\n{\"name\":", stream);
    row_writer_json_string(stream, tree_walk_name(row));
    if (*row->file) {
      fputs_unlocked(",\"file\":", stream);
      row_writer_json_string(stream, row->file);
    }
    if (row->line)
      fprintf(stream, ",\"line\":%" PRIu32, row->line);
    putc_unlocked('}', stream);
  }
}

/* The values of one metric. */
static int write_profile(const struct report *report, const struct tree_metric *metric,
                         const struct frame_table *frames)
{
  static const struct walk_visitor visitor = {enter, leave};
  FILE *stream = report->stream;
  struct speedscope speedscope = {.stream = stream, .frames = frames};
  struct tree_metrics one = {.list = {*metric}, .count = 1};
  fputs("\n{\"type\":\"evented\",\"name\":", stream);
  row_writer_json_string(stream, metric->name);
  fprintf(stream, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRIu64 ",\"events\":[",
          metric->is_time ? "nanoseconds" : "none", tree_incl(report->tree, 0, metric->column));
  int status = tree_walk(report, &one, &visitor, &speedscope);
  fputs("]}", stream);
  return status;
}

int speedscope_write(const struct report *report)
{
  struct tree_metrics metrics;
  struct frame_table frames;
  tree_metrics_init(report, &metrics);
  frame_table_init(report, &frames);
  fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"hpcprof-lite\","
        "\"activeProfileIndex\":0,\"name\":",
        report->stream);
  row_writer_json_string(report->stream, report->totals->command);
  fputs(",\n\"shared\":{\"frames\":[", report->stream);
  write_frames(report, &frames);
  fputs("]},\n\"profiles\":[", report->stream);
  int status = 0;
  for (uint32_t i = 0; i < metrics.count && !status; i++) {
    fputs(i ? "," : "", report->stream);
    status = write_profile(report, &metrics.list[i], &frames);
  }
  fputs("]}\n", report->stream);
  frame_table_release(&frames);
  return status;
}
