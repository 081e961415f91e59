#include "completions/view_columns.h"

#include "hpcprof-lite/comparison/compare_lists.h"
#include "hpcprof-lite/report/comparison/run_figures.h"
#include "hpcprof-lite/all_views/view_table.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *reason, const char *name)
{
  fprintf(stderr, "describe: %s%s\n", reason, name);
  exit(1);
}

/* Describes a table without the columns that depend on the run.  statistics: with those of threads and ranks; mpi: with
 * those of runs that call MPI, and wait for devices. */
static void describe_table(table_maker *make, bool statistics, bool mpi, struct table *table)
{
  static const struct profile profile = {.workspan = {.known = true, .is_time = true}};
  struct tree_columns columns = {.samples = MODEL_NONE,
                                 .overhead = MODEL_NONE,
                                 .lockwait = MODEL_NONE,
                                 .idleness = MODEL_NONE,
                                 .critical = MODEL_NONE};
  struct report report = {
      .profile = &profile, .columns = &columns, .trees.no_statistics = !statistics, .mpi = mpi, .awaits = mpi};
  *table = (struct table){0};
  make(&report, table);
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct table_column *column = table_column(table, i);
    if (table_number(table, column->name) != i)
      fail("two columns of a table have the name ", column->name);
    if (!column->help || !*column->help)
      fail("the manual needs the help of column ", column->name);
  }
}

/* What describes the tables of a view: one or two, as its options and formats choose; ends in NULL. */
struct makers {
  table_maker *make[3];
};

static struct makers makers_of(enum options_view view)
{
  const struct options csv = {.view = view, .format = OPTIONS_CSV}, json = {.view = view, .format = OPTIONS_JSON};
  const struct options groups = {.view = view, .format = OPTIONS_CSV, .grains.groups = true};
  struct makers makers = {{view_made_by(&csv)}};
  table_maker *others[] = {view_made_by(&json), view_made_by(&groups)};
  for (size_t i = 0; i < sizeof others / sizeof *others && !makers.make[1]; i++)
    if (others[i] != makers.make[0])
      makers.make[1] = others[i];
  return makers;
}

/* ---- completions ---- */

static bool is_sorted(enum options_view view)
{
  return options_views[view].traits & HAS_SORT;
}

static bool is_compared(enum options_view view)
{
  return options_views[view].traits & HAS_COMPARE && view != OPTIONS_SUMMARY;
}

static bool is_table(enum options_view view)
{
  return makers_of(view).make[0];
}

/* Whether runs can be compared by a column. */
static bool is_compared_by(const struct table_column *column, bool tree)
{
  if (!tree)
    return compare_lists_is_number(column);
  if (column->text_only)
    return !strcmp(column->name, "incl_s") || !strcmp(column->name, "self_s");
  return column->type == COLUMN_COUNT || column->type == COLUMN_SECONDS || column->type == COLUMN_AMOUNT;
}

/* Prints the names of columns, each once, with a space before it. */
static void print_names(struct makers makers, bool compared)
{
  struct table tables[2] = {0};
  for (uint32_t i = 0; i < 2 && makers.make[i]; i++) {
    describe_table(makers.make[i], !compared, false, &tables[i]);
    for (uint32_t j = 0; j < tables[i].columns_count; j++) {
      const struct table_column *column = table_column(&tables[i], j);
      bool repeated =
          table_number(&tables[i], column->name) < j || (i && table_number(&tables[0], column->name) != MODEL_NONE);
      if (!repeated && (!compared || is_compared_by(column, makers.make[0] == tree_view_table)))
        printf(" %s", column->name);
    }
  }
  table_release(&tables[0]);
  table_release(&tables[1]);
}

/* Prints the branches of an option: those views that have it, those that do not, and other words. */
static void print_option(const char *option, bool (*has)(enum options_view view), bool compared,
                         enum options_view fallback)
{
  for (enum options_view i = 0; i < OPTIONS_VIEWS; i++) {
    printf("        %s:%s) values='", option, options_views[i].name);
    if (has(i))
      print_names(makers_of(i), compared);
    puts("' ;;");
  }
  printf("        %s:*) values='", option);
  print_names(makers_of(fallback), compared);
  puts("' ;;");
}

void view_columns_branches(void)
{
  print_option("sort", is_sorted, false, OPTIONS_TOPDOWN);
  print_option("columns", is_table, false, OPTIONS_SUMMARY);
  print_option("metric", is_compared, true, OPTIONS_TOPDOWN);
}

void view_columns_conditions(void)
{
  struct condition_metric metrics[RUN_METRICS_MAX];
  uint32_t count = run_figure_metrics(metrics);
  for (uint32_t i = 0; i < count; i++)
    printf(" %s", metrics[i].name);
}

/* ---- the manual ---- */

enum { LINE_WIDTH = 76 };

/* What mdoc needs before a word that begins with that character. */
static const char *mark_of(char first)
{
  if (first == '-')
    return "\\";
  return first == '\'' || first == '.' ? "\\&" : "";
}

/* Prints a sentence as lines of mdoc's source, with a capital letter and a full stop. */
static void print_sentence(const char *text, size_t length)
{
  size_t column = 0;
  for (const char *word = text, *end = text + length; word < end;) {
    const char *next = memchr(word, ' ', (size_t)(end - word));
    size_t size = (size_t)((next ? next : end) - word);
    if (column && column + 1 + size > LINE_WIDTH) {
      putchar('\n');
      column = 0;
    }
    bool capital = word == text && !memchr(word, '_', size);
    column += (size_t)printf("%s%s%c%.*s", column ? " " : "", mark_of(*word),
                             capital ? toupper((unsigned char)*word) : *word, (int)size - 1, word + 1);
    word += size + 1;
  }
  puts(".");
}

/* Prints what a column holds: its sentences, each on a line of its own. */
static void print_help(const struct table_column *column)
{
  const char *name = column->name, *sentence = column->help;
  for (const char *end; (end = strstr(sentence, ". ")); sentence = end + 2)
    print_sentence(sentence, (size_t)(end - sentence));
  print_sentence(sentence, strlen(sentence));
  size_t length = strlen(name);
  if (column->type == COLUMN_AMOUNT && (length < 2 || strcmp(name + length - 2, "_s") != 0))
    puts("In seconds, or in the counted unit.");
  if (column->text_only && column->wide)
    printf(".Em Text only ,\nin lines of at least %u columns.\n", column->wide);
  else if (column->text_only)
    puts(".Em Text only .");
  else if (column->wide)
    printf("Text shows it in lines of at least %u columns.\n", column->wide);
}

/* Prints the items of columns that are in all formats, or of those that only text has.  Columns that follow one another
 * with the same help share one. */
static void print_some(const struct table *table, bool text_only)
{
  const struct table_column *last = NULL;
  for (uint32_t i = 0; i < table->columns_count; i++) {
    const struct table_column *column = table_column(table, i);
    if (column->text_only != text_only)
      continue;
    bool alike = last && last->type == column->type && !strcmp(last->help, column->help);
    if (last && !alike) {
      putchar('\n');
      print_help(last);
    }
    printf("%s Va %s", alike ? " ," : ".It", column->name);
    if (column->heading && strcasecmp(column->heading, column->name) != 0)
      printf(" Po Li \"%s\" Pc", column->heading);
    last = column;
  }
  if (!last)
    return;
  putchar('\n');
  print_help(last);
}

static void print_items(table_maker *make)
{
  struct table table;
  describe_table(make, true, true, &table);
  print_some(&table, false);
  print_some(&table, true);
  table_release(&table);
}

bool view_columns_items(const char *name)
{
  static const struct {
    const char *name;
    table_maker *make;
  } others[] = {
      {"grain-groups", grain_groups_table}, {"timeline-json", timeline_tiles_table}, {"scaling", scaling_view_table}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (!strcmp(name, others[i].name)) {
      print_items(others[i].make);
      return true;
    }
  for (enum options_view i = 0; i < OPTIONS_VIEWS; i++)
    if (!strcmp(name, options_views[i].name) && is_table(i)) {
      print_items(makers_of(i).make[0]);
      return true;
    }
  return false;
}
