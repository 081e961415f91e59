/* The source view: the lines of functions and files with their figures.
 *
 * Context: BATCH.  See report.h.
 */
#include "hpcprof-lite/report/views.h"

#include "hpcprof-lite/report/category.h"
#include "hpcprof-lite/report/terminal.h"
#include "hpcprof-lite/report/tree_view.h"
#include "hpcprof-lite/views/source/source_blocks.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* LINE: columns of the line number with its mark.  SOURCE_LEAST: columns that are kept for the source text, in 80. */
enum { CELL = 16, LINE = 9, SOURCE_LEAST = 36, DIRECTIVES_MAX = 256 };

/* ---- the table ---- */

/* The kinds of constructs that begin in a line: "parallel for". */
static void directives_text(uint32_t directives, char out[DIRECTIVES_MAX])
{
  size_t length = 0;
  out[0] = 0;
  for (uint32_t kind = 0; kind < CONSTRUCT_KINDS; kind++)
    if (directives & 1u << kind)
      length += (size_t)snprintf(out + length, DIRECTIVES_MAX - length, "%s%s", length ? " " : "",
                                 profile_directive_name(kind));
}

/* A line with its texts. */
struct line {
  uint32_t row;
  const char *directives, *text;
};

static struct cell value(const struct report *report, uint32_t row, uint32_t column, bool is_time)
{
  assert(row < report->trees.source->lines.tree.count);
  if (column == MODEL_NONE)
    return cell_empty();
  return cell_amount(tree_incl(&report->trees.source->lines.tree, row, column), is_time);
}

static void fill(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct source_lines *lines = &report->trees.source->lines;
  const struct tree_columns *columns = report->columns;
  const struct line *line = from;
  const struct tree_row *row = &lines->tree.rows[line->row];
#define COLUMN COLUMN_CELL
#include "hpcprof-lite/report/source_view.def"
#undef COLUMN
}

#define COLUMN COLUMN_ENTRY
static const struct table_column columns_all[] = {
#include "hpcprof-lite/report/source_view.def"
};
#undef COLUMN
static const struct schema source_view_schema = SCHEMA(columns_all, fill);

static void fill_events(const void *context, const void *from, struct cell *cell)
{
  const struct report *report = context;
  const struct tree_columns *columns = report->columns;
  for (uint32_t i = 0; i < columns->events_count; i++) {
    uint32_t event = columns->events[i];
    *cell++ = value(report, ((const struct line *)from)->row, event, !strcmp(columns->columns[event].unit, "ns"));
  }
}

static int each_line(const void *source, table_take *take, void *to)
{
  const struct report *report = source;
  const struct source_blocks *blocks = report->trees.source;
  const struct tree *tree = &blocks->lines.tree;
  int status = 0;
  for (uint32_t i = 0; i < tree->count && !status; i++) {
    uint32_t number = tree->order[i];
    const struct tree_row *row = &tree->rows[number];
    char directives[DIRECTIVES_MAX], text[SOURCE_TEXT_MAX] = "";
    if (!blocks->selected[number])
      continue;
    directives_text(blocks->lines.directives[number], directives);
    const struct source_file *file = row->line ? source_files_known(&blocks->files, row->file) : NULL;
    if (file)
      source_files_line(file, row->line, text);
    status = take(to, &(struct line){number, directives, text});
  }
  return status;
}

void source_view_table(const struct report *report, struct table *table)
{
  const struct tree_columns *columns = report->columns;
  struct table_column *events = table_memory(table, columns->events_count * sizeof *events);
  table->each = each_line;
  table->source = report;
  for (uint32_t i = 0; i < columns->events_count; i++) {
    const struct catalog_column *event = &columns->columns[columns->events[i]];
    events[i] = (struct table_column){.name = event->name, .help = "the event in the line"};
    events[i].type = strcmp(event->unit, "ns") ? COLUMN_COUNT : COLUMN_SECONDS;
  }
  table_add(table, &source_view_schema, report);
  table_add(table, &(struct schema){events, columns->events_count, fill_events}, report);
}

/* ---- text ---- */

struct layout {
  struct terminal terminal;
  bool time, own_percent, overhead, lockwait, idleness, critical;
  uint32_t events;
  unsigned decimals, text_at;
  bool narrow, few; /* columns are omitted; some figure is marked */
};

static unsigned figures_width(const struct layout *layout)
{
  unsigned percentages =
      layout->own_percent + layout->overhead + layout->lockwait + layout->idleness + layout->critical;
  return 9 + 6 * percentages + 8 * layout->events;
}

/* Omits the least important columns until the source text has enough room. */
static void fit_columns(struct layout *layout)
{
  unsigned most = layout->terminal.width - layout->terminal.width * SOURCE_LEAST / 80 - LINE;
  bool *optional[] = {&layout->critical, &layout->overhead, &layout->lockwait, &layout->idleness};
  for (size_t i = 0; i < sizeof optional / sizeof *optional && figures_width(layout) > most;) {
    layout->narrow = true;
    if (layout->events)
      layout->events--;
    else
      *optional[i++] = false;
  }
  layout->own_percent = true;
  layout->own_percent = figures_width(layout) <= most;
  layout->text_at = figures_width(layout) + LINE;
}

static void layout_init(const struct report *report, struct layout *layout)
{
  struct tree_figures shown = tree_view_figures(&report->trees.source->lines.tree, report->columns);
  *layout = (struct layout){.time = shown.time,
                            .overhead = shown.overhead,
                            .lockwait = shown.lockwait,
                            .idleness = shown.idleness,
                            .critical = shown.critical,
                            .events = shown.events,
                            .decimals = shown.decimals};
  terminal_init(&layout->terminal, report->stream);
  fit_columns(layout);
}

static void print_header(const struct report *report, const struct layout *layout)
{
  const struct tree_columns *columns = report->columns;
  const struct {
    bool shown;
    const char *heading;
  } shares[] = {{layout->own_percent, "%"},
                {layout->overhead, "Ovhd%"},
                {layout->lockwait, "Lock%"},
                {layout->idleness, "Idle%"},
                {layout->critical, "Crit%"}};
  char name[TERMINAL_TEXT_MAX], line[4096];
  size_t length = (size_t)snprintf(line, sizeof line, "%8s ", layout->time ? "Self s" : "Self");
  for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
    if (shares[i].shown)
      length += (size_t)snprintf(line + length, sizeof line - length, "%6s", shares[i].heading);
  for (uint32_t i = 0; i < layout->events; i++) {
    terminal_fit(&layout->terminal, columns->columns[columns->events[i]].name, 7, name);
    length += (size_t)snprintf(line + length, sizeof line - length, " %7s", name);
  }
  length += (size_t)snprintf(line + length, sizeof line - length, "%7s  Source", "Line");
  if (!layout->time)
    snprintf(line + length, sizeof line - length, " (figures: %.20s)", tree_view_counted(columns));
  category_heading(&layout->terminal, report->stream, line);
}

/* A dot instead of 0, so that lines with figures stand out. */
static void print_share(const struct report *report, uint64_t part, uint64_t whole, int width)
{
  char percent[CELL] = ".";
  if (part)
    terminal_percent(part, whole, percent);
  fprintf(report->stream, "%*s", width, percent);
}

static void print_figures(const struct report *report, struct layout *layout, uint32_t row)
{
  assert(row < report->trees.source->lines.tree.count);
  const struct tree *tree = &report->trees.source->lines.tree;
  const struct tree_columns *columns = report->columns;
  uint64_t whole = tree_weight(tree, columns, 0, true), own = tree_spent(tree, columns, row, true);
  bool few = own && columns->samples != MODEL_NONE && tree_incl(tree, row, columns->samples) < MODEL_FEW_SAMPLES;
  char figure[CELL] = ".";
  if (own)
    terminal_amount(own, layout->time, layout->decimals, figure);
  layout->few = layout->few || few;
  fprintf(report->stream, "%8s%c", figure, few ? '*' : ' ');
  if (layout->own_percent)
    print_share(report, own, whole, 6);
  if (layout->overhead)
    print_share(report, tree_incl(tree, row, columns->overhead), whole, 6);
  if (layout->lockwait)
    print_share(report, tree_incl(tree, row, columns->lockwait), whole, 6);
  if (layout->idleness)
    print_share(report, tree_incl(tree, row, columns->idleness), whole, 6);
  if (layout->critical)
    print_share(report, tree_incl(tree, row, columns->critical), tree_incl(tree, 0, columns->critical), 6);
  for (uint32_t i = 0; i < layout->events; i++) {
    uint32_t event = columns->events[i];
    print_share(report, tree_incl(tree, row, event), tree_incl(tree, 0, event), 8);
  }
}

/* Prints a line: its figures, number, mark and text; at the right edge, if there is room, the constructs that begin in
 * it. */
static void print_line(const struct report *report, struct layout *layout, const struct source_file *file,
                       const struct source_shown *shown)
{
  const struct terminal *terminal = &layout->terminal;
  char text[SOURCE_TEXT_MAX] = "", cut[TERMINAL_TEXT_MAX], kinds[DIRECTIVES_MAX] = "", number[CELL] = "-";
  bool known = source_files_line(file, shown->line, text);
  if (shown->row == MODEL_NONE)
    fprintf(report->stream, "%*s", (int)figures_width(layout), "");
  else
    print_figures(report, layout, shown->row);
  if (shown->row != MODEL_NONE)
    directives_text(report->trees.source->lines.directives[shown->row], kinds);
  if (shown->line)
    snprintf(number, sizeof number, "%" PRIu32, shown->line);
  else
    snprintf(text, sizeof text, "(%.400s: no source line)", report->trees.source->lines.name[shown->row]);
  if (!known && *kinds)
    snprintf(text, sizeof text, "[%s]", kinds);
  unsigned room = terminal_room(terminal, layout->text_at), width = terminal_cut(terminal, text, room, cut);
  fprintf(report->stream, "%7s%s", number, *kinds ? ">" : "");
  if (width)
    fprintf(report->stream, "%s%s", *kinds ? " " : "  ", cut);
  if (known && *kinds && width + 2 + strlen(kinds) <= room)
    fprintf(report->stream, "%*s%s%s%s", (int)(room - width - strlen(kinds)), "", terminal_dim(terminal), kinds,
            terminal_plain(terminal));
  putc('\n', report->stream);
}

static void print_title(const struct report *report, const struct layout *layout, const struct source_block *block)
{
  const struct tree *tree = &report->trees.source->lines.tree;
  char title[TERMINAL_TEXT_MAX], lines[64] = "", fitted[TERMINAL_TEXT_MAX], figure[CELL], percent[CELL], cost[128];
  terminal_amount(block->spent, layout->time, layout->decimals, figure);
  terminal_percent(block->weight, tree_weight(tree, report->columns, 0, true), percent);
  int length = snprintf(cost, sizeof cost, ": %s%s, %s %%%s", figure, layout->time ? " s" : "", percent,
                        layout->lockwait || layout->idleness ? " with waiting" : "");
  if (block->from && block->from < block->to)
    snprintf(lines, sizeof lines, ":%" PRIu32 "-%" PRIu32, block->from, block->to);
  else if (block->from)
    snprintf(lines, sizeof lines, ":%" PRIu32, block->from);
  if (!block->name)
    snprintf(title, sizeof title, "%s%s", block->file, lines);
  else if (*block->file)
    snprintf(title, sizeof title, "%s (%s%s)", block->name, names_base(block->file), lines);
  else
    snprintf(title, sizeof title, "%s", block->name);
  terminal_fit(&layout->terminal, title, terminal_room(&layout->terminal, (unsigned)length), fitted);
  fprintf(report->stream, "\n%s%s%s%s\n", terminal_bold(&layout->terminal), fitted, terminal_plain(&layout->terminal),
          cost);
}

/* Prints a word of a command, on the same line if it fits. */
static void print_word(const struct report *report, const struct layout *layout, const char *word, bool last,
                       unsigned *column)
{
  enum { INDENT = 4, CONTINUATION = 2 };
  unsigned width = layout->terminal.width, columns = terminal_word_columns(word);
  if (*column + 1 + columns + (last ? 0 : CONTINUATION) > width) {
    fprintf(report->stream, " \\\n%*s", INDENT, "");
    *column = INDENT;
  } else {
    putc(' ', report->stream);
    *column += 1;
  }
  bool ends = last && *column + columns <= width; /* in this line, without a backslash behind it */
  *column = terminal_word(report->stream, word, width + ends, *column);
}

/* Prints the command that shows the machine code of a block. */
static void print_command(const struct report *report, const struct layout *layout, const struct source_code *code)
{
  static const char begin[] = "  objdump -d -l";
  char start[64], stop[64], symbol[SOURCE_TEXT_MAX];
  unsigned column = sizeof begin - 1;
  const char *path = code->module == MODEL_NONE ? "" : report->profile->catalog.modules[code->module].path;
  if (path[0] != '/')
    return;
  fputs(begin, report->stream);
  if (code->symbol && strlen(code->symbol) < sizeof symbol - sizeof "--disassemble=") {
    snprintf(symbol, sizeof symbol, "--disassemble=%s", code->symbol);
    print_word(report, layout, symbol, false, &column);
  } else {
    snprintf(start, sizeof start, "--start-address=0x%" PRIx64, code->start);
    snprintf(stop, sizeof stop, "--stop-address=0x%" PRIx64, code->stop);
    print_word(report, layout, start, false, &column);
    print_word(report, layout, stop, false, &column);
  }
  print_word(report, layout, path, true, &column);
  putc('\n', report->stream);
}

/* Writes where a source was looked for. */
static void missing_text(const struct source_files *files, const struct source_file *file, char text[TERMINAL_TEXT_MAX])
{
  size_t length = (size_t)snprintf(text, TERMINAL_TEXT_MAX, "Source not found: %s", file->path);
  for (uint32_t i = 0; i < files->directories_count && length < TERMINAL_TEXT_MAX; i++)
    length += (size_t)snprintf(text + length, TERMINAL_TEXT_MAX - length, "%s%s", i ? ", " : ", nor below ",
                               files->directories[i]);
  if (length < TERMINAL_TEXT_MAX)
    snprintf(text + length, TERMINAL_TEXT_MAX - length, "; see -I DIR");
}

/* Prints why a block has no text, or that its text may be another one. */
static void print_source_notes(const struct report *report, const struct layout *layout,
                               const struct source_block *block)
{
  const struct source_files *files = &report->trees.source->files;
  const struct source_file *file = &files->files[block->source];
  char text[TERMINAL_TEXT_MAX];
  if (!block->from && block->name)
    return;
  switch (source_file_fault(file)) {
  case SOURCE_MISSING:
    missing_text(files, file, text);
    break;
  case SOURCE_UNREADABLE:
    snprintf(text, sizeof text, "%s cannot be shown: %s", file->found, file->reason);
    break;
  case SOURCE_SHORT:
    snprintf(text, sizeof text, "%s has only %" PRIu32 " line%s: it is not the file that was measured.",
             names_base(file->path), file->lines, terminal_plural(file->lines));
    break;
  case SOURCE_NEWER:
    snprintf(text, sizeof text, "%s is newer than the measurement: its lines may have moved.", names_base(file->path));
    break;
  default:
    return;
  }
  terminal_wrap(&layout->terminal, report->stream, "", "  ", text);
}

/* Prints which file has the text, if that is not the recorded one. */
static void print_source(const struct report *report, const struct layout *layout, const struct source_file *file)
{
  if (file->moved)
    terminal_wrapf(&layout->terminal, report->stream, "", "  ", "Source: %s%s", file->found,
                   file->namesake ? " (found by name only: it may be another file)" : "");
}

static void print_block(const struct report *report, struct layout *layout, const struct source_block *block)
{
  assert(block->first + block->count <= report->trees.source->shown_count);
  const struct source_blocks *source = report->trees.source;
  const struct source_file *file = &source->files.files[block->source];
  uint32_t last = 0;
  print_title(report, layout, block);
  print_source(report, layout, file);
  for (uint32_t i = 0; i < block->count; i++) {
    const struct source_shown *shown = &source->shown[block->first + i];
    if (last && shown->line > last + 1)
      fprintf(report->stream, "%*s\n", (int)figures_width(layout) + 7, "...");
    print_line(report, layout, file, shown);
    last = shown->line;
  }
  if (block->omitted)
    fprintf(report->stream, "%" PRIu32 " more line%s with figures; --max-rows N shows more.\n", block->omitted,
            terminal_plural(block->omitted));
  print_source_notes(report, layout, block);
  print_command(report, layout, &block->code);
}

static void print_footnotes(const struct report *report, const struct layout *layout)
{
  const struct terminal *terminal = &layout->terminal;
  char all[CELL], line[160], full[1024];
  fputs("\n", report->stream);
  if (layout->time) {
    terminal_seconds(tree_weight(&report->trees.source->lines.tree, report->columns, 0, true), layout->decimals, all);
    snprintf(line, sizeof line, "Percentages are of the time of all threads, %s s; see --legend", all);
    snprintf(full, sizeof full,
             "Self s: time spent in the line itself; %%: share of the time of all threads,\n"
             "%s s.  Ovhd%%: time in the OpenMP runtime that the line called.\n"
             "Lock%%: time that threads waited for a lock until it was released here.\n"
             "Idle%%: time that threads were idle while this code ran.\n"
             "Crit%%: share of the critical path, the longest chain of dependent work.\n"
             "With waiting: the lines, and the lock wait and idleness that they caused.\n"
             "> an OpenMP construct of the measurement begins in the line.",
             all);
    terminal_lines(terminal, report->stream, report->legend ? full : line);
  }
  if (layout->narrow)
    terminal_lines(terminal, report->stream, "Some columns need more width than there is; -f csv has all of them.");
  snprintf(line, sizeof line, "* fewer than %d samples: relative error above 22 %%.", MODEL_FEW_SAMPLES);
  if (layout->few)
    terminal_lines(terminal, report->stream, line);
  if (report->trees.source->limited)
    terminal_lines(terminal, report->stream,
                   "Only what costs most is shown: --root FUNCTION or FILE shows others, -f csv all.");
}

void source_view_text(const struct report *report)
{
  struct layout layout;
  if (!report->trees.source->count) {
    fputs("No function has figures: there are no samples.\n", report->stream);
    return;
  }
  layout_init(report, &layout);
  print_header(report, &layout);
  for (uint32_t i = 0; i < report->trees.source->count; i++)
    print_block(report, &layout, &report->trees.source->blocks[i]);
  print_footnotes(report, &layout);
}
