#include "hpcprof-lite/report/terminal.h"

#include "common/escape.h"
#include "common/order.h"
#include "common/utf8.h"
#include "common/xalloc.h"

#include <assert.h>
#include <inttypes.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum { GLYPHS_MAX = 1900, WIDTH_LEAST = 40, WIDTH_MOST = 400, ELLIPSIS = 0x2026 };

static const char name_letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";

/* A text as code points, each with the columns that it takes. */
struct glyphs {
  uint32_t code[GLYPHS_MAX];
  size_t count;
  bool dots;
};

static unsigned bounded(unsigned long width)
{
  return (unsigned)MIN(MAX(width, WIDTH_LEAST), WIDTH_MOST);
}

/* Descriptors of a pager's pipe and of the terminal on which it shows what it reads; written by the main thread before
 * anything is printed. */
static int paged_pipe = -1, paged_terminal = -1;

void terminal_behind(int pipe, int terminal)
{
  paged_pipe = pipe;
  paged_terminal = terminal;
}

void terminal_init(struct terminal *terminal, FILE *stream)
{
  const char *columns = getenv("COLUMNS");
  unsigned long wanted = columns ? strtoul(columns, NULL, 10) : 0;
  *terminal = (struct terminal){.width = wanted ? bounded(wanted) : 80, .utf8 = !strcmp(nl_langinfo(CODESET), "UTF-8")};
  int own = fileno(stream), fd = own >= 0 && own == paged_pipe ? paged_terminal : own;
  struct winsize size;
  if (fd < 0 || !isatty(fd) || ioctl(fd, TIOCGWINSZ, &size) || !size.ws_col)
    return; /* under mpirun, ranks have terminals without a size */
  terminal->dots = terminal->utf8;
  terminal->width = bounded(size.ws_col);
  const char *no_colour = getenv("NO_COLOR"), *term = getenv("TERM");
  terminal->colour = !(no_colour && *no_colour) && term && strcmp(term, "dumb");
}

unsigned terminal_room(const struct terminal *terminal, unsigned used)
{
  enum { LEAST = 8 };
  return terminal->width > used + LEAST ? terminal->width - used : LEAST;
}

/* What is shown of the character that begins at *at: its code point or, unless `raw`, an escape.  Invalid bytes become
 * '?'. */
static size_t decode(const char **at, bool raw, uint32_t codes[ESCAPE_MAX])
{
  size_t length = utf8_length(*at), count = 0;
  uint32_t code = length ? utf8_code(*at, length) : '?';
  char escape[ESCAPE_MAX] = "";
  if (length && !raw && escape_needed(code))
    escape_character(*at, false, escape);
  while (escape[count]) {
    codes[count] = (uint32_t)escape[count];
    count++;
  }
  if (!count)
    codes[count++] = code;
  *at += length ? length : 1;
  return count;
}

static void read_glyphs(const struct terminal *terminal, const char *text, struct glyphs *glyphs)
{
  uint32_t codes[ESCAPE_MAX];
  glyphs->count = 0;
  glyphs->dots = terminal->dots;
  while (*text && glyphs->count + ESCAPE_MAX <= GLYPHS_MAX) {
    size_t count = decode(&text, terminal->raw, codes);
    for (size_t i = 0; i < count; i++) {
      bool shown = codes[i] < 127 || terminal->raw || (terminal->utf8 && wcwidth((wchar_t)codes[i]) >= 1);
      glyphs->code[glyphs->count++] = shown ? codes[i] : '?';
    }
  }
  if (*text)
    glyphs->code[glyphs->count - 1] = ELLIPSIS;
}

static unsigned glyph_width(const struct glyphs *glyphs, size_t i)
{
  assert(i < glyphs->count);
  uint32_t code = glyphs->code[i];
  if (code == ELLIPSIS)
    return glyphs->dots ? 1 : 2;
  int width = code < 127 ? 1 : wcwidth((wchar_t)code);
  return (unsigned)MAX(width, 1);
}

static unsigned glyphs_width(const struct glyphs *glyphs)
{
  unsigned width = 0;
  for (size_t i = 0; i < glyphs->count; i++)
    width += glyph_width(glyphs, i);
  return width;
}

/* Puts an ellipsis in place of [from, to). */
static void replace(struct glyphs *glyphs, size_t from, size_t to)
{
  assert(to <= glyphs->count);
  if (to <= from || (to == from + 1 && glyphs->code[from] == ELLIPSIS))
    return;
  glyphs->code[from] = ELLIPSIS;
  memmove(&glyphs->code[from + 1], &glyphs->code[to], (glyphs->count - to) * sizeof *glyphs->code);
  glyphs->count -= to - from - 1;
}

/* Removes " [raw name]" at the end if a source line still identifies the construct. */
static void drop_raw(struct glyphs *glyphs)
{
  if (!glyphs->count || glyphs->code[glyphs->count - 1] != ']')
    return;
  bool placed = false;
  for (size_t i = 1; i + 1 < glyphs->count; i++) {
    placed = placed || glyphs->code[i] == '@';
    if (placed && glyphs->code[i] == '[' && glyphs->code[i - 1] == ' ') {
      glyphs->count = i - 1;
      return;
    }
  }
}

/* The index of the parenthesis that glyphs[end - 1] closes; `end` if there is none. */
static size_t opening(const struct glyphs *glyphs, size_t end)
{
  assert(end && end <= glyphs->count);
  unsigned depth = 0;
  for (size_t i = end; i-- > 0;) {
    depth += glyphs->code[i] == ')';
    depth -= glyphs->code[i] == '(';
    if (!depth)
      return i;
  }
  return end;
}

/* Shortens "(parameters)" at the end to "(...)".  A remark " (function(parameters))" is not a list of parameters, but
 * may contain one. */
static void drop_parameters(struct glyphs *glyphs)
{
  size_t end = glyphs->count, open = 0;
  for (bool remark = true; remark; end -= remark) {
    while (end && glyphs->code[end - 1] != ')')
      end--;
    open = end ? opening(glyphs, end) : 0;
    remark = end && open < end && open && glyphs->code[open - 1] == ' ';
  }
  if (open && end - open > 2)
    replace(glyphs, open + 1, end - 1);
}

/* Whether the glyph is an angle bracket of template arguments, not part of operator<, operator>> or operator->. */
static bool is_angle(const struct glyphs *glyphs, size_t i)
{
  assert(i < glyphs->count);
  uint32_t code = glyphs->code[i];
  if (code != '<' && code != '>')
    return false;
  size_t start = i;
  while (start && strchr("<>-=", (int)(glyphs->code[start - 1] < 127 ? glyphs->code[start - 1] : ' ')) && i - start < 3)
    start--;
  static const char word[] = "operator";
  size_t length = sizeof word - 1;
  if (start < length)
    return code != '>' || !i || glyphs->code[i - 1] != '-';
  for (size_t j = 0; j < length; j++)
    if (glyphs->code[start - length + j] != (uint32_t)word[j])
      return code != '>' || glyphs->code[i - 1] != '-';
  return false;
}

/* Shortens the first of the innermost template argument lists that are not shortened yet; false if there is none. */
static bool drop_template(struct glyphs *glyphs)
{
  enum { DEPTH_MAX = 64 };
  size_t opened[DEPTH_MAX], best = 0, best_end = 0;
  unsigned depth = 0, deepest = 0;
  for (size_t i = 0; i < glyphs->count; i++) {
    if (!is_angle(glyphs, i))
      continue;
    if (glyphs->code[i] == '<') {
      if (depth < DEPTH_MAX)
        opened[depth] = i;
      depth++;
      continue;
    }
    if (!depth || depth-- > DEPTH_MAX)
      continue;
    size_t open = opened[depth];
    bool shortened = i == open + 2 && glyphs->code[open + 1] == ELLIPSIS;
    if (depth + 1 > deepest && !shortened && i > open + 1) {
      deepest = depth + 1;
      best = open;
      best_end = i;
    }
  }
  if (deepest)
    replace(glyphs, best + 1, best_end);
  return deepest > 0;
}

/* Whether the text has these ASCII letters from `at` on. */
static bool has_at(const struct glyphs *glyphs, size_t at, const char *letters)
{
  size_t i = 0;
  while (letters[i] && at + i < glyphs->count && glyphs->code[at + i] == (uint32_t)letters[i])
    i++;
  return !letters[i];
}

static bool has(const struct glyphs *glyphs, const char *letters)
{
  bool found = false;
  for (size_t i = 0; i < glyphs->count && !found; i++)
    found = has_at(glyphs, i, letters);
  return found;
}

static void remove_first(struct glyphs *glyphs, size_t count)
{
  assert(count <= glyphs->count);
  memmove(glyphs->code, glyphs->code + count, (glyphs->count - count) * sizeof *glyphs->code);
  glyphs->count -= count;
}

/* Removes " [clone .avx2]" at the end. */
static void drop_clone(struct glyphs *glyphs)
{
  for (size_t i = 1; i < glyphs->count; i++)
    if (has_at(glyphs, i, " [clone ") && glyphs->code[glyphs->count - 1] == ']')
      glyphs->count = i;
}

/* Removes the list of parameters at the end, with "const" behind it, and then the type of the result before the name.
 */
static void drop_list(struct glyphs *glyphs)
{
  static const char constant[] = " const", operator[] = "operator";
  enum { CONST = sizeof constant - 1, OPERATOR = sizeof operator- 1 };
  size_t end = glyphs->count;
  if (end > CONST && has_at(glyphs, end - CONST, constant))
    end -= CONST;
  if (!end || glyphs->code[end - 1] != ')' || has(glyphs, " @ "))
    return;
  size_t open = opening(glyphs, end);
  bool is_call = open >= OPERATOR && open < end && has_at(glyphs, open - OPERATOR, operator);
  if (!open || open == end || glyphs->code[open - 1] == ' ' || is_call) /* "name (a remark)", "operator()" */
    return;
  glyphs->count = open;
  size_t begin = has(glyphs, operator) ? 0 : open; /* "operator new" */
  while (begin && glyphs->code[begin - 1] != ' ')
    begin--;
  remove_first(glyphs, begin);
}

/* Removes the outermost namespace; false if there is none. */
static bool drop_namespace(struct glyphs *glyphs)
{
  size_t i = 0;
  while (i < glyphs->count && (glyphs->code[i] > 127 || strchr(name_letters, (int)glyphs->code[i])))
    i++;
  if (!i || !has_at(glyphs, i, "::") || i + 2 == glyphs->count)
    return false;
  for (size_t j = i; j < glyphs->count && glyphs->code[j] != '('; j++)
    if (glyphs->code[j] == ' ')
      return false;
  remove_first(glyphs, i + 2);
  return true;
}

/* Where the remark " (function)" of a construct with a place begins, so that the place need not be cut; 0 without one,
 * or if it leaves no room. */
static size_t kept_place(const struct glyphs *glyphs, unsigned width)
{
  enum { REMARK_MIN = 8 };
  unsigned used = 0;
  bool placed = false;
  for (size_t i = 0; i + 1 < glyphs->count; used += glyph_width(glyphs, i++)) {
    placed = placed || glyphs->code[i] == '@';
    if (placed && glyphs->code[i] == ' ' && glyphs->code[i + 1] == '(')
      return used + REMARK_MIN <= width ? i + 2 : 0;
  }
  return 0;
}

/* Removes the middle of the text, or of its remark.  The end, which distinguishes similar names, keeps slightly more
 * room than the beginning. */
static void cut_middle(struct glyphs *glyphs, unsigned width)
{
  unsigned dots = glyphs->dots ? 1 : 2, used = 0;
  if (width <= dots) {
    glyphs->count = MIN(width, glyphs->count);
    return;
  }
  size_t head = 0, tail = glyphs->count, place = kept_place(glyphs, width);
  while (head < place)
    used += glyph_width(glyphs, head++);
  unsigned head_width = used + (width - used - dots) * 2 / 5, tail_width = width - dots - head_width;
  while (head < glyphs->count && used + glyph_width(glyphs, head) <= head_width)
    used += glyph_width(glyphs, head++);
  used = 0;
  while (tail > head && used + glyph_width(glyphs, tail - 1) <= tail_width)
    used += glyph_width(glyphs, --tail);
  replace(glyphs, head, tail);
}

static void write_glyphs(const struct glyphs *glyphs, char *out)
{
  for (size_t i = 0; i < glyphs->count; i++) {
    uint32_t code = glyphs->code[i];
    if (code < 128) {
      *out++ = (char)code;
    } else if (code == ELLIPSIS && !glyphs->dots) {
      *out++ = '.';
      *out++ = '.';
    } else {
      static const uint8_t first_bits[] = {0, 0xc0, 0xe0, 0xf0};
      unsigned further = 1 + (code >= 0x800) + (code >= 0x10000);
      *out++ = (char)(first_bits[further] | code >> 6 * further);
      while (further--)
        *out++ = (char)(0x80 | (code >> 6 * further & 0x3f));
    }
  }
  *out = 0;
}

/* Shortens a text that is too long; lists: as in struct terminal. */
static void shorten(struct glyphs *glyphs, unsigned width, bool lists)
{
  drop_raw(glyphs);
  drop_clone(glyphs);
  if (glyphs_width(glyphs) > width && !lists)
    drop_parameters(glyphs);
  bool more = true;
  while (more && glyphs_width(glyphs) > width)
    more = drop_template(glyphs);
  if (glyphs_width(glyphs) > width && !lists)
    drop_list(glyphs);
  while (glyphs_width(glyphs) > width && drop_namespace(glyphs))
    ;
  if (glyphs_width(glyphs) > width)
    cut_middle(glyphs, width);
}

unsigned terminal_fit(const struct terminal *terminal, const char *text, unsigned width, char *out)
{
  assert(text && out);
  _Static_assert(GLYPHS_MAX * 4 < TERMINAL_TEXT_MAX, "room for the longest code points");
  struct glyphs glyphs;
  read_glyphs(terminal, text, &glyphs);
  if (glyphs_width(&glyphs) > width)
    shorten(&glyphs, width, terminal->lists);
  write_glyphs(&glyphs, out);
  return glyphs_width(&glyphs);
}

unsigned terminal_cut(const struct terminal *terminal, const char *text, unsigned width, char *out)
{
  assert(text && out);
  struct glyphs glyphs;
  read_glyphs(terminal, text, &glyphs);
  unsigned dots = glyphs.dots ? 1 : 2;
  if (glyphs_width(&glyphs) > width) {
    size_t kept = 0;
    for (unsigned used = dots; kept < glyphs.count && used + glyph_width(&glyphs, kept) <= width; kept++)
      used += glyph_width(&glyphs, kept);
    glyphs.count = kept;
    if (width >= dots)
      glyphs.code[glyphs.count++] = ELLIPSIS;
  }
  write_glyphs(&glyphs, out);
  return glyphs_width(&glyphs);
}

unsigned terminal_decimals(uint64_t largest_ns)
{
  if (largest_ns < 10000000000000)
    return 3;
  return largest_ns < 1000000000000000 ? 1 : 0;
}

void terminal_seconds(uint64_t ns, unsigned decimals, char out[16])
{
  if (ns / 1000000000 > 99999999)
    terminal_count(ns / 1000000000, out);
  else
    snprintf(out, 16, "%.*f", (int)decimals, (double)ns / 1e9);
}

void terminal_count(uint64_t value, char out[16])
{
  static const char units[] = " kMGTPE";
  if (value < 1000000) {
    snprintf(out, 16, "%" PRIu64, value);
    return;
  }
  double scaled = (double)value;
  size_t unit = 0;
  while (scaled >= 999.95 && unit + 2 < sizeof units) {
    scaled /= 1000;
    unit++;
  }
  snprintf(out, 16, "%.2f%c", scaled, units[unit]);
}

void terminal_percent(uint64_t part, uint64_t whole, char out[16])
{
  if (!whole)
    snprintf(out, 16, "-");
  else
    snprintf(out, 16, "%.1f", 100.0 * (double)part / (double)whole);
}

void terminal_amount(uint64_t amount, bool is_time, unsigned decimals, char out[16])
{
  if (is_time)
    terminal_seconds(amount, decimals, out);
  else
    terminal_count(amount, out);
}

/* A number from 1 on: one below 10 has so many decimals, greater ones have the same number of digits. */
static void short_number(double value, int decimals, const char *unit, char out[16])
{
  double half = decimals == 3 ? 0.0005 : 0.005;
  for (double limit = 10; decimals > 0 && value + half >= limit; limit *= 10, half *= 10)
    decimals--;
  snprintf(out, 16, "%.*f %s", decimals, value, unit);
}

void terminal_short_time(uint64_t ns, char out[16])
{
  if (ns < 1000)
    snprintf(out, 16, "%" PRIu64 " ns", ns);
  else if (ns < 999500)
    short_number((double)ns / 1e3, 2, "us", out);
  else if (ns < 999500000)
    short_number((double)ns / 1e6, 2, "ms", out);
  else
    short_number((double)ns / 1e9, 3, "s", out);
}

void terminal_short_count(uint64_t value, char out[16])
{
  static const char units[] = " kMGTPE";
  uint64_t scaled = value;
  size_t unit = 0;
  for (; scaled >= 1000 && value >= 10000; scaled /= 1000)
    unit++;
  if (unit)
    snprintf(out, 16, "%" PRIu64 "%c", scaled, units[unit]);
  else
    snprintf(out, 16, "%" PRIu64, value);
}

void terminal_whole_count(uint64_t value, char out[16])
{
  if (value < 99995000)
    terminal_count(value, out);
  else
    terminal_short_count(value, out);
}

const char *terminal_bold(const struct terminal *terminal)
{
  return terminal->colour ? "\033[1m" : "";
}

const char *terminal_dim(const struct terminal *terminal)
{
  return terminal->colour ? "\033[2m" : "";
}

const char *terminal_plain(const struct terminal *terminal)
{
  return terminal->colour ? "\033[0m" : "";
}

/* The columns that the character at *at takes; moves *at behind it. */
static size_t columns_of(const struct terminal *terminal, const char **at)
{
  uint32_t codes[ESCAPE_MAX];
  if (**at == TERMINAL_GLUE) {
    ++*at;
    return 1;
  }
  size_t count = decode(at, terminal->raw, codes);
  int width = count == 1 && terminal->utf8 ? wcwidth((wchar_t)codes[0]) : 0;
  return width > 1 ? (size_t)width : count;
}

/* How much of a text, in bytes, takes at most so many columns; one character in any case. */
static size_t prefix_of(const struct terminal *terminal, const char *text, size_t length, size_t columns)
{
  const char *at = text;
  size_t taken = 0;
  for (size_t used = 0; taken < length;) {
    used += columns_of(terminal, &at);
    if (taken && used > columns)
      break;
    taken = (size_t)(at - text);
  }
  return MIN(taken, length);
}

/* Prints `length` bytes of a text.  No line begins with a percent sign: "63 %" stays together. */
static void wrap(const struct terminal *terminal, FILE *stream, const char *first, const char *others, const char *text,
                 size_t length)
{
  assert(strlen(first) < terminal->width && strlen(others) < terminal->width);
  const char *before = first;
  do {
    char line[TERMINAL_TEXT_MAX], fitted[TERMINAL_TEXT_MAX];
    size_t most = prefix_of(terminal, text, length, terminal->width - strlen(before)), take = most;
    while (take < length && take > 0 && (text[take] != ' ' || text[take + 1] == '%'))
      take--;
    if (!take)
      take = most;
    snprintf(line, sizeof line, "%s%.*s", before, (int)take, text);
    for (char *glue = line; (glue = strchr(glue, TERMINAL_GLUE));)
      *glue = ' ';
    terminal_fit(terminal, line, terminal->width, fitted);
    fprintf(stream, "%s\n", fitted);
    for (text += take, length -= take; length > 0 && *text == ' '; length--)
      text++;
    before = others;
  } while (length > 0);
}

void terminal_wrap(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                   const char *text)
{
  wrap(terminal, stream, first, others, text, strlen(text));
}

void terminal_wrapf(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                    const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  terminal_vwrapf(terminal, stream, first, others, format, arguments);
  va_end(arguments);
}

void terminal_vwrapf(const struct terminal *terminal, FILE *stream, const char *first, const char *others,
                     const char *format, va_list arguments)
{
  char *text = xvasprintf(format, arguments);
  terminal_wrap(terminal, stream, first, others, text);
  free(text);
}

void terminal_lines(const struct terminal *terminal, FILE *stream, const char *text)
{
  for (size_t length; *text; text += length + (text[length] == '\n')) {
    length = strcspn(text, "\n");
    wrap(terminal, stream, "", "", text, length);
  }
}

static bool needs_quote(char character)
{
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  return (unsigned char)character < 0x80 && !strchr(plain, character);
}

/* How a character of a word is written. */
struct written {
  size_t length; /* bytes of the character */
  bool unsafe;   /* '?' instead of it */
  bool quoted;
};

static struct written written_at(const char *word)
{
  size_t length = utf8_length(word);
  bool unsafe = !length || escape_needed(utf8_code(word, length));
  return (struct written){length ? length : 1, unsafe, unsafe || needs_quote(*word)};
}

unsigned terminal_word_columns(const char *word)
{
  unsigned columns = 0;
  while (*word) {
    struct written written = written_at(word);
    word += written.length;
    columns += 1 + written.quoted;
  }
  return columns;
}

unsigned terminal_word(FILE *stream, const char *word, unsigned width, unsigned column)
{
  while (*word) {
    struct written written = written_at(word);
    if (column + 1 + written.quoted >= width) {
      fputs("\\\n", stream);
      column = 0;
    }
    if (written.quoted)
      putc('\\', stream);
    if (written.unsafe)
      putc('?', stream);
    else
      fwrite(word, 1, written.length, stream);
    word += written.length;
    column += 1 + written.quoted;
  }
  return column;
}

bool terminal_quote(const char *word, char *out, size_t size)
{
  assert(size);
  char *text;
  size_t length;
  FILE *stream = xopen_memstream(&text, &length);
  if (!*word)
    fputs("''", stream);
  terminal_word(stream, word, UINT32_MAX, 0);
  xclose(stream, &text);
  bool fits = length < size;
  snprintf(out, size, "%s", fits ? text : "DIR");
  free(text);
  return fits;
}
