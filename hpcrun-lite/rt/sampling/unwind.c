#define _GNU_SOURCE
#include "hpcrun-lite/rt/sampling/unwind.h"

#include <dlfcn.h>
#include <string.h>

#include "common/order.h"
#include "hpcrun-lite/arch/unwinding.h"
#include "hpcrun-lite/rt/core/sys.h"
#include "hpcrun-lite/rt/sampling/call_code.h"

enum {
  CACHE_LOG = 12,
  WINDOW = 512,
  WINDOWS = 16,
  RED_ZONE = 128,
  WALK_WORDS = 2048,
  DOUBTED_FRAMES = 64,
  PROGRAM = 512
};

static struct unwind_entries lib;
static unw_addr_space_t space;

/* Evidence that a word of the stack is the return address of code that has no unwind information, in ascending order.
 */
enum evidence {
  EVIDENCE_NONE,
  EVIDENCE_CALL,  /* it follows a call of any function */
  EVIDENCE_LEADS, /* it follows a call that leads to that code */
  EVIDENCE_SURE   /* it follows the call of the stub that is that code, and is where a stub has it; or it follows a
                     call, and is where that code is about to return to */
};

/* The caller of a frame, as found so far. */
struct guess {
  uint64_t pc, sp; /* of the frame */
  uint64_t at;     /* where the return address is; 0: in the link register */
  unw_word_t address;
  enum evidence evidence;
};

/* The state of one walk: registers, the range that may be read directly, and windows of other memory that the kernel
 * has copied. */
struct walk {
  unw_cursor_t cursor;
  const machine_register_t *registers;
  machine_register_t guessed[MACHINE_REGISTERS]; /* of a caller that step_by_guess() has found */
  uint64_t low, high;
  bool no_info;        /* code without unwind information was encountered */
  bool unverified;     /* the last frame was guessed: its own caller must have called */
  unsigned guesses;    /* guessed frames */
  unsigned words_left; /* of the stack, that may still be searched for return addresses */
  struct {
    int frame; /* index of the first frame whose only evidence is an indirect call found by searching; 0: there is none
                */
    struct guess guess;
    uint64_t fp;      /* of the frame inside */
    unsigned guesses; /* guessed frames inside */
  } doubtful;
  uint64_t window_at[WINDOWS];
  unsigned window_next;
  uint8_t window[WINDOWS][WINDOW] __attribute__((aligned(8)));
  uint8_t program[MACHINE_LINK_REGISTER ? PROGRAM : 8] __attribute__((aligned(8))); /* see correct_program() */
};

/* Reads a word through a window, which is copied if necessary. */
static bool window_read(struct walk *walk, uint64_t address, unw_word_t *value)
{
  uint64_t at = address & ~(uint64_t)(WINDOW - 1);
  if (address - at > WINDOW - 8)
    return sys_peek(address, value, 8);
  for (unsigned i = 0; i < WINDOWS; i++)
    if (walk->window_at[i] == at) {
      memcpy(value, walk->window[i] + (address - at), 8);
      return true;
    }
  unsigned i = walk->window_next++ % WINDOWS;
  walk->window_at[i] = 0;
  if (!sys_peek(at, walk->window[i], WINDOW))
    return false;
  walk->window_at[i] = at;
  memcpy(value, walk->window[i] + (address - at), 8);
  return true;
}

static int access_mem(unw_addr_space_t as, unw_word_t address, unw_word_t *value, int write, void *arg)
{
  (void)as;
  struct walk *walk = arg;
  if (write)
    return -UNW_EINVAL;
  if (address >= walk->low && address <= walk->high - 8) {
    memcpy(value, (const void *)address, 8);
    *value = machine_address(*value);
    return 0;
  }
  if (MACHINE_LINK_REGISTER && address - (uint64_t)walk->program < sizeof walk->program) {
    memcpy(value, (const void *)address, 8);
    return 0;
  }
  return window_read(walk, address, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write, void *arg)
{
  (void)as;
  return !write && unwinding_register(((struct walk *)arg)->registers, number, value) ? 0 : -UNW_EBADREG;
}

/* The sorted table of the functions of a module that have unwind information: pairs of 32-bit distances from `head`,
 * where a function begins and where its information is. */
struct function_table {
  uint64_t head, map_start, map_end;
  uint32_t count;
};

enum { TABLE_HEAD = 12, TABLE_ENTRY = 8 };

/* Finds the table of the module that contains an address.  Returns false if there is none. */
static bool find_table(struct walk *walk, uint64_t ip, struct function_table *table)
{
  enum { DATAREL_SDATA4 = 0x3b };
  struct dl_find_object object;
  if (_dl_find_object((void *)ip, &object) != 0 || !object.dlfo_eh_frame)
    return false;
  uint64_t at = (uint64_t)object.dlfo_eh_frame;
  unw_word_t head[2]; /* .eh_frame_hdr: version, three encodings, eh_frame pointer, count, then the table */
  if (access_mem(space, at, &head[0], 0, walk) || access_mem(space, at + 8, &head[1], 0, walk))
    return false;
  if ((head[0] & 0xff) != 1 || (head[0] >> 24 & 0xff) != DATAREL_SDATA4)
    return false;
  *table = (struct function_table){.head = at,
                                   .map_start = (uint64_t)object.dlfo_map_start,
                                   .map_end = (uint64_t)object.dlfo_map_end,
                                   .count = (uint32_t)head[1]};
  return true;
}

/* Has libunwind search the table of the module that contains ip.  libunwind allocates the result from its own pool and
 * frees it there. */
static int search_tables(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_unwind_info,
                         struct walk *walk)
{
  struct function_table table;
  if (!find_table(walk, ip, &table))
    return -UNW_ENOINFO;
  unw_dyn_info_t where = {.format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = table.map_start, .end_ip = table.map_end};
  where.u.rti.segbase = table.head;
  where.u.rti.table_data = table.head + TABLE_HEAD;
  where.u.rti.table_len = table.count; /* in words of 8 bytes: one for each entry */
  return lib.search(as, ip, &where, info, need_unwind_info, walk);
}

/* The beginning of libunwind's struct dwarf_cie_info, to which unw_proc_info_t.unwind_info points: where the programs
 * of a function's call frame information are. */
struct cie_info {
  unw_word_t common, common_end, program, end, code_alignment, data_alignment;
};

/* Reads bytes, a multiple of 8, through windows. */
static bool window_copy(struct walk *walk, uint64_t from, uint8_t *to, uint64_t bytes)
{
  unw_word_t word;
  for (uint64_t i = 0; i < bytes; i += 8) {
    if (!window_read(walk, from + i, &word))
      return false;
    memcpy(to + i, &word, 8);
  }
  return true;
}

static bool is_empty(const uint8_t *program, uint64_t bytes)
{
  for (uint64_t i = 0; i < bytes; i++)
    if (program[i])
      return false;
  return true;
}

/* Has libunwind run another program for a function.  ip: the address for which it is needed, behind a call not a
 * multiple of 4.
 * - One without the instructions that say where the return address is signed: what is read of the stack has no
 *   signature (access_mem()).  A program that is too long is left as it is.
 * - A function that has called another one has stored its return address.  If its program is empty, as that of libomp's
 *   function that calls a region's code, the instructions show where. */
static void correct_program(struct walk *walk, uint64_t ip, unw_proc_info_t *info)
{
  struct cie_info *cie = info->unwind_info;
  uint8_t code[UNWINDING_BEGINNING_BYTES];
  uint64_t bytes = cie->end - cie->program;
  if (bytes > sizeof walk->program - 8 || !window_copy(walk, cie->program, walk->program, (bytes + 7) / 8 * 8))
    return;
  bool corrected = unwinding_forget_signing(walk->program, (unsigned)bytes);
  if (ip % 4 && ip - info->start_ip > sizeof code && is_empty(walk->program, bytes) &&
      window_copy(walk, info->start_ip, code, sizeof code)) {
    bytes = unwinding_write_program(code, (int64_t)cie->data_alignment, walk->program);
    corrected = bytes > 0;
  }
  if (corrected) {
    cie->program = (uint64_t)walk->program;
    cie->end = cie->program + bytes;
  }
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_unwind_info, void *arg)
{
  struct walk *walk = arg;
  int error = search_tables(as, ip, info, need_unwind_info, walk);
  if (error)
    walk->no_info = true;
  else if (MACHINE_LINK_REGISTER && need_unwind_info && info->unwind_info)
    correct_program(walk, ip, info);
  return error;
}

static void put_unwind_info(unw_addr_space_t as, unw_proc_info_t *info, void *arg)
{
  (void)as, (void)info, (void)arg;
}

static int get_dyn_info_list(unw_addr_space_t as, unw_word_t *list, void *arg)
{
  (void)as, (void)list, (void)arg;
  return -UNW_ENOINFO;
}

static int access_fpreg(unw_addr_space_t as, unw_regnum_t number, unw_fpreg_t *value, int write, void *arg)
{
  (void)as, (void)number, (void)value, (void)write, (void)arg;
  return -UNW_EBADREG;
}

static int resume(unw_addr_space_t as, unw_cursor_t *cursor, void *arg)
{
  (void)as, (void)cursor, (void)arg;
  return -UNW_EINVAL;
}

static int get_proc_name(unw_addr_space_t as, unw_word_t ip, char *name, size_t size, unw_word_t *offset, void *arg)
{
  (void)as, (void)ip, (void)name, (void)size, (void)offset, (void)arg;
  return -UNW_ENOINFO;
}

int unwind_no_pipe(int fds[2], int flags)
{
  (void)flags;
  fds[0] = fds[1] = -1;
  return -1;
}

int unwind_no_sigprocmask(int how, const sigset_t *set, sigset_t *old)
{
  (void)how, (void)set, (void)old;
  return 0;
}

void unwind_restart(void)
{
  static unw_accessors_t accessors = {.find_proc_info = find_proc_info,
                                      .put_unwind_info = put_unwind_info,
                                      .get_dyn_info_list_addr = get_dyn_info_list,
                                      .access_mem = access_mem,
                                      .access_reg = access_reg,
                                      .access_fpreg = access_fpreg,
                                      .resume = resume,
                                      .get_proc_name = get_proc_name};
  if (!lib.create_addr_space)
    return;
  space = lib.create_addr_space(&accessors, 0);
  if (!space)
    return;
  lib.set_cache_size(space, 1 << CACHE_LOG, 0);
  lib.set_caching_policy(space, UNW_CACHE_GLOBAL);
}

bool unwind_start(const struct unwind_entries *entries)
{
  lib = *entries;
  unwind_restart();
  return space != NULL;
}

void unwind_flush(void)
{
  if (space)
    lib.flush_cache(space, 0, 0);
}

uint64_t unwind_function(const struct thread_state *t, uint64_t ip)
{
  unw_proc_info_t info;
  struct call_cache *known = call_cache_at(sampling_of(t)->functions, ip);
  if (known->ip != ip)
    *known = (struct call_cache){
        ip, space && search_tables(space, ip, &info, 0, sampling_of(t)->walk) == 0 ? info.start_ip : 0};
  return known->target;
}

/* Sets the range around a stack pointer that is certainly the thread's stack; empty if the thread runs on another
 * stack. */
static void set_direct_range(struct walk *walk, const struct thread_state *t, uint64_t sp)
{
  walk->low = 8;
  walk->high = 8;
  if (sp < t->stack_low || sp >= t->stack_high)
    return;
  walk->low = sp - RED_ZONE > t->stack_low ? sp - RED_ZONE : t->stack_low;
  walk->high = t->stack_high;
}

/* Where the last function begins that has unwind information and does not begin after an address of its module;
 * UINT64_MAX if the table cannot be read, 0 if there is none. */
static uint64_t last_function(struct walk *walk, const struct function_table *table, uint64_t ip)
{
  uint64_t found = 0;
  for (uint32_t low = 0, high = table->count; low < high;) {
    uint32_t middle = low + (high - low) / 2;
    unw_word_t entry;
    if (access_mem(space, table->head + TABLE_HEAD + (uint64_t)middle * TABLE_ENTRY, &entry, 0, walk) != 0)
      return UINT64_MAX;
    uint64_t start = table->head + (uint64_t)(int64_t)(int32_t)entry;
    if (start > ip) {
      high = middle;
    } else {
      found = start;
      low = middle + 1;
    }
  }
  return found;
}

/* Can code at pc, which has no unwind information, belong to the function that begins at an address?  No function that
 * has some may begin there or in between. */
static bool may_belong(struct walk *walk, uint64_t pc, uint64_t function)
{
  enum { GENERATED_BYTES = 1 << 20 }; /* of a generated function */
  struct dl_find_object object, generated;
  struct function_table table;
  unw_proc_info_t info;
  if (function > pc)
    return false;
  if (_dl_find_object((void *)pc, &object) != 0)
    return pc - function < GENERATED_BYTES && _dl_find_object((void *)function, &generated) != 0;
  if (function < (uint64_t)object.dlfo_map_start)
    return false;
  if (!find_table(walk, pc, &table))
    return true;
  return last_function(walk, &table, pc) < function && search_tables(space, function, &info, 0, walk) != 0;
}

static enum evidence evidence_of_call(struct walk *walk, const struct guess *guess, uint64_t at, uint64_t target)
{
  struct call_stub stub;
  enum call_code_form form = call_code_at(target, &stub);
  if (form == CODE_UNREADABLE)
    return EVIDENCE_NONE;
  if (form == CODE_STUB && at == (MACHINE_LINK_REGISTER ? 0 : guess->sp) && guess->pc >= target &&
      guess->pc <= stub.jump)
    return EVIDENCE_SURE;
  bool leads = may_belong(walk, guess->pc, target) || (form == CODE_STUB && may_belong(walk, guess->pc, stub.target));
  return leads ? EVIDENCE_LEADS : EVIDENCE_NONE;
}

/* generated: it may also lie outside all modules, but not on the stack. */
static enum evidence evidence_of(struct walk *walk, const struct guess *guess, uint64_t at, uint64_t word,
                                 bool generated)
{
  struct dl_find_object object;
  uint8_t code[UNWINDING_CODE_BYTES];
  uint64_t target;
  if (word < 4096 || (word >= walk->low && word < walk->high) ||
      (_dl_find_object((void *)word, &object) != 0 && !generated))
    return EVIDENCE_NONE;
  unw_word_t bytes;
  if (access_mem(space, word - sizeof code, &bytes, 0, walk) != 0)
    return EVIDENCE_NONE;
  memcpy(code, &bytes, sizeof code);
  enum call_kind kind = unwinding_call(code, word, &target);
  if (kind == CALL_DIRECT)
    return evidence_of_call(walk, guess, at, target);
  return kind == CALL_INDIRECT ? EVIDENCE_CALL : EVIDENCE_NONE;
}

/* Takes a word, at a stack address (0: of the link register), for the return address if more speaks for it than for the
 * one found before. */
static void consider_word(struct walk *walk, struct guess *guess, uint64_t at, uint64_t word, bool generated)
{
  enum evidence evidence = evidence_of(walk, guess, at, word, generated);
  if (evidence > guess->evidence) {
    guess->at = at;
    guess->address = word;
    guess->evidence = evidence;
  }
}

/* The same for the word at a stack address.  Returns false if there is no such word. */
static bool consider(struct walk *walk, struct guess *guess, uint64_t at, bool generated)
{
  unw_word_t word;
  if (access_mem(space, at, &word, 0, walk) != 0)
    return false;
  consider_word(walk, guess, at, word, generated);
  return true;
}

/* Where the return address is if the code at pc makes, has removed or (leaves) removes and leaves its frame; 0: its
 * frame is made. */
static uint64_t frameless_at(struct walk *walk, uint64_t pc, uint64_t sp, bool leaves)
{
  uint8_t code[UNWINDING_CODE_BYTES];
  unw_word_t bytes;
  if (access_mem(space, pc, &bytes, 0, walk) != 0)
    return 0;
  memcpy(code, &bytes, sizeof code);
  int distance = unwinding_return_distance(code, leaves);
  return distance < 0 ? 0 : sp + (uint64_t)distance;
}

/* Can it be a frame pointer of the frame at sp? */
static bool is_frame_pointer(const struct walk *walk, uint64_t sp, uint64_t fp)
{
  enum { OTHER_STACK = 1 << 16 };
  bool direct = sp >= walk->low && sp < walk->high;
  return fp % 8 == 0 && fp >= sp && fp < (direct ? walk->high : sp + OTHER_STACK);
}

/* Considers words up the stack from an address on, up to another one, until one is found to which a call leads. */
static void search(struct walk *walk, struct guess *guess, uint64_t from, uint64_t to)
{
  enum { WORDS = 512 };
  to = to < guess->sp + 8 * WORDS ? to : guess->sp + 8 * WORDS;
  for (uint64_t at = from; guess->evidence < EVIDENCE_LEADS && at < to && walk->words_left; at += 8) {
    walk->words_left--;
    if (!consider(walk, guess, at, false))
      return;
  }
}

/* Considers the link register.  A function that has called another one has an address inside itself there. */
static void consider_link(struct walk *walk, struct guess *guess)
{
  enum { OWN_BYTES = 1024 };
  uint64_t link = machine_link_of(walk->registers);
  if (link - guess->pc + OWN_BYTES >= 2 * OWN_BYTES)
    consider_word(walk, guess, 0, link, true);
}

/* Finds the most probable return address of a frame.  That of generated code is where it returns to next, or above its
 * frame pointer, unless the frame is not made.  Otherwise it is directly at sp, or in the link register (a leaf
 * function), or above a frame pointer, or up the stack: where the lowest call is that leads to the code, or else the
 * lowest one by a register or memory. */
static void find_caller(struct walk *walk, struct guess *guess, uint64_t fp, bool innermost)
{
  struct dl_find_object object;
  bool generated = _dl_find_object((void *)guess->pc, &object) != 0;
  bool framed = is_frame_pointer(walk, guess->sp, fp);
  if (generated) {
    uint64_t frameless = innermost ? frameless_at(walk, guess->pc, guess->sp, false) : 0;
    uint64_t leaving = frameless_at(walk, guess->pc + !innermost, guess->sp, true); /* frames have the address before */
    if (leaving && consider(walk, guess, leaving, true) && guess->evidence)
      guess->evidence = EVIDENCE_SURE;
    else if (frameless)
      consider(walk, guess, frameless, true);
    else if (MACHINE_LINK_REGISTER && innermost)
      consider_link(walk, guess);
    else if (framed)
      consider(walk, guess, fp + 8, true);
    if (guess->evidence)
      return;
  }
  if (!MACHINE_LINK_REGISTER)
    consider(walk, guess, guess->sp, true);
  else if (innermost)
    consider_link(walk, guess);
  if (framed)
    consider(walk, guess, fp + 8, true);
  search(walk, guess, guess->sp + 8, guess->evidence && guess->at == fp + 8 ? fp : UINT64_MAX);
}

/* The frame pointer of a caller.  Where its return address was found up the stack, code that uses the register for
 * something else has saved it among the first. */
static uint64_t saved_fp(struct walk *walk, const struct guess *guess, uint64_t fp)
{
  enum { PRESERVED = 6 }; /* registers that functions preserve */
  uint64_t caller = guess->at + 8;
  unw_word_t word;
  if (!guess->at)
    return fp;
  if (guess->at == fp + 8)
    return access_mem(space, fp, &word, 0, walk) == 0 ? word : fp;
  for (unsigned i = 1; i <= PRESERVED && !is_frame_pointer(walk, caller, fp) && guess->at - 8 * i >= guess->sp; i++)
    if (access_mem(space, guess->at - 8 * (uint64_t)i, &word, 0, walk) == 0 && is_frame_pointer(walk, caller, word))
      return word;
  return fp;
}

/* The stack pointer of a caller.  Where functions store the return address themselves, it is at the bottom of their
 * frame, and it is not known how large that is; the caller's frame pointer then points to the bottom of its frame, as a
 * rule. */
static uint64_t caller_sp(const struct walk *walk, const struct guess *guess, uint64_t fp)
{
  if (!guess->at)
    return guess->sp;
  return MACHINE_LINK_REGISTER && is_frame_pointer(walk, guess->at + 8, fp) ? fp : guess->at + 8;
}

/* Continues the walk at a caller that was guessed.  Returns false on failure. */
static bool take_guess(struct walk *walk, unw_cursor_t *cursor, const struct guess *guess, uint64_t fp)
{
  uint64_t saved = saved_fp(walk, guess, fp);
  memcpy(walk->guessed, walk->registers, sizeof walk->guessed);
  machine_set_caller(walk->guessed, guess->address, caller_sp(walk, guess, saved), saved);
  walk->registers = walk->guessed;
  walk->unverified = guess->evidence < EVIDENCE_SURE;
  walk->guesses += walk->unverified;
  return lib.init_remote(cursor, space, walk) == 0;
}

/* Steps out of a frame without unwind information: hand-written assembler, generated code, stubs of some linkers.
 * libunwind's own guess follows any frame pointer and goes astray.  frame: index of the caller.  Returns false if none
 * was found. */
static bool step_by_guess(struct walk *walk, unw_cursor_t *cursor, const struct frame *inner, uint64_t fp, int frame)
{
  struct guess guess = {.pc = inner->ip, .sp = inner->sp};
  find_caller(walk, &guess, fp, frame == 1);
  bool doubtful = guess.evidence == EVIDENCE_CALL && guess.at != guess.sp && guess.at != fp + 8;
  if (doubtful && !walk->doubtful.frame) {
    walk->doubtful.frame = frame;
    walk->doubtful.guess = guess;
    walk->doubtful.fp = fp;
    walk->doubtful.guesses = walk->guesses;
  }
  return guess.evidence && take_guess(walk, cursor, &guess, fp);
}

/* Does a call instruction, or the return of a signal handler, explain this return address? */
static bool is_return_address(struct walk *walk, uint64_t address)
{
  uint8_t code[UNWINDING_CODE_BYTES];
  uint64_t target;
  unw_word_t before, at;
  if (access_mem(space, address - sizeof code, &before, 0, walk) != 0 || access_mem(space, address, &at, 0, walk) != 0)
    return false;
  memcpy(code, &before, sizeof code);
  if (unwinding_call(code, address, &target) != CALL_NONE)
    return true;
  memcpy(code, &at, sizeof code);
  return unwinding_is_sigreturn(code);
}

/* Can the call before a return address have called the function at pc?  Only a direct call can disprove it. */
static bool is_called(const struct thread_state *t, struct walk *walk, uint64_t address, uint64_t pc)
{
  uint8_t code[UNWINDING_CODE_BYTES];
  uint64_t target;
  unw_word_t bytes;
  struct call_stub stub;
  if (access_mem(space, address - sizeof code, &bytes, 0, walk) != 0)
    return false;
  memcpy(code, &bytes, sizeof code);
  if (unwinding_call(code, address, &target) != CALL_DIRECT || unwind_function(t, pc) == target)
    return true;
  return call_code_at(target, &stub) == CODE_STUB;
}

/* Does a frame have to show that the doubtful one is right?  Those further out would only repeat what the first have
 * shown. */
static bool is_in_doubt(const struct walk *walk, int number)
{
  return walk->doubtful.frame && number > walk->doubtful.frame && number <= walk->doubtful.frame + DOUBTED_FRAMES;
}

static bool on_stack(const struct thread_state *t, uint64_t sp)
{
  return sp >= t->stack_low && sp <= t->stack_high;
}

/* Where on the stack a return address is; 0: not known.  fp: the frame pointer of the function that returns. */
static uint64_t return_at(struct walk *walk, uint64_t ip, uint64_t sp, uint64_t fp)
{
  unw_word_t word;
  if (!MACHINE_LINK_REGISTER)
    return sp - 8;
  return fp && access_mem(space, fp + 8, &word, 0, walk) == 0 && word == ip ? fp + 8 : 0;
}

/* Steps outwards to frames[number].  Returns what unw_step() does: positive, 0 at the outermost frame, negative on
 * failure. */
static int step(const struct thread_state *t, struct walk *walk, unw_cursor_t *cursor, struct frame *frames, int number)
{
  struct frame *frame = &frames[number];
  unw_word_t ip, sp, fp;
  bool unverified = walk->unverified;
  if (lib.get_reg(cursor, unwinding_fp, &fp) != 0)
    fp = 0;
  walk->no_info = walk->unverified = false;
  int more = lib.step(cursor);
  if (walk->no_info)
    more = step_by_guess(walk, cursor, &frame[-1], fp, number) ? 1 : -1;
  if (more > 0 && (lib.get_reg(cursor, UNW_REG_IP, &ip) != 0 || lib.get_reg(cursor, UNW_REG_SP, &sp) != 0 || ip < 4096))
    more = 0;
  if (more > 0 && unverified && !walk->no_info && !is_return_address(walk, ip))
    more = -1; /* the guess was wrong */
  if (more > 0 && is_in_doubt(walk, number) && !walk->no_info && !is_called(t, walk, ip, frame[-1].ip))
    more = -1; /* so was a doubtful one, or a function has left no frame */
  if (more > 0)
    *frame =
        (struct frame){.ip = ip - 1, .sp = sp, .return_at = return_at(walk, ip, sp, fp), .guessed = walk->unverified};
  return more;
}

size_t unwind_size(void)
{
  return sizeof(struct walk);
}

bool unwind_has_guessed(const struct thread_state *t)
{
  const struct walk *walk = sampling_of(t)->walk;
  return walk->guesses > 0;
}

/* Walks on to frames[count] and further.  Returns the number of frames. */
static int walk_on(const struct thread_state *t, struct walk *walk, uint64_t end_sp, struct frame *frames, int count,
                   bool *cut)
{
  *cut = true;
  for (; count < RT_FRAMES_MAX; count++) {
    int more = step(t, walk, &walk->cursor, frames, count);
    uint64_t sp = frames[more > 0 ? count : count - 1].sp;
    if (more <= 0) {
      *cut = more < 0 || (t->top_sp && on_stack(t, sp) && sp < t->top_sp);
      return count;
    }
    if ((t->top_sp && on_stack(t, sp) && sp >= t->top_sp) || sp > end_sp) {
      *cut = false;
      return count + 1;
    }
  }
  return count;
}

/* A walk from a doubtful frame was cut: what an earlier call has left on the stack leads nowhere, as a rule.  Drops the
 * frame, and looks for another caller further up.  Returns whether there is one. */
static bool guess_again(struct walk *walk, struct frame *frames)
{
  struct guess guess = {.pc = walk->doubtful.guess.pc, .sp = walk->doubtful.guess.sp};
  walk->guesses = walk->doubtful.guesses;
  search(walk, &guess, MAX(walk->doubtful.guess.at, guess.sp) + 8, UINT64_MAX);
  walk->doubtful.guess = guess;
  if (!guess.evidence || !take_guess(walk, &walk->cursor, &guess, walk->doubtful.fp))
    return false;
  frames[walk->doubtful.frame] =
      (struct frame){.ip = guess.address - 1, .sp = machine_sp_of(walk->guessed), .guessed = true};
  return true;
}

int unwind_walk(const struct thread_state *t, const machine_register_t *registers, uint64_t end_sp,
                struct frame *frames, bool *cut)
{
  enum { TRIES = 4 };
  struct walk *walk = sampling_of(t)->walk;
  walk->registers = registers;
  walk->unverified = false;
  walk->guesses = 0;
  walk->words_left = WALK_WORDS;
  walk->doubtful.frame = 0;
  memset(walk->window_at, 0, sizeof walk->window_at);
  uint64_t sp = machine_sp_of(registers);
  frames[0] = (struct frame){.ip = machine_ip_of(registers), .sp = sp};
  *cut = true;
  set_direct_range(walk, t, sp);
  if (!space || lib.init_remote(&walk->cursor, space, walk) != 0)
    return 1;
  int count = walk_on(t, walk, end_sp, frames, 1, cut);
  for (int tries = 1; *cut && is_in_doubt(walk, count); tries++) {
    if (tries == TRIES || !guess_again(walk, frames)) {
      walk->guesses = walk->doubtful.guesses;
      return walk->doubtful.frame;
    }
    count = walk_on(t, walk, end_sp, frames, walk->doubtful.frame + 1, cut);
  }
  return count;
}

int unwind_here(const struct thread_state *t, uint64_t end_sp, struct frame *frames, bool *cut)
{
  machine_register_t registers[MACHINE_REGISTERS] = {0};
  machine_registers_here(registers);
  return unwind_walk(t, registers, end_sp, frames, cut);
}

uint64_t unwind_called(struct thread_state *t, uint64_t code, uint64_t enter_frame, struct frame *frames)
{
  bool cut;
  int number = unwinding_called_register((const uint8_t *)(uintptr_t)code - UNWINDING_CODE_BYTES);
  if (number < 0)
    return 0;
  int last = unwind_here(t, enter_frame, frames, &cut) - 1;
  struct walk *walk = sampling_of(t)->walk;
  unw_word_t called;
  if (cut || frames[last].ip + 1 != code || lib.get_reg(&walk->cursor, number, &called) != 0)
    return 0;
  return unwind_function(t, called) == called ? called : 0;
}
