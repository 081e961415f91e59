#include "hpcprof-lite/report/text_table.h"

#include "common/xalloc.h"
#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/report/category.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { ASIDE_MAX = 32, BELOW_LINES = 3, FUNCTION_LEAST = 20, TEXT_WIDTH = 24, NUMBER_WIDTH = 12 };

/* ---- figures ---- */

void text_table_short_seconds(uint64_t ns, char out[TEXT_TABLE_FIGURE])
{
  double seconds = (double)ns / 1e9;
  int decimals = 0;
  if (seconds > 999999) {
    terminal_short_count(ns / 1000000000, out);
    return;
  }
  if (seconds < 999.995)
    decimals = 2;
  else if (seconds < 9999.95)
    decimals = 1;
  snprintf(out, TEXT_TABLE_FIGURE, "%.*f", decimals, seconds);
}

static void brief_seconds(uint64_t ns, unsigned decimals, char out[TEXT_TABLE_FIGURE])
{
  if (!ns)
    strcpy(out, ".");
  else if (ns / 1000000000 > 999999)
    terminal_short_count(ns / 1000000000, out);
  else
    snprintf(out, TEXT_TABLE_FIGURE, "%.*f", (int)decimals, (double)ns / 1e9);
}

/* As in CSV, if there is room. */
static void plain_figure(const struct cell *cell, char out[TEXT_TABLE_FIGURE])
{
  if (cell->kind == CELL_NUMBER && !cell->decimals)
    snprintf(out, TEXT_TABLE_FIGURE, "%" PRIu64, cell->whole);
  else if (cell->kind == CELL_SIGNED)
    snprintf(out, TEXT_TABLE_FIGURE, "%" PRId64, cell->number);
  else
    snprintf(out, TEXT_TABLE_FIGURE, "%.*f", cell->decimals < 6 ? cell->decimals : 6, cell_value(cell));
}

/* Writes a real number in a form that also whole ones have.  Returns whether it is one. */
static bool real_figure(const struct text_table *text, enum column_form form, const struct cell *cell,
                        char out[TEXT_TABLE_FIGURE])
{
  if (form == FORM_COUNT)
    terminal_count(model_rounded(cell->real), out);
  else if (form == FORM_SECONDS && cell->decimals == 9)
    terminal_seconds(model_rounded(1e9 * cell->real), text->decimals, out);
  else if (form == FORM_SECONDS || form == FORM_DIGITS)
    snprintf(out, TEXT_TABLE_FIGURE, "%.5g", cell->real);
  else if (form == FORM_FACTOR)
    snprintf(out, TEXT_TABLE_FIGURE, "%.6g", cell->real);
  else if (form == FORM_PERCENT)
    snprintf(out, TEXT_TABLE_FIGURE, "%.1f", cell->real);
  else
    return false;
  return true;
}

/* Writes a cell as text shows it in a column. */
static void figure_text(const struct text_table *text, const struct table_column *column, const struct cell *cell,
                        char out[TEXT_TABLE_FIGURE])
{
  assert(cell->kind <= CELL_NONE);
  static const char *const empty[] = {[CELL_EMPTY] = "", [CELL_UNKNOWN] = "-", [CELL_NONE] = "."};
  enum column_form form = column->form;
  bool counts = (form == FORM_SECONDS || form == FORM_SHORT_TIME) && cell->kind == CELL_NUMBER && !cell->decimals;
  if (empty[cell->kind]) {
    strcpy(out, empty[cell->kind]);
    return;
  }
  if (cell->kind == CELL_TEXT) {
    snprintf(out, TEXT_TABLE_FIGURE, "%s", cell->text);
    return;
  }
  if (cell->kind == CELL_REAL && real_figure(text, form, cell, out))
    return;
  if (counts)
    form = FORM_COUNT;
  switch (form) {
  case FORM_COUNT:
    terminal_count(cell->whole, out);
    break;
  case FORM_WHOLE_COUNT:
    terminal_whole_count(cell->whole, out);
    break;
  case FORM_SHORT_COUNT:
    terminal_short_count(cell->whole, out);
    break;
  case FORM_SECONDS:
    terminal_seconds(cell->whole, text->decimals, out);
    break;
  case FORM_BRIEF_SECONDS:
    brief_seconds(cell->whole, text->decimals, out);
    break;
  case FORM_SHORT_SECONDS:
    text_table_short_seconds(cell->whole, out);
    break;
  case FORM_SHORT_TIME:
    terminal_short_time(cell->whole, out);
    break;
  case FORM_SHARE:
  case FORM_PERCENT:
    if (form == FORM_SHARE && !cell->whole)
      strcpy(out, ".");
    else
      terminal_percent(cell->whole, cell->of, out);
    break;
  case FORM_SIGNED_SHARE:
    terminal_percent(cell->whole, cell->of, out);
    strcat(out, "%");
    break;
  case FORM_RATIO: /* two decimals as long as they take 8 columns */
    snprintf(out, TEXT_TABLE_FIGURE, cell_value(cell) < 99999.995 ? "%.2f" : "%.4g", cell_value(cell));
    break;
  default:
    plain_figure(cell, out);
  }
}

/* ---- layout ---- */

static const char *heading_of(const struct table_column *column)
{
  return column->heading ? column->heading : column->name;
}

/* The width of a column, which is the first one or not.  Headings of chosen columns do not touch the one before; others
 * are cut. */
static unsigned width_of(const struct text_table *text, const struct table_column *column, bool first)
{
  unsigned heading = (unsigned)strlen(heading_of(column)) + (column->width == 0 || !first), width = column->width;
  if (!width)
    width = table_is_text(column) ? TEXT_WIDTH : NUMBER_WIDTH;
  bool wider = heading > width && !table_is_text(column) && (!column->width || text->report->chosen_count);
  return wider ? heading : width;
}

static void measure(struct text_table *text)
{
  text->rest_at = 0;
  for (uint32_t i = 0; i < text->columns_count; i++) {
    struct text_column *shown = &text->columns[i];
    const struct table_column *column = shown->column;
    shown->rest = i + 1 == text->columns_count && (column->form >= FORM_REST || table_is_text(column));
    shown->width = shown->rest ? 2 : width_of(text, column, i == 0);
    text->rest_at += shown->width;
  }
}

/* Shows columns; those for which the terminal is too narrow, only if they were chosen. */
static void show(struct text_table *text, const uint32_t *numbers, uint32_t count, bool chosen)
{
  assert(!text->columns);
  text->columns = xcalloc(count, sizeof *text->columns);
  for (uint32_t i = 0; i < count; i++) {
    const struct table_column *column = table_column(&text->table, numbers[i]);
    if (chosen || text->terminal.width >= column->wide)
      text->columns[text->columns_count++] = (struct text_column){.number = numbers[i], .column = column};
  }
  measure(text);
}

/* Omits the column with that name, if it is shown. */
static void omit(struct text_table *text, const char *name, size_t length)
{
  assert(name && length);
  for (uint32_t i = 0; i < text->columns_count; i++) {
    const char *shown = text->columns[i].column->name;
    if (strlen(shown) != length || memcmp(shown, name, length) != 0)
      continue;
    memmove(&text->columns[i], &text->columns[i + 1], (text->columns_count - i - 1) * sizeof *text->columns);
    text->columns_count--;
    text->omitted++;
    measure(text);
  }
}

/* Omits columns as long as the last one has too little room. */
static void omit_spare(struct text_table *text)
{
  enum { USUAL_WIDTH = 80 };
  unsigned most = text->terminal.width - text->terminal.width * text->table.rest_least / USUAL_WIDTH;
  size_t length;
  for (const char *name = text->table.spare; name && *name && text->rest_at > most;
       name += length + (name[length] == ' ')) {
    length = strcspn(name, " ");
    omit(text, name, length);
  }
}

void text_table_init(struct text_table *text, const struct report *report, table_maker *make)
{
  assert(make);
  *text = (struct text_table){.report = report};
  terminal_init(&text->terminal, report->stream);
  make(report, &text->table);
  text->cells = xcalloc(text->table.columns_count, sizeof *text->cells);
  uint32_t *usual = xcalloc(text->table.columns_count, sizeof *usual), count = table_shown(&text->table, usual);
  if (report->chosen_count) {
    show(text, report->chosen, report->chosen_count, true);
    table_select(&text->table, report->chosen, report->chosen_count); /* others are not computed */
  } else {
    show(text, usual, count, false);
    table_select(&text->table, usual, count);
    omit_spare(text);
  }
  free(usual);
}

void text_table_release(struct text_table *text)
{
  table_release(&text->table);
  hash_map_release(&text->shown);
  free(text->cells);
  free(text->columns);
}

bool text_table_shows(const struct text_table *text, const char *name)
{
  assert(name);
  for (uint32_t i = 0; i < text->columns_count; i++)
    if (!strcmp(text->columns[i].column->name, name))
      return true;
  return false;
}

void text_table_heading(const struct text_table *text)
{
  char line[TERMINAL_TEXT_MAX];
  size_t length = 0;
  for (uint32_t i = 0; i < text->columns_count && length < sizeof line; i++) {
    const struct table_column *column = text->columns[i].column;
    char *at = line + length, fitted[TERMINAL_TEXT_MAX];
    size_t room = sizeof line - length;
    if (text->columns[i].rest)
      length += (size_t)snprintf(at, room, "  %s", heading_of(column));
    else if (table_is_text(column))
      length += (size_t)snprintf(at, room, "  %-*s", (int)text->columns[i].width - 2, heading_of(column));
    else {
      const char *space = i ? " " : "", *mark = column->marked ? " " : "";
      unsigned width = text->columns[i].width - (unsigned)(strlen(space) + strlen(mark));
      terminal_fit(&text->terminal, heading_of(column), width, fitted);
      length += (size_t)snprintf(at, room, "%s%*s%s", space, (int)width, fitted, mark);
    }
  }
  if (text->plain)
    fprintf(text->report->stream, "%s%s%s\n", terminal_bold(&text->terminal), line, terminal_plain(&text->terminal));
  else
    category_heading(&text->terminal, text->report->stream, line);
}

/* ---- rows ---- */

unsigned text_table_room(const struct text_table *text, unsigned indent)
{
  return terminal_room(&text->terminal, text->rest_at + indent);
}

static void put_spaces(FILE *stream, unsigned count)
{
  while (count--)
    putc_unlocked(' ', stream);
}

enum { BELOW = 4 }; /* columns before a text below a row */

/* The last column of a row, as there is room for it. */
struct fitted_rest {
  char text[TERMINAL_TEXT_MAX], aside[TERMINAL_TEXT_MAX]; /* aside: "" if there is no room for it */
  unsigned gap;                                           /* columns between them */
  bool below;                                             /* in lines of its own */
};

/* Fits the last column: a place without its function where there is no room for both. */
static void fit_rest(const struct text_table *text, enum column_form form, const struct cell *cell, unsigned indent,
                     const char *before, const char *aside, struct fitted_rest *out)
{
  unsigned width = text_table_room(text, indent + (unsigned)strlen(before)), used;
  const char *whole = cell->kind == CELL_TEXT ? cell->text : "", *brief = cell->by_number ? NULL : cell->brief;
  if (cell->kind == CELL_TEXT && brief && strlen(whole) > width && strlen(brief) + FUNCTION_LEAST > width)
    whole = brief;
  out->below = form == FORM_BELOW && strlen(whole) > width;
  if (out->below)
    width = BELOW_LINES * terminal_room(&text->terminal, BELOW);
  if (form > FORM_REST)
    used = terminal_cut(&text->terminal, whole, width, out->text);
  else
    used = terminal_fit(&text->terminal, whole, width, out->text);
  unsigned more = *aside ? terminal_fit(&text->terminal, aside, ASIDE_MAX, out->aside) : 0;
  if (more && used + 2 + more <= width)
    out->gap = width - used - more;
  else
    out->aside[0] = '\0';
}

/* Notes that a text is shown for one thing.  Returns whether it is shown for another one, which the reader has to be
 * told. */
static bool shows_another(struct text_table *text, uint64_t shown, uint64_t thing)
{
  uint32_t number = (uint32_t)thing | 1;
  uint64_t both = hash_map_key(shown, thing), another = hash_map_key(shown, 0);
  uint32_t first = hash_map_find(&text->shown, shown);
  bool known = hash_map_find(&text->shown, both), several = hash_map_find(&text->shown, another);
  if (!first)
    hash_map_add(&text->shown, shown, number);
  else if (first != number && !several)
    hash_map_add(&text->shown, another, number);
  if (!known)
    hash_map_add(&text->shown, both, number);
  return (!known || text->expects) && first && (first != number || several);
}

/* Whether the row reads as one with another name, and not its whole name is shown, or as one with the same name and
 * nothing else that differs. */
static bool reads_alike(struct text_table *text, const void *row, const char *name, const struct fitted_rest *rest)
{
  const char *number_only = text->detail ? strstr(rest->text, " [.") : NULL; /* clang's: ".omp_outlined..4" */
  size_t length = number_only ? (size_t)(number_only - rest->text) : strlen(rest->text);
  uint64_t shown = hash_map_key_bytes(1, rest->text, length), whole = hash_map_key_bytes(1, name, strlen(name));
  bool alike = shows_another(text, shown, whole) && strlen(name) != length;
  if (text->detail)
    alike |= shows_another(text, hash_map_key_bytes(hash_map_key(shown, whole), rest->aside, strlen(rest->aside)),
                           hash_map_key(1, (uintptr_t)row));
  return alike;
}

/* Prints what tells a row from those that read alike, in a line of its own. */
static void tell_apart(const struct text_table *text, const void *row, const char *name, const char *shown)
{
  char detail[TERMINAL_TEXT_MAX] = "", fitted[TERMINAL_TEXT_MAX];
  if (text->detail)
    text->detail(text->details, row, shown, detail);
  terminal_fit(&text->terminal, *detail ? detail : name, terminal_room(&text->terminal, BELOW), fitted);
  if (strcmp(fitted, shown) != 0)
    fprintf(text->report->stream, "%*s%s\n", BELOW, "", fitted);
}

static void print_rest(struct text_table *text, const void *row, const struct text_column *shown, unsigned indent,
                       const char *before, const char *aside)
{
  FILE *stream = text->report->stream;
  const struct cell *cell = &text->cells[shown->number];
  struct fitted_rest rest;
  fit_rest(text, shown->column->form, cell, indent, before, aside, &rest);
  if (rest.below) {
    putc_unlocked('\n', stream);
    terminal_wrap(&text->terminal, stream, "    ", "    ", rest.text);
    return;
  }
  fputs_unlocked("  ", stream);
  put_spaces(stream, indent);
  fputs_unlocked(before, stream);
  fputs_unlocked(rest.text, stream);
  if (*rest.aside)
    fprintf(stream, "%*s%s%s%s", (int)rest.gap, "", terminal_dim(&text->terminal), rest.aside,
            terminal_plain(&text->terminal));
  putc_unlocked('\n', stream);
  if (shown->column->form <= FORM_REST && cell->kind == CELL_TEXT && reads_alike(text, row, cell->text, &rest))
    tell_apart(text, row, cell->text, rest.text);
}

void text_table_expect(struct text_table *text, const void *row, unsigned indent, const char *before, const char *aside)
{
  assert(row && text->columns);
  if (!text->columns_count)
    return;
  const struct text_column *last = &text->columns[text->columns_count - 1];
  const struct cell *cell = &text->cells[last->number];
  struct fitted_rest rest;
  if (!last->rest || last->column->form != FORM_REST)
    return;
  table_cells(&text->table, row, text->cells);
  if (cell->kind != CELL_TEXT)
    return;
  fit_rest(text, last->column->form, cell, indent, before, aside, &rest);
  reads_alike(text, row, cell->text, &rest);
  text->expects = true;
}

/* Prints text in a column that is not the last one, behind spaces.  Returns how many follow. */
static unsigned print_text(const struct text_table *text, unsigned column_width, const struct cell *cell,
                           unsigned spaces)
{
  assert(column_width > 2);
  char fitted[TERMINAL_TEXT_MAX];
  if (cell->kind != CELL_TEXT)
    return spaces + column_width;
  unsigned room = column_width - 2, width = terminal_fit(&text->terminal, cell->text, room, fitted);
  fprintf(text->report->stream, "%*s%s", (int)spaces + 2, "", fitted);
  return room - width;
}

void text_table_row_beside(struct text_table *text, const void *row, unsigned indent, const char *before,
                           const char *aside)
{
  FILE *stream = text->report->stream;
  unsigned spaces = 0; /* they are printed before the next text, so that no line ends in spaces */
  assert(row && text->cells && text->columns);
  table_cells(&text->table, row, text->cells);
  for (uint32_t i = 0; i < text->columns_count; i++) {
    const struct text_column *shown = &text->columns[i];
    const struct table_column *column = shown->column;
    const struct cell *cell = &text->cells[shown->number];
    char figure[TEXT_TABLE_FIGURE];
    if (shown->rest) {
      if (column->form < FORM_REST) { /* only names are indented */
        indent = 0;
        before = aside = "";
      }
      if (cell->kind != CELL_TEXT && !*before)
        continue;
      put_spaces(stream, spaces);
      print_rest(text, row, shown, indent, before, aside);
      return;
    }
    if (table_is_text(column)) {
      spaces = print_text(text, shown->width, cell, spaces);
      continue;
    }
    figure_text(text, column, cell, figure);
    spaces += shown->width - column->marked;
    if (*figure) {
      size_t length = strlen(figure);
      put_spaces(stream, spaces > length ? spaces - (unsigned)length : i > 0); /* also before one that is too long */
      fputs_unlocked(figure, stream);
      spaces = 0;
    }
    if (column->marked && cell->mark)
      putc_unlocked(cell->mark, stream);
    else
      spaces += column->marked;
    text->marked |= column->marked && cell->mark;
  }
  putc_unlocked('\n', stream);
}

void text_table_row_below(struct text_table *text, const void *row, unsigned indent, const char *before)
{
  text_table_row_beside(text, row, indent, before, "");
}

void text_table_row(struct text_table *text, const void *row)
{
  text_table_row_below(text, row, 0, "");
}
