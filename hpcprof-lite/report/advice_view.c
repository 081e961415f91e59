#include "hpcprof-lite/report/advice_view.h"

#include "hpcprof-lite/report/missing_cores.h"
#include "hpcprof-lite/report/notes.h"
#include "hpcprof-lite/report/try_view.h"
#include "hpcprof-lite/report/views.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { LINE = ADVICE_TITLE_MAX };

/* Whether the measurement has the column by which the view of a class is to be sorted. */
static bool has_order(const struct report *report, const char *view)
{
  return (!strstr(view, "idleness") || report->columns->idleness != MODEL_NONE) &&
         (!strstr(view, "overhead") || report->columns->overhead != MODEL_NONE);
}

void advice_view_command(const struct report *report, enum advice_class class, char out[ADVICE_TITLE_MAX])
{
  assert(class < ADVICE_CLASSES && report->command.arguments);
  static const char *const baselines[] = {
      [BASELINE_THREAD] = "", [BASELINE_CORE] = "--idleness core ", [BASELINE_SHARED] = "--idleness shared "};
  const char *view = advice_classes[class].view, *order = strstr(view, " --sort");
  bool tree = !strncmp(view, "topdown", strlen("topdown")) || !strncmp(view, "bottomup", strlen("bottomup"));
  bool compared = class == ADVICE_INFLATION || class == ADVICE_REGION_THREADS; /* the view reads these runs, too */
  int length = order && !has_order(report, order) ? (int)(order - view) : (int)strlen(view);
  snprintf(out, LINE, "hpcprof-lite --view %.*s %s%s", length, view, tree ? baselines[report->baseline] : "",
           report->command.arguments);
  for (size_t i = 0; i < report->command.references_count && compared; i++) {
    char quoted[LINE];
    size_t used = strlen(out);
    terminal_quote(report->command.references[i], quoted, sizeof quoted);
    snprintf(out + used, LINE - used, " %s", quoted);
  }
}

/* Returns the length of a character of a command, with its backslash. */
static size_t character_length(const char *text)
{
  size_t length = *text == '\\' && text[1] ? 2 : 1;
  while (((unsigned char)text[length] & 0xC0) == 0x80)
    length++;
  return length;
}

/* Prints a word of a command that is quoted already; one that is wider than a line is broken, too.  Returns the column
 * after it. */
static unsigned print_word(FILE *stream, const char *word, size_t length, unsigned width, unsigned column)
{
  assert(length && width);
  for (size_t at = 0; at < length;) {
    size_t bytes = character_length(word + at);
    unsigned columns = word[at] == '\\' ? 2 : 1;
    if (column + columns >= width + (at + bytes >= length)) {
      fputs("\\\n", stream);
      column = 0;
    }
    fwrite(word + at, 1, bytes, stream);
    column += columns;
    at += bytes;
  }
  return column;
}

void advice_view_print_command(const struct report *report, const struct terminal *terminal, const char *first,
                               enum advice_class class)
{
  enum { INDENT = 6, CONTINUATION = 2 };
  char command[LINE];
  unsigned column = (unsigned)strlen(first);
  advice_view_command(report, class, command);
  fprintf(report->stream, "%s%s", first, terminal_dim(terminal));
  for (const char *word = command; *word;) {
    size_t length = 0;
    while (word[length] && word[length] != ' ')
      length += character_length(word + length);
    bool last = !word[length];
    if (word != command && column + 1 + length + (last ? 0 : CONTINUATION) > terminal->width) {
      fprintf(report->stream, " \\\n%*s", INDENT, "");
      column = INDENT;
    } else if (word != command) {
      putc(' ', report->stream);
      column++;
    }
    column = print_word(report->stream, word, length, terminal->width, column);
    word += length + !last;
  }
  fprintf(report->stream, "%s\n", terminal_plain(terminal));
}

/* What fills the rows: the report, and room for the command of one. */
struct filler {
  const struct report *report;
  char command[ADVICE_TITLE_MAX];
};

static void fill(const void *filler, const void *row, struct cell *cell)
{
  struct filler *context = (struct filler *)filler;
  const struct advice_finding *found = row;
  const struct advice *advice = &context->report->advice;
  advice_view_command(context->report, found->class, context->command);
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/advice.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns[] = {
#include "hpcprof-lite/report/advice.def"
};
#undef COLUMN
static const struct schema advice_schema = SCHEMA(columns, fill);

REPORT_EACH(each_finding, report->advice.found, report->advice.count)

void advice_view_table(const struct report *report, struct table *table)
{
  struct filler *filler = table_memory(table, sizeof *filler);
  table->each = each_finding;
  table->source = report;
  filler->report = report;
  table_add(table, &advice_schema, filler);
}

void advice_view_title(const struct terminal *terminal, const struct advice_finding *found, char out[ADVICE_TITLE_MAX])
{
  assert(found->class < ADVICE_CLASSES);
  enum { NAME_MAX_COLUMNS = 40 };
  char fitted[TERMINAL_TEXT_MAX];
  const char *name = found->name;
  if (terminal) {
    terminal_fit(terminal, name, NAME_MAX_COLUMNS, fitted);
    name = fitted;
  }
  int length = snprintf(out, LINE, "%s", found->title ? found->title : advice_classes[found->class].title);
  if (found->places)
    length += snprintf(out + length, LINE - (size_t)length, " in %" PRIu32 " places%s", found->places,
                       *found->file || *name ? ", most" : "");
  if (*found->file && found->line)
    length +=
        snprintf(out + length, LINE - (size_t)length, " at %.1000s:%" PRIu32, names_base(found->file), found->line);
  if (*name && *found->file)
    snprintf(out + length, LINE - (size_t)length, " (%.1000s)", name);
  else if (*name)
    snprintf(out + length, LINE - (size_t)length, " in %.1000s", name);
}

/* Prints what is found and what it would gain. */
static void print_finding(const struct report *report, const struct terminal *terminal, uint32_t number)
{
  assert(number < report->advice.count);
  const struct advice_finding *found = &report->advice.found[number];
  char title[ADVICE_TITLE_MAX], first[16], more[80] = "";
  advice_view_title(terminal, found, title);
  snprintf(first, sizeof first, "%3" PRIu32 ". ", number + 1);
  if (found->more_s >= 0)
    snprintf(more, sizeof more, "; on %" PRIu32 " cores%s %.3f s", report->advice.more_cores,
             found->more_least ? " at least" : "", found->more_s);
  fputs(terminal_bold(terminal), report->stream);
  if (*found->confidence)
    terminal_wrapf(terminal, report->stream, first, "     ",
                   "%s: %.3f s shorter (%.0f %%; %.3f to %.3f s%s), confidence %s%s%s", title, found->gain_s,
                   advice_percent(&report->advice, found), found->low_s, found->high_s, more, found->confidence,
                   *found->reason ? ": " : "", found->reason);
  else
    terminal_wrap(terminal, report->stream, first, "     ", title);
  fputs(terminal_plain(terminal), report->stream);
}

static void print_reason(const struct report *report, const struct terminal *terminal,
                         const struct advice_finding *found)
{
  terminal_wrap(terminal, report->stream, "     ", "     ", found->evidence);
  if (*found->remedy->text)
    terminal_wrap(terminal, report->stream, "     ", "     ", found->remedy->text);
}

/* Prints how the forecast was made. */
static void print_basis(const struct report *report, const struct terminal *terminal,
                        const struct advice_finding *found)
{
  static const char indent[] = "     ";
  if (!*found->confidence || (!found->recorded && found->change == ADVICE_NO_CHANGE))
    return;
  if (!found->recorded && report->profile->span_processes > 1) /* there is no schedule of several processes */
    terminal_wrap(terminal, report->stream, indent, indent, "Forecast from waiting times.");
  else if (!found->recorded)
    terminal_wrap(terminal, report->stream, indent, indent,
                  "Forecast from waiting times; hpcrun-lite -p log allows one from the task graph.");
  else if (advice_differs(found))
    terminal_wrapf(terminal, report->stream, indent, indent,
                   "Forecast from the recorded task graph.  Waiting times would allow %.3f s.", found->waited_s);
  else
    terminal_wrap(terminal, report->stream, indent, indent, "Forecast from the recorded task graph.");
}

/* Prints the parts of the loss: of each finding that takes some, each second once. */
static void print_loss(const struct report *report, const struct terminal *terminal)
{
  const struct advice *advice = &report->advice;
  char text[LINE];
  size_t length = (size_t)snprintf(text, sizeof text, "Lost in all: %.3f s of elapsed time (%.0f %%)", advice->loss_s,
                                   advice_part(advice, advice->loss_s));
  bool any = false;
  for (uint32_t i = 0; i < advice->count && length < sizeof text - 1; i++) {
    const struct advice_finding *found = &advice->found[i];
    char part[48];
    if (found->loss_s < 0.0005)
      continue;
    if (found->class < ADVICE_REMARKS)
      snprintf(part, sizeof part, "by finding %" PRIu32, i + 1);
    else
      snprintf(part, sizeof part, "%s", found->class == ADVICE_OTHER ? "of other kinds" : "unexplained");
    length +=
        (size_t)snprintf(text + length, sizeof text - length, "%s %.3f s %s", any ? "," : ":", found->loss_s, part);
    any = true;
  }
  if (any)
    terminal_wrapf(terminal, report->stream, "", "  ", "%s.", text);
}

/* Prints what no finding explains: its parts, if that is much. */
static void print_rest(const struct report *report, const struct terminal *terminal, const struct advice_finding *found)
{
  if (found->class == ADVICE_UNEXPLAINED && !advice_much_unexplained(&report->advice))
    return;
  char title[ADVICE_TITLE_MAX];
  advice_view_title(terminal, found, title);
  terminal_wrapf(terminal, report->stream, "  -  ", "     ", "%s: %.3f s (%.0f %%). %s", title, found->loss_s,
                 advice_part(&report->advice, found->loss_s), found->evidence);
}

/* Prints what settings gained that were tried because of a finding, below the first one of its class. */
static void print_tried(const struct report *report, const struct terminal *terminal, uint32_t number)
{
  assert(number < report->advice.count && report->trial.figures);
  enum advice_class class = report->advice.found[number].class;
  for (uint32_t i = 0; i < number; i++)
    if (report->advice.found[i].class == class)
      return;
  const struct trial_figures *figures = report->trial.figures;
  for (uint32_t i = 0; i < figures->count; i++) {
    const struct trial_row *tried = &figures->rows[i];
    char result[TRY_VIEW_RESULT_MAX];
    if (tried->verdict == VERDICT_NOT_TRIED || strcmp(tried->setting->class, advice_classes[class].name) != 0)
      continue;
    try_view_result(report->trial.record, tried, result);
    terminal_wrapf(terminal, report->stream, "     ", "     ", "Tried: %s: %s.", tried->setting->text, result);
  }
}

void advice_view_text(const struct report *report)
{
  struct terminal terminal;
  terminal_init(&terminal, report->stream);
  missing_cores_print(report, &terminal);
  terminal_wrap(&terminal, report->stream, "", "",
                "What would make the run shorter, and by how much. The forecasts are for the cores and threads of this "
                "run, without this tool's own time; they do not add up where two findings are about the same time.");
  fputc('\n', report->stream);
  for (uint32_t i = 0; i < report->advice.count; i++) {
    const struct advice_finding *found = &report->advice.found[i];
    if (found->class == ADVICE_UNFIT) {
      terminal_wrap(&terminal, report->stream, "Measurement: ", "     ", found->evidence);
      continue;
    }
    if (found->class == ADVICE_UNEXPLAINED || found->class == ADVICE_OTHER) {
      print_rest(report, &terminal, found);
      continue;
    }
    print_finding(report, &terminal, i);
    print_reason(report, &terminal, found);
    print_basis(report, &terminal, found);
    print_tried(report, &terminal, i);
    if (*found->confidence)
      advice_view_print_command(report, &terminal, "     ", found->class);
  }
  print_loss(report, &terminal);
  notes_estimates(report);
}
