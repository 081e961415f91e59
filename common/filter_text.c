#include "common/filter_text.h"

#include <stdio.h>
#include <string.h>

#include "common/format.h"

static const char *const keys[FILTER_KEYS] = {
    [FILTER_KEY_THREADS] = "threads",
    [FILTER_KEY_RANKS] = "ranks",
    [FILTER_KEY_SKIP_FIRST] = "skip-first",
    [FILTER_KEY_ONLY] = "only",
    [FILTER_KEY_REGIONS] = "regions",
    [FILTER_KEY_FUNCTIONS] = "functions",
    [FILTER_KEY_MODULES] = "modules",
    [FILTER_KEY_CONSTRUCTS] = "constructs",
    [FILTER_KEY_CODE] = "code",
    [FILTER_KEY_CODE_FILE] = "code-file",
};

static bool is_blank(char c)
{
  return c == ' ' || c == '\t' || c == '\r';
}

static struct filter_part trimmed(const char *text, const char *end)
{
  while (text < end && is_blank(*text))
    text++;
  while (end > text && is_blank(end[-1]))
    end--;
  return (struct filter_part){text, (size_t)(end - text)};
}

static bool is_text(struct filter_part part, const char *text)
{
  return strlen(text) == part.length && !memcmp(part.text, text, part.length);
}

bool filter_text_next(const char **at, struct filter_line *line)
{
  while (**at) {
    const char *end = *at + strcspn(*at, "\n");
    line->whole = trimmed(*at, end);
    *at = *end ? end + 1 : end;
    if (!line->whole.length)
      continue;
    const char *word = line->whole.text, *stop = word + line->whole.length, *behind = word;
    while (behind < stop && !is_blank(*behind))
      behind++;
    unsigned key = 0;
    while (key < FILTER_KEYS && !is_text((struct filter_part){word, (size_t)(behind - word)}, keys[key]))
      key++;
    line->key = (enum filter_key)key;
    line->value = trimmed(behind, stop);
    return true;
  }
  return false;
}

bool filter_text_item(struct filter_part *rest, struct filter_item *item)
{
  while (rest->length) {
    const char *comma = memchr(rest->text, ',', rest->length), *end = rest->text + rest->length;
    struct filter_part part = trimmed(rest->text, comma ? comma : end);
    const char *next = comma ? comma + 1 : end;
    *rest = (struct filter_part){next, (size_t)(end - next)};
    item->excludes = part.length && *part.text == '!';
    item->part = item->excludes ? trimmed(part.text + 1, part.text + part.length) : part;
    if (part.length)
      return true;
  }
  return false;
}

/* A number in decimal, or in hexadecimal with "0x".  Returns how many bytes it has, 0: it is none, or too large. */
static size_t number_at(struct filter_part part, uint64_t *number)
{
  bool hexadecimal = part.length > 2 && part.text[0] == '0' && part.text[1] == 'x';
  size_t first = hexadecimal ? 2 : 0, at = first;
  uint64_t base = hexadecimal ? 16 : 10;
  *number = 0;
  for (; at < part.length; at++) {
    char c = part.text[at];
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10 : 16;
    if (digit >= base)
      break;
    if (*number > (UINT64_MAX - digit) / base)
      return 0;
    *number = *number * base + digit;
  }
  return at > first ? at : 0;
}

static bool range_at(struct filter_part part, uint64_t *from, uint64_t *to)
{
  size_t length = number_at(part, from);
  *to = *from;
  if (!length || length == part.length)
    return length;
  struct filter_part rest = {part.text + length + 1, part.length - length - 1};
  return part.text[length] == '-' && number_at(rest, to) == rest.length && rest.length && *from <= *to;
}

bool filter_text_has(struct filter_part list, uint64_t number)
{
  struct filter_item item;
  uint64_t from, to;
  while (filter_text_item(&list, &item))
    if (range_at(item.part, &from, &to) && number >= from && number <= to)
      return true;
  return false;
}

bool filter_text_ns(struct filter_part value, uint64_t *ns)
{
  return value.length && number_at(value, ns) == value.length;
}

/* Takes the last word off. */
static struct filter_part last_word(struct filter_part *part)
{
  const char *end = part->text + part->length, *word = end;
  while (word > part->text && !is_blank(word[-1]))
    word--;
  *part = trimmed(part->text, word);
  return (struct filter_part){word, (size_t)(end - word)};
}

bool filter_text_code(struct filter_part value, struct filter_code_line *code)
{
  struct filter_part what = last_word(&value), how = last_word(&value), end = last_word(&value),
                     start = last_word(&value);
  code->module = value; /* its name may have blanks */
  code->construct = is_text(what, "construct");
  code->excludes = is_text(how, "exclude");
  return value.length && (code->construct || is_text(what, "function")) &&
         (code->excludes || is_text(how, "include")) && filter_text_ns(start, &code->start) &&
         filter_text_ns(end, &code->end) && code->start < code->end;
}

int filter_text_kind(struct filter_part name)
{
  /* as profile_directive_name() of hpcprof-lite */
  static const char *const names[FORMAT_CONSTRUCT_KINDS] = {
      [FORMAT_DIRECTIVE_PARALLEL] = "parallel",       [FORMAT_DIRECTIVE_FOR] = "for",
      [FORMAT_DIRECTIVE_SECTIONS] = "sections",       [FORMAT_DIRECTIVE_SINGLE] = "single",
      [FORMAT_DIRECTIVE_MASKED] = "masked",           [FORMAT_DIRECTIVE_TASK] = "task",
      [FORMAT_DIRECTIVE_TASKLOOP] = "taskloop",       [FORMAT_DIRECTIVE_TASKGROUP] = "taskgroup",
      [FORMAT_DIRECTIVE_TASKWAIT] = "taskwait",       [FORMAT_DIRECTIVE_BARRIER] = "barrier",
      [FORMAT_DIRECTIVE_CRITICAL] = "critical",       [FORMAT_DIRECTIVE_LOCK] = "lock",
      [FORMAT_DIRECTIVE_ORDERED] = "ordered",         [FORMAT_DIRECTIVE_TEAMS] = "teams",
      [FORMAT_DIRECTIVE_USER_REGION] = "user-region", [FORMAT_CONSTRUCT_TASK_EXEC] = "task-exec",
      [FORMAT_CONSTRUCT_DISTRIBUTE] = "distribute",   [FORMAT_CONSTRUCT_ATOMIC] = "atomic"};
  for (int kind = 0; kind < FORMAT_CONSTRUCT_KINDS; kind++)
    if (names[kind] && is_text(name, names[kind]))
      return kind;
  return -1;
}

bool filter_text_line(struct filter_part place, struct filter_part *file, uint32_t *line)
{
  uint64_t number;
  const char *colon = NULL;
  for (size_t i = 0; i < place.length; i++)
    colon = place.text[i] == ':' ? place.text + i : colon;
  if (!colon || colon == place.text)
    return false;
  struct filter_part digits = {colon + 1, (size_t)(place.text + place.length - colon - 1)};
  *file = (struct filter_part){place.text, (size_t)(colon - place.text)};
  bool valid = digits.length && number_at(digits, &number) == digits.length && number && number <= UINT32_MAX;
  *line = valid ? (uint32_t)number : 0;
  return valid;
}

static const char *check_items(const struct filter_line *line)
{
  struct filter_part rest = line->value, file;
  struct filter_item item;
  uint64_t from, to;
  uint32_t number;
  if (!filter_text_item(&rest, &item))
    return "has no value; name at least one";
  rest = line->value;
  while (filter_text_item(&rest, &item)) {
    bool excludes =
        line->key == FILTER_KEY_FUNCTIONS || line->key == FILTER_KEY_MODULES || line->key == FILTER_KEY_CONSTRUCTS;
    if (!item.part.length || (item.excludes && !excludes))
      return "'!' excludes functions, modules and constructs only; leave it out";
    if ((line->key == FILTER_KEY_THREADS || line->key == FILTER_KEY_RANKS) && !range_at(item.part, &from, &to))
      return "takes numbers and ranges; write it as 0-3,8";
    if (line->key == FILTER_KEY_CONSTRUCTS && filter_text_kind(item.part) < 0 &&
        !filter_text_line(item.part, &file, &number))
      return "takes kinds of constructs (parallel, for, critical, ...) and FILE:LINE; see 'kind' of hpcprof-lite "
             "--view=regions";
  }
  return NULL;
}

bool filter_text_check(const char *text, char *message, size_t message_size)
{
  struct filter_line line;
  struct filter_code_line code;
  uint64_t ns;
  while (filter_text_next(&text, &line)) {
    const char *reason = NULL;
    switch (line.key) {
    case FILTER_KEYS:
      reason = "is no filter; there are threads, ranks, skip-first, only, regions, functions, modules and constructs";
      break;
    case FILTER_KEY_SKIP_FIRST:
    case FILTER_KEY_ONLY:
      reason = filter_text_ns(line.value, &ns) && ns ? NULL : "takes a time above 0; write it in ns";
      break;
    case FILTER_KEY_CODE:
      reason = filter_text_code(line.value, &code) ? NULL : "is damaged; leave such lines to hpcrun-lite";
      break;
    case FILTER_KEY_CODE_FILE:
      reason = line.value.length ? NULL : "has no value; leave such lines to hpcrun-lite";
      break;
    default:
      reason = check_items(&line);
    }
    if (!reason)
      continue;
    snprintf(message, message_size, "filter: '%.*s' %s", (int)(line.whole.length < 200 ? line.whole.length : 200),
             line.whole.text, reason);
    return false;
  }
  return true;
}
