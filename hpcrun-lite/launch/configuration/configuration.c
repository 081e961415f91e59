#include "hpcrun-lite/launch/configuration/configuration.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hpcrun-lite/launch/configuration/value_check.h"

enum { FILE_MAX = 64 << 10 };

static const char local_name[] = "./.hpcrun-lite.ini";
static const char spaces[] = " \t";
static const char *const section_names[] = {[SECTION_MEASURE] = "measure",
                                            [SECTION_FILTER] = "filter",
                                            [SECTION_BUFFERS] = "buffers",
                                            [SECTION_PROGRAM] = "program"};

struct parse {
  struct configuration *into;
  const char *text, *end; /* what is left of the file */
  bool restricted;
  int line;
  enum setting_section section;
  struct setting_layer *layer; /* of the section */
  bool has_key;                /* the section has a key, which an indented line goes on with */
  bool continued;              /* the line is such a one */
  bool failed;
  int failed_line;
  char *message;
  size_t message_size;
};

/* Keeps the first failure.  Returns false. */
static bool fail(struct parse *parse, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(struct parse *parse, const char *format, ...)
{
  if (parse->failed)
    return false;
  parse->failed = true;
  parse->failed_line = parse->line;
  int length = snprintf(parse->message, parse->message_size, "%s:%d: ", parse->into->path, parse->line);
  va_list arguments;
  va_start(arguments, format);
  if (length > 0 && (size_t)length < parse->message_size)
    vsnprintf(parse->message + length, parse->message_size - (size_t)length, format, arguments);
  va_end(arguments);
  return false;
}

/* ---- sections ---- */

/* Begins [program NAME]. */
static bool enter_program(struct parse *parse, const char *name)
{
  struct configuration *into = parse->into;
  if (!*name || strchr(name, '/') || strlen(name) >= CONFIGURATION_NAME_MAX)
    return fail(parse,
                "[program %.60s]: not the name of a program; write its file name of at most %d bytes, without '/'",
                name, CONFIGURATION_NAME_MAX - 1);
  for (unsigned i = 0; i < into->program_count; i++)
    if (!strcmp(into->programs[i].name, name))
      return fail(parse, "[program %s]: there is such a section already; put both together", name);
  if (into->program_count == CONFIGURATION_PROGRAMS_MAX)
    return fail(parse, "[program %s]: more than %d programs; remove some", name, CONFIGURATION_PROGRAMS_MAX);
  struct configuration_program *program = &into->programs[into->program_count++];
  snprintf(program->name, sizeof program->name, "%s", name);
  parse->layer = &program->layer;
  return true;
}

/* Begins the section whose name stands before the bracket; line: "[NAME]..." without spaces before it.  libinih cuts
 * long names off, and accepts anything behind the bracket. */
static bool enter_section(struct parse *parse, const char *line)
{
  char name[256];
  const char *bracket = strchr(line, ']'), *behind = bracket ? bracket + 1 + strspn(bracket + 1, spaces) : "";
  if (!bracket)
    return fail(parse, "'[' without ']'; write, for example, [measure]");
  if (*behind && (*behind != ';' || behind == bracket + 1))
    return fail(parse, "there is text behind the name of a section; put it in the next line");
  snprintf(name, sizeof name, "%.*s", (int)(bracket - line - 1), line + 1);
  parse->has_key = false;
  parse->layer = &parse->into->common;
  if (!strncmp(name, "program", 7) && (!name[7] || strchr(spaces, name[7]))) {
    parse->section = SECTION_PROGRAM;
    return enter_program(parse, name + 7 + strspn(name + 7, spaces));
  }
  for (enum setting_section section = SECTION_MEASURE; section < SECTION_PROGRAM; section++)
    if (!strcmp(name, section_names[section])) {
      parse->section = section;
      return true;
    }
  return fail(parse, "unknown section [%.60s]; the sections are [measure], [filter], [buffers] and [program NAME]",
              name);
}

/* ---- lines ---- */

/* Whether the line is the name of a section, and not a pattern. */
static bool is_section(const char *line)
{
  for (enum setting_section section = SECTION_MEASURE; section < SECTION_PROGRAM; section++) {
    size_t length = strlen(section_names[section]);
    if (!strncmp(line + 1, section_names[section], length) && line[1 + length] == ']')
      return true;
  }
  return !strncmp(line, "[program", strlen("[program"));
}

/* Whether the line goes on with a list, rather than being a setting that is indented by mistake. */
static bool check_continuation(struct parse *parse, const char *line)
{
  char word[64];
  size_t length = strcspn(line, " \t=:");
  snprintf(word, sizeof word, "%.*s", (int)length, line);
  const char *behind = line + length + strspn(line + length, spaces);
  if ((*line == '[' && is_section(line)) || (*behind == '=' && setting_find(word) != SETTINGS))
    return fail(parse, "a line that begins with a space continues the one before; remove the spaces before '%.60s'",
                line);
  return true;
}

/* Checks a line before libinih gets it; length: without its end. */
static bool check_line(struct parse *parse, const char *line, size_t length, size_t length_max)
{
  char copy[256];
  for (size_t i = 0; i < length; i++)
    if (((unsigned char)line[i] < ' ' && line[i] != '\t') || line[i] == 127)
      return fail(parse, "byte %zu is a control character (0x%02x); remove it: a configuration file is plain text",
                  i + 1, (unsigned char)line[i]);
  if (length > length_max || length >= sizeof copy)
    return fail(parse, "the line is longer than %zu bytes; a list may go on in lines that begin with a space",
                length_max);
  snprintf(copy, sizeof copy, "%.*s", (int)length, line);
  const char *start = copy + strspn(copy, spaces);
  parse->continued = start > copy && parse->has_key;
  if (!*start)
    return true;
  if (parse->continued)
    return check_continuation(parse, start);
  return *start != '[' || enter_section(parse, start);
}

/* A line for libinih, as fgets() would read it; NULL at the end or after a failure. */
static char *read_line(char *into, int size, void *stream)
{
  struct parse *parse = stream;
  if (parse->failed || parse->text >= parse->end)
    return NULL;
  const char *line = parse->text, *newline = memchr(line, '\n', (size_t)(parse->end - line));
  size_t length = (size_t)((newline ? newline : parse->end) - line);
  parse->text = newline ? newline + 1 : parse->end;
  if (++parse->line == 1 && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) /* a byte order mark */
    line += 3, length -= 3;
  if (length && line[length - 1] == '\r')
    length--;
  size_t at = 0;
  while (at < length && strchr(spaces, line[at]))
    at++;
  bool comment = at < length && (line[at] == '#' || line[at] == ';');
  if (!comment && !check_line(parse, line, length, (size_t)size - 2))
    return NULL;
  snprintf(into, (size_t)size, "%.*s\n", comment ? 0 : (int)length, line);
  return into;
}

/* ---- settings ---- */

/* What the file of the current directory may not say: whoever prepares a directory must not decide what a program
 * loads, and where it writes. */
static bool check_restricted(struct parse *parse, enum setting setting, const char *value)
{
  static const char *const words[] = {"auto", "exchange", "keep"};
  const char *remedy = "; use the option, or name this file by --config";
  if (!parse->restricted || (setting != SETTING_OUTPUT && setting != SETTING_OMP_RUNTIME))
    return true;
  for (size_t i = 0; setting == SETTING_OMP_RUNTIME && i < sizeof words / sizeof *words; i++)
    if (!strcmp(value, words[i]))
      return true;
  return fail(parse, "%s: a file that is found in the current directory may not name %s%s", setting_keys[setting].name,
              setting == SETTING_OUTPUT ? "an output directory" : "a library", remedy);
}

/* Whether the key may stand in the section. */
static bool check_place(struct parse *parse, enum setting setting)
{
  const struct setting_key *key = &setting_keys[setting];
  if (parse->section == SECTION_NONE)
    return fail(parse, "%s: stands before the first section; write [%s] above it", key->name,
                section_names[key->section]);
  if (parse->section == SECTION_PROGRAM && key->whole)
    return fail(parse, "%s: holds for the whole launch, not for one program; move it to [measure]", key->name);
  if (parse->section != SECTION_PROGRAM && parse->section != key->section)
    return fail(parse, "%s: does not belong to [%s]; move it to [%s]", key->name, section_names[parse->section],
                section_names[key->section]);
  return true;
}

/* Whether the section that is read may have the key. */
static bool belongs(const struct parse *parse, enum setting setting)
{
  if (parse->section == SECTION_PROGRAM)
    return !setting_keys[setting].whole;
  return setting_keys[setting].section == parse->section;
}

static bool fail_unknown(struct parse *parse, const char *name)
{
  char known[512] = "";
  for (enum setting setting = 0; setting < SETTINGS; setting++)
    if (belongs(parse, setting)) {
      size_t at = strlen(known);
      snprintf(known + at, sizeof known - at, "%s%s", at ? ", " : "", setting_keys[setting].name);
    }
  if (!*known)
    return fail(parse, "%.60s: stands before the first section; write [measure] above it", name);
  return fail(parse, "%.60s: unknown key; [%s] has %s", *name ? name : "''", section_names[parse->section], known);
}

/* Removes the spaces around the items of a list. */
static void tighten(char *list)
{
  char *to = list;
  for (const char *from = list; *from; from++) {
    const char *next = from + strspn(from, spaces);
    if (next > from && (to == list || to[-1] == ',' || *next == ',' || !*next))
      continue;
    *to++ = *from;
  }
  *to = '\0';
}

/* Takes a value: of a new key, or what a line adds to its list. */
static bool take_value(struct parse *parse, enum setting setting, const char *value)
{
  const struct setting_key *key = &setting_keys[setting];
  const char *before = parse->continued ? parse->layer->text[setting] : NULL;
  char subject[PATH_MAX + 64], *joined;
  size_t length = strlen(value);
  if (key->list && length > 1 && value[length - 1] == ',') /* before the next line of the list */
    length--;
  if (before && asprintf(&joined, "%s,%.*s", before, (int)length, value) < 0)
    return fail(parse, "not enough memory");
  if (!before && !(joined = strndup(value, length)))
    return fail(parse, "not enough memory");
  free((char *)before);
  if (key->list)
    tighten(joined);
  parse->layer->text[setting] = joined;
  if (!before)
    parse->layer->line[setting] = parse->line;
  snprintf(subject, sizeof subject, "%s:%d: %s", parse->into->path, parse->line, key->name);
  if (value_check(setting, subject, joined, parse->message, parse->message_size))
    return check_restricted(parse, setting, joined);
  parse->failed = true;
  parse->failed_line = parse->line;
  return false;
}

/* libinih's callback.  Its name of the section is not used: it is cut off if it is long. */
static int take_pair(void *user, const char *section, const char *name, const char *value)
{
  struct parse *parse = user;
  (void)section;
  if (parse->failed || !name)
    return !parse->failed;
  enum setting setting = setting_find(name);
  parse->has_key = true;
  if (setting == SETTINGS)
    return fail_unknown(parse, name);
  if (!check_place(parse, setting))
    return 0;
  if (parse->continued && !setting_keys[setting].list)
    return fail(
        parse, "%s: has one value, which no further line can continue; remove the line, or the spaces before it", name);
  if (!parse->continued && parse->layer->text[setting])
    return fail(parse, "%s: is given in line %d already; remove one of them", name, parse->layer->line[setting]);
  if (!*value)
    return fail(parse, "%s: has no value; write one, or remove the line", name);
  for (const char *hash = strchr(value, '#'); hash; hash = strchr(hash + 1, '#'))
    if (hash == value || strchr(spaces, hash[-1]) || (hash[-1] == ',' && setting_keys[setting].list))
      return fail(parse, "%s: '#' begins a comment only at the start of a line; write ';' behind a value", name);
  return take_value(parse, setting, value);
}

static bool parse_text(struct parse *parse)
{
  int bad = ini_parse_stream(read_line, parse, take_pair, parse);
  if (bad > 0 && (!parse->failed || bad < parse->failed_line)) {
    parse->failed = false;
    parse->line = bad;
    fail(parse, "the line is neither [SECTION] nor KEY = VALUE; write '#' before a comment");
  } else if (bad < 0)
    fail(parse, "not enough memory");
  return !parse->failed;
}

/* ---- files ---- */

static bool fail_file(const char *path, const char *reason, char *message, size_t size)
{
  snprintf(message, size, "configuration file %.400s: %s", path, reason);
  return false;
}

/* Opens the file.  Returns its descriptor; -1 with a message. */
static int open_file(const char *path, bool restricted, char *message, size_t size)
{
  struct stat status;
  int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (restricted ? O_NOFOLLOW : 0));
  const char *reason = NULL;
  if (fd < 0)
    reason = errno == ELOOP && restricted ? "is a symbolic link; put a file there, or use --config" : strerror(errno);
  else if (fstat(fd, &status) != 0)
    reason = strerror(errno);
  else if (!S_ISREG(status.st_mode))
    reason = S_ISDIR(status.st_mode) ? "is a directory; name a file in it" : "is not a regular file; copy it to one";
  else if (restricted && status.st_uid != geteuid())
    reason = "belongs to another user; use --config none to ignore it, or name it by --config";
  else if (restricted && (status.st_mode & (S_IWGRP | S_IWOTH)))
    reason = "may be written by others; use chmod go-w, or --config none to ignore it";
  if (!reason)
    return fd;
  fail_file(path, reason, message, size);
  if (fd < 0 && errno != ELOOP)
    snprintf(message + strlen(message), size - strlen(message),
             "; name another file by --config, or use --config none");
  if (fd >= 0)
    close(fd);
  return -1;
}

/* Reads up to size bytes.  Returns how many, or -1. */
static ssize_t read_all(int fd, char *text, size_t size)
{
  size_t done = 0;
  ssize_t got = 1;
  while (got > 0 && done < size) {
    got = read(fd, text + done, size - done);
    done += got > 0 ? (size_t)got : 0;
    if (got < 0 && errno == EINTR)
      got = 1;
  }
  return got < 0 ? -1 : (ssize_t)done;
}

bool configuration_read(const char *path, bool restricted, struct configuration *configuration, char *message,
                        size_t message_size)
{
  static char text[FILE_MAX + 1];
  memset(configuration, 0, sizeof *configuration);
  snprintf(configuration->path, sizeof configuration->path, "%s", path);
  int fd = open_file(path, restricted, message, message_size);
  if (fd < 0)
    return false;
  ssize_t length = read_all(fd, text, sizeof text);
  int error = errno;
  close(fd);
  if (length < 0)
    return fail_file(path, strerror(error), message, message_size);
  if (length > FILE_MAX)
    return fail_file(path, "is larger than 64 KB; name another file by --config, or use --config none", message,
                     message_size);
  struct parse parse = {.into = configuration,
                        .text = text,
                        .end = text + length,
                        .restricted = restricted,
                        .layer = &configuration->common,
                        .message = message,
                        .message_size = message_size};
  if (!parse_text(&parse) || !setting_expand_level(&configuration->common, path, message, message_size))
    return false;
  for (unsigned i = 0; i < configuration->program_count; i++)
    if (!setting_expand_level(&configuration->programs[i].layer, path, message, message_size))
      return false;
  return true;
}

/* ---- search ---- */

/* Writes the path of the user's own file; "" if there can be none. */
static void user_path(char *path, size_t size)
{
  static const char file[] = "hpcrun-lite/config.ini";
  const char *folder = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
  path[0] = '\0';
  if (folder && *folder == '/')
    snprintf(path, size, "%s/%s", folder, file);
  else if (home && *home == '/')
    snprintf(path, size, "%s/.config/%s", home, file);
}

/* In a folder that the user may not search there is no file: HOME may be that of another user (setpriv, su). */
static bool exists(const char *path)
{
  struct stat status;
  return *path && (lstat(path, &status) == 0 || (errno != ENOENT && errno != ENOTDIR && errno != EACCES));
}

bool configuration_find(const char *asked_for, struct configuration *configuration, char *message, size_t message_size)
{
  char user[PATH_MAX];
  const char *path = asked_for ? asked_for : getenv("HPCRUN_LITE_CONFIG");
  bool named = asked_for || (path && *path);
  memset(configuration, 0, sizeof *configuration);
  if (named && !strcmp(path, "none"))
    return true;
  if (named)
    return configuration_read(path, false, configuration, message, message_size);
  if (exists(local_name))
    return configuration_read(local_name, true, configuration, message, message_size);
  user_path(user, sizeof user);
  return !exists(user) || configuration_read(user, false, configuration, message, message_size);
}

/* Frees the texts of a layer.  Those that its level implies are constants, whose line is that of the level. */
static void release_layer(struct setting_layer *layer)
{
  for (enum setting setting = 0; setting < SETTINGS; setting++)
    if (setting == SETTING_LEVEL || layer->line[setting] != layer->line[SETTING_LEVEL])
      free((char *)layer->text[setting]);
}

void configuration_release(struct configuration *configuration)
{
  release_layer(&configuration->common);
  for (unsigned i = 0; i < configuration->program_count; i++)
    release_layer(&configuration->programs[i].layer);
  memset(configuration, 0, sizeof *configuration);
}
