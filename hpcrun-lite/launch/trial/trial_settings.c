#include "hpcrun-lite/launch/trial/trial_settings.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/xalloc.h"
#include "hpcrun-lite/launch/program/program.h"
#include "hpcrun-lite/launch/program/refusal.h"

/* The length of the variable's name if the word is NAME=VALUE, else 0. */
static size_t name_length(const char *word)
{
  size_t length = 0;
  while (isalnum((unsigned char)word[length]) || word[length] == '_')
    length++;
  return length && !isdigit((unsigned char)*word) && word[length] == '=' ? length : 0;
}

/* Returns the next word in new memory, and moves *at behind it; NULL: there is none. */
static char *next_word(const char **at)
{
  *at += strspn(*at, " ");
  size_t length = strcspn(*at, " ");
  char *word = length ? xstrndup(*at, length) : NULL;
  *at += length;
  return word;
}

/* Returns the words behind the variables. */
static const char *find_wrapper(const char *setting)
{
  for (setting += strspn(setting, " "); name_length(setting); setting += strspn(setting, " "))
    setting += strcspn(setting, " ");
  return setting;
}

/* Whether the wrapper, if there is one, can be run. */
static bool check_wrapper(const char *setting, char *message, size_t message_size)
{
  static struct program program;
  char reason[1024];
  const char *at = find_wrapper(setting);
  char *word = next_word(&at);
  bool found = !word || program_find(word, &program, reason, sizeof reason) == LAUNCH_OK;
  free(word);
  return found || refuse(message, message_size,
                         "option --try: '%.200s' is neither NAME=VALUE nor a program to put before COMMAND: %.700s",
                         setting, reason);
}

static bool add_setting(const char *text, size_t length, struct trial *trial, char *message, size_t message_size)
{
  struct trial_setting setting = {0};
  while (length && *text == ' ') {
    text++;
    length--;
  }
  while (length && text[length - 1] == ' ')
    length--;
  if (!length)
    return refuse(
        message, message_size,
        "option --try: a setting is empty; write NAME=VALUE or a program to put before COMMAND, several separated by "
        "';'");
  if (length >= sizeof setting.text)
    return refuse(message, message_size,
                  "option --try: a setting is longer than %zu bytes; put it into a script that runs \"$@\"",
                  sizeof setting.text - 1);
  memcpy(setting.text, text, length);
  for (size_t i = 0; i < length; i++)
    if (iscntrl((unsigned char)text[i]))
      return refuse(message, message_size,
                    "option --try: a setting contains a control character; separate words by blanks");
  for (uint32_t i = 0; i < trial->settings_count; i++)
    if (!strcmp(trial->settings[i].text, setting.text))
      return refuse(message, message_size, "option --try: '%.200s' is in the list twice; list it once", setting.text);
  if (trial->settings_count == TRIAL_SETTINGS_MAX)
    return refuse(message, message_size, "option --try: more than %d settings; list the others in another call",
                  TRIAL_SETTINGS_MAX);
  if (!check_wrapper(setting.text, message, message_size))
    return false;
  trial->settings[trial->settings_count++] = setting;
  return true;
}

bool trial_settings_parse(const char *list, struct trial *trial, char *message, size_t message_size)
{
  for (;; list++) {
    size_t length = strcspn(list, ";");
    if (!add_setting(list, length, trial, message, message_size))
      return false;
    list += length;
    if (!*list || !list[1 + strspn(list + 1, " ")])
      return true;
  }
}

char **trial_settings_command(const char *setting, char *const *command)
{
  assert(command[0]);
  size_t count = 0, room = strlen(setting) / 2 + 1;
  for (size_t i = 0; command[i]; i++)
    room++;
  char **result = xcalloc(room + 1, sizeof *result), *word;
  for (const char *at = find_wrapper(setting); (word = next_word(&at));)
    result[count++] = word;
  for (size_t i = 0; command[i]; i++)
    result[count++] = command[i];
  assert(count <= room);
  return result;
}

bool trial_settings_apply(const char *setting)
{
  const char *wrapper = find_wrapper(setting);
  bool set = true;
  for (const char *at = setting; at < wrapper;) {
    char *word = next_word(&at);
    size_t length = word ? name_length(word) : 0;
    if (length) {
      word[length] = '\0';
      set = setenv(word, word + length + 1, 1) == 0 && set;
    }
    free(word);
    at += strspn(at, " ");
  }
  return set;
}
