#include "hpcrun-lite/launch/program/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "common/loader_version.h"
#include "hpcrun-lite/arch/machine.h"
#include "hpcrun-lite/launch/program/child.h"

#define SCRIPT_DEPTH_MAX 5      /* nested interpreters: the kernel's limit */
#define HEADER_BYTES 256        /* bytes that the kernel reads of a '#!' line */
#define CAPABILITY_BYTES_MAX 64 /* more than any version of the attribute needs */
#define PRELOAD_BYTES_MAX 65536 /* of the value of LD_PRELOAD or GLIBC_TUNABLES */
#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

const char *path_base(const char *path)
{
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* Returns 0 if path is a file that may be executed, else errno. */
static int check_executable(const char *path)
{
  struct stat status;
  if (stat(path, &status) != 0)
    return errno;
  if (S_ISDIR(status.st_mode))
    return EISDIR;
  if (!S_ISREG(status.st_mode) || faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0)
    return EACCES;
  return 0;
}

/* Searches the directories of PATH.  Returns 0, EACCES if only files that must not be executed were found, or ENOENT.
 */
static int search_path(const char *command, char *found, size_t found_size)
{
  const char *directory = getenv("PATH");
  int error = ENOENT;
  if (!directory)
    directory = "/usr/local/bin:/usr/bin:/bin";
  for (;; directory++) {
    size_t length = strcspn(directory, ":");
    int written = snprintf(found, found_size, "%.*s/%s", length ? (int)length : 1, length ? directory : ".", command);
    if (written > 0 && (size_t)written < found_size) {
      int reason = check_executable(found);
      if (reason == 0)
        return 0;
      if (reason == EACCES)
        error = EACCES;
    }
    directory += length;
    if (*directory == '\0')
      return error;
  }
}

/* A command without a directory was not found: is it in the current one? */
static void not_in_path(const char *command, char *message, size_t message_size)
{
  char here[PATH_MAX];
  int written = snprintf(here, sizeof here, "./%s", command);
  int error = (size_t)written < sizeof here ? check_executable(here) : ENOENT;
  written = snprintf(message, message_size, "cannot run '%.200s': command not found in PATH", command);
  if (error == 0)
    snprintf(message + written, message_size - (size_t)written, "; did you mean '%.200s'?", here);
  else if (error == EACCES)
    snprintf(message + written, message_size - (size_t)written,
             "; '%.200s' is not executable: run it by its interpreter, or make it executable", here);
}

static enum launch_status locate(const char *command, char *path, size_t path_size, char *message, size_t message_size)
{
  int error;
  if (command[0] == '\0') {
    error = ENOENT;
  } else if (strchr(command, '/')) {
    int written = snprintf(path, path_size, "%s", command);
    error = (size_t)written < path_size ? check_executable(path) : ENAMETOOLONG;
  } else {
    error = search_path(command, path, path_size);
  }
  if (error == 0)
    return LAUNCH_OK;
  bool is_missing = error == ENOENT || error == ENOTDIR || error == ENAMETOOLONG || error == ELOOP;
  if (is_missing && !strchr(command, '/'))
    not_in_path(command, message, message_size);
  else
    snprintf(message, message_size, "cannot run '%.400s': %s", command, strerror(error));
  return is_missing ? LAUNCH_NOT_FOUND : LAUNCH_NOT_EXECUTABLE;
}

/* The first word after "#!", or if that is env, the command that env will search for in PATH. */
static void parse_interpreter(char *line, char *interpreter, size_t size)
{
  char *rest = NULL;
  line[strcspn(line, "\n")] = '\0';
  char *word = strtok_r(line + 2, " \t", &rest);
  interpreter[0] = '\0';
  if (word && strcmp(path_base(word), "env") == 0) {
    char *argument = strtok_r(NULL, " \t", &rest);
    while (argument && (argument[0] == '-' || strchr(argument, '=')))
      argument = strtok_r(NULL, " \t", &rest);
    word = argument ? argument : word;
  }
  if (word)
    snprintf(interpreter, size, "%s", word);
}

/* Reads the start of a file.  Returns its length, or -1. */
static ssize_t read_header(const char *path, char header[HEADER_BYTES + 1])
{
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return -1;
  ssize_t length = read(fd, header, HEADER_BYTES);
  close(fd);
  header[length > 0 ? length : 0] = '\0';
  return length;
}

/* Follows '#!' lines from program->path to the image that the kernel loads. */
static enum launch_status follow_scripts(struct program *program, char *message, size_t message_size)
{
  snprintf(program->image, sizeof program->image, "%s", program->path);
  for (int depth = 0; depth <= SCRIPT_DEPTH_MAX; depth++) {
    char header[HEADER_BYTES + 1];
    char interpreter[HEADER_BYTES + 1];
    ssize_t length = read_header(program->image, header);
    if (length < 0)
      return LAUNCH_OK;
    program->is_readable = true;
    if (length >= 4 && memcmp(header, "\177ELF", 4) == 0)
      return LAUNCH_OK;
    program->is_script = true;
    program->is_readable = false;
    if (length >= 2 && memcmp(header, "#!", 2) == 0) {
      parse_interpreter(header, interpreter, sizeof interpreter);
    } else if (strlen(header) == (size_t)length) {
      snprintf(interpreter, sizeof interpreter, "/bin/sh"); /* as shells and execvp() do for a text without '#!' */
    } else {
      snprintf(message, message_size, "cannot run '%.400s': neither an ELF program nor a script", program->image);
      return LAUNCH_NOT_EXECUTABLE;
    }
    if (locate(interpreter, program->image, sizeof program->image, header, sizeof header) != LAUNCH_OK) {
      snprintf(message, message_size, "cannot run '%.400s': its interpreter '%.200s' cannot be run", program->path,
               interpreter);
      return LAUNCH_NOT_EXECUTABLE;
    }
  }
  snprintf(message, message_size, "cannot run '%.400s': too many nested interpreters", program->path);
  return LAUNCH_NOT_EXECUTABLE;
}

static void visit_sanitizer(void *context, const struct elf_symbol *symbol)
{
  struct program *program = context;
  program->has_thread_sanitizer |= strcmp(symbol->name, "__tsan_init") == 0;
}

enum launch_status program_find(const char *command, struct program *program, char *message, size_t message_size)
{
  memset(program, 0, sizeof *program);
  enum launch_status status = locate(command, program->path, sizeof program->path, message, message_size);
  if (status == LAUNCH_OK)
    status = follow_scripts(program, message, message_size);
  if (status == LAUNCH_OK && program->is_readable)
    elf_facts_read(program->image, &program->facts);
  if (status == LAUNCH_OK && program->is_readable)
    elf_symbols_visit(program->image, "__tsan_init", visit_sanitizer, program);
  return status;
}

/* Whether the image is glibc's dynamic loader, which needs none itself; real: its path without symbolic links, such as
 * /usr/bin/ld.so. */
static bool is_loader(const struct program *program, char real[PATH_MAX])
{
  return program->facts.is_elf && program->facts.interpreter[0] == '\0' && realpath(program->image, real) &&
         strncmp(path_base(real), MACHINE_LOADER, strlen(MACHINE_LOADER)) == 0;
}

/* The number of words of "LOADER [OPTION]... PROGRAM" before PROGRAM; 0 if the loader would run none. */
static size_t loader_words(char *const *command)
{
  static const char *const with_value[] = {
      "--library-path", "--glibc-hwcaps-prepend", "--glibc-hwcaps-mask", "--inhibit-rpath", "--audit", "--preload",
      "--argv0"};
  size_t at = 1;
  while (command[at] && strncmp(command[at], "--", 2) == 0) {
    bool has_value = false;
    for (size_t i = 0; i < LENGTH(with_value); i++)
      has_value |= strcmp(command[at], with_value[i]) == 0;
    if (!has_value && strcmp(command[at], "--inhibit-cache") != 0)
      return 0;
    at += has_value && command[at + 1] ? 2 : 1;
  }
  return command[at] ? at : 0;
}

enum launch_status program_find_command(char *const *command, struct program *program, char *message,
                                        size_t message_size)
{
  char loader[PATH_MAX];
  enum launch_status status = program_find(command[0], program, message, message_size);
  size_t words = status == LAUNCH_OK && is_loader(program, loader) ? loader_words(command) : 0;
  if (words == 0)
    return status;
  status = program_find(command[words], program, message, message_size);
  program->loader_options = command + 1;
  program->loader_option_count = words - 1;
  if (program->facts.interpreter[0] != '\0')
    snprintf(program->facts.interpreter, sizeof loader, "%s", loader);
  return status;
}

/* Would the kernel start the image in secure-execution mode?  Then the loader ignores LD_PRELOAD. */
static bool changes_privileges(const char *image)
{
  struct stat status;
  char capabilities[CAPABILITY_BYTES_MAX];
  if (stat(image, &status) != 0)
    return false;
  if ((status.st_mode & S_ISUID) && status.st_uid != geteuid())
    return true;
  if ((status.st_mode & S_ISGID) && (status.st_mode & S_IXGRP) && status.st_gid != getegid())
    return true;
  return geteuid() != 0 && getxattr(image, "security.capability", capabilities, sizeof capabilities) > 0;
}

enum launch_status program_check_preload(const struct program *program, char *message, size_t message_size)
{
  const struct elf_facts *facts = &program->facts;
  const char *image = program->image;
  char loader[PATH_MAX];
  if (changes_privileges(image)) {
    snprintf(message, message_size,
             "'%.400s' is setuid, setgid or has capabilities: nothing can be preloaded into it; "
             "measure a copy without them, or run it as its owner",
             image);
    return LAUNCH_FAILED;
  }
  if (!program->is_readable)
    return LAUNCH_OK;
  if (!facts->is_elf || !facts->is_native) {
    const char *what = facts->is_elf ? "for another machine" : "damaged";
    if (facts->is_32_bit)
      what = "a 32-bit program";
    snprintf(message, message_size,
             "'%.400s' is %s: only 64-bit " MACHINE_NAME " programs can be measured; build it for " MACHINE_NAME, image,
             what);
    return LAUNCH_FAILED;
  }
  if (is_loader(program, loader)) {
    snprintf(message, message_size,
             "'%.400s' is the dynamic loader, but no program is named behind its options: name the one to be measured",
             image);
    return LAUNCH_FAILED;
  }
  if (facts->interpreter[0] == '\0') {
    snprintf(message, message_size,
             "'%.400s' is statically linked: nothing can be preloaded into it; link it dynamically (without -static)",
             image);
    return LAUNCH_FAILED;
  }
  if (strncmp(path_base(facts->interpreter), MACHINE_LOADER, strlen(MACHINE_LOADER)) != 0) {
    snprintf(message, message_size, "'%.300s' is loaded by %.100s, which is not glibc's loader: build it for glibc",
             image, facts->interpreter);
    return LAUNCH_FAILED;
  }
  if (!elf_defines_version(facts->interpreter, LOADER_VERSION)) {
    snprintf(message, message_size,
             "'%.300s' is loaded by %.100s, which is older than glibc 2.35: link it for the glibc of this system",
             image, facts->interpreter);
    return LAUNCH_FAILED;
  }
  return LAUNCH_OK;
}

static void add_module(struct program *program, const char *path)
{
  if (program->module_count == PROGRAM_MODULES_MAX)
    return;
  char *copy = strdup(path);
  if (copy)
    program->modules[program->module_count++] = copy;
  program->has_address_sanitizer |=
      strncmp(path_base(path), "libasan.so", 10) == 0 || strncmp(path_base(path), "libclang_rt.asan", 16) == 0;
}

/* Takes one line of the loader: "\tNAME => PATH (0xADDRESS)", "\tPATH (0xADDRESS)", "\tNAME => not found". */
static void take_line(struct program *program, char *line)
{
  char *arrow = strstr(line, " => ");
  char *path = arrow ? arrow + 4 : line + strspn(line, "\t ");
  if (strncmp(path, "not found", 9) == 0) {
    program->is_complete = false;
    return;
  }
  char *address = strstr(path, " (0x");
  if (!address || path[0] != '/')
    return;
  *address = '\0';
  add_module(program, path);
}

static void read_list(struct program *program, int fd)
{
  FILE *list = fdopen(fd, "r");
  char *line = NULL;
  size_t size = 0;
  if (!list) {
    close(fd);
    program->is_complete = false;
    return;
  }
  while (getline(&line, &size, list) > 0)
    take_line(program, line);
  free(line);
  fclose(list);
}

/* Starts the program's loader for the image, with the loader's own options of the command, and with variables in the
 * place of those that begin as the ones in without. */
static pid_t start_loader(const struct program *program, bool list, const char *const *without, size_t without_count,
                          char *const *variables, size_t count, int *output)
{
  size_t kept, options = program->loader_option_count, last = 1 + options;
  char **arguments = calloc(options + 4, sizeof *arguments), **environment = NULL;
  pid_t pid = -1;
  if (arguments)
    environment = child_environment(without, without_count, count, &kept);
  if (environment) {
    arguments[0] = (char *)program->facts.interpreter;
    for (size_t i = 0; i < options; i++)
      arguments[1 + i] = program->loader_options[i];
    if (list)
      arguments[last++] = (char *)"--list";
    arguments[last] = (char *)program->image;
    memcpy(environment + kept, variables, count * sizeof *variables);
    pid = child_start(arguments, environment, output);
  }
  free(environment);
  free(arguments);
  return pid;
}

/* Starts "LOADER --list IMAGE", without variables that would make it print more or load auditors. */
static pid_t start_list(const struct program *program, const char *preload, int *output)
{
  static const char *const without[] = {"LD_PRELOAD=", "LD_DEBUG=", "LD_AUDIT="};
  char *setting = NULL;
  size_t count = preload[0] != '\0' && asprintf(&setting, "LD_PRELOAD=%s", preload) > 0;
  pid_t pid = start_loader(program, true, without, LENGTH(without), &setting, count, output);
  free(setting);
  return pid;
}

void program_list_modules(struct program *program, const char *preload)
{
  int output, status = 0;
  program->modules = calloc(PROGRAM_MODULES_MAX, sizeof *program->modules);
  if (!program->modules || !program->is_readable)
    return;
  add_module(program, program->image);
  pid_t pid = start_list(program, preload, &output);
  if (pid < 0)
    return;
  program->is_complete = true;
  read_list(program, output);
  if (waitpid(pid, &status, 0) != pid || status != 0)
    program->is_complete = false;
}

/* ---- auditors ---- */

#define MORE_STORAGE "glibc.rtld.optional_static_tls=4096"

bool program_has_auditors(const struct program *program)
{
  const char *auditors = getenv("LD_AUDIT");
  return (auditors && auditors[0] != '\0') || program->facts.names_auditors;
}

/* Does the loader load the program's libraries and auditors, and bind all symbols, with these preloaded?  It does not
 * run the program. */
static bool loads(const struct program *program, const char *preload, const char *tunables)
{
  static const char *const without[] = {"LD_DEBUG=", "LD_PRELOAD=", "GLIBC_TUNABLES="};
  static char preloaded[PRELOAD_BYTES_MAX + 16], tuned[PRELOAD_BYTES_MAX + 16];
  char discarded[4096];
  char *variables[] = {(char *)"LD_TRACE_LOADED_OBJECTS=1", (char *)"LD_WARN=1", (char *)"LD_BIND_NOW=1", preloaded,
                       tuned};
  int output, status = -1;
  snprintf(preloaded, sizeof preloaded, "LD_PRELOAD=%s", preload);
  snprintf(tuned, sizeof tuned, "GLIBC_TUNABLES=%s", tunables);
  pid_t pid = start_loader(program, false, without, LENGTH(without), variables, LENGTH(variables), &output);
  if (pid < 0)
    return false;
  while (read(output, discarded, sizeof discarded) > 0)
    ;
  close(output);
  return waitpid(pid, &status, 0) == pid && status == 0;
}

enum launch_status program_check_auditors(const struct program *program, const char *user_preload, const char *preload,
                                          char *message, size_t message_size)
{
  const char *own = getenv("GLIBC_TUNABLES");
  static char tunables[PRELOAD_BYTES_MAX];
  own = own ? own : "";
  if (!program->is_readable || !program_has_auditors(program) || loads(program, preload, own) ||
      !loads(program, user_preload, own))
    return LAUNCH_OK;
  snprintf(tunables, sizeof tunables, "%s%s" MORE_STORAGE, own, own[0] ? ":" : "");
  if (loads(program, preload, tunables))
    snprintf(message, message_size,
             "'%.400s' cannot be measured with its auditors: they leave too little static thread-local storage; "
             "add " MORE_STORAGE " to GLIBC_TUNABLES",
             program->path);
  else
    snprintf(message, message_size,
             "'%.400s' cannot be measured with its auditors: the dynamic loader fails; measure it without them",
             program->path);
  return LAUNCH_FAILED;
}

void program_release(struct program *program)
{
  for (size_t i = 0; i < program->module_count; i++)
    free(program->modules[i]);
  free(program->modules);
  program->modules = NULL;
  program->module_count = 0;
}
