#define _GNU_SOURCE
#include "hpcrun-lite/rt/sampling/unwind.h"

#include <dlfcn.h>
#include <string.h>

#include "hpcrun-lite/rt/core/sys.h"

enum { CACHE_LOG = 12, WINDOW = 512, WINDOWS = 16, RED_ZONE = 128 };

static struct unwind_entries lib;
static unw_addr_space_t space;

/* The state of one walk: registers, the range that may be read directly, and windows of other memory that the kernel
 * has copied. */
struct walk {
  unw_cursor_t cursor;
  const greg_t *registers;
  gregset_t guessed; /* of a caller that step_by_guess() has found */
  uint64_t low, high;
  bool no_info; /* code without unwind information was encountered */
  uint64_t window_at[WINDOWS];
  unsigned window_next;
  uint8_t window[WINDOWS][WINDOW] __attribute__((aligned(8)));
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
    return 0;
  }
  return window_read(walk, address, value) ? 0 : -UNW_EINVAL;
}

static int access_reg(unw_addr_space_t as, unw_regnum_t number, unw_word_t *value, int write, void *arg)
{
  static const uint8_t at[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                               REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  (void)as;
  if (write || number < 0 || (size_t)number >= sizeof at)
    return -UNW_EBADREG;
  *value = (unw_word_t)((struct walk *)arg)->registers[at[number]];
  return 0;
}

/* Finds the unwind table of the module that contains ip and has libunwind search it.  libunwind allocates the result
 * from its own pool and frees it there. */
static int search_tables(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_unwind_info,
                         struct walk *walk)
{
  enum { DATAREL_SDATA4 = 0x3b };
  struct dl_find_object object;
  if (_dl_find_object((void *)ip, &object) != 0 || !object.dlfo_eh_frame)
    return -UNW_ENOINFO;
  uint64_t table = (uint64_t)object.dlfo_eh_frame;
  unw_word_t head[2]; /* .eh_frame_hdr: version, three encodings, eh_frame pointer, count, then the sorted table */
  if (access_mem(as, table, &head[0], 0, walk) || access_mem(as, table + 8, &head[1], 0, walk))
    return -UNW_ENOINFO;
  if ((head[0] & 0xff) != 1 || (head[0] >> 24 & 0xff) != DATAREL_SDATA4)
    return -UNW_ENOINFO;
  unw_dyn_info_t where = {.format = UNW_INFO_FORMAT_REMOTE_TABLE,
                          .start_ip = (unw_word_t)object.dlfo_map_start,
                          .end_ip = (unw_word_t)object.dlfo_map_end};
  where.u.rti.segbase = table;
  where.u.rti.table_data = table + 12;
  where.u.rti.table_len = (uint32_t)head[1]; /* in words of 8 bytes: one for each entry */
  return lib.search(as, ip, &where, info, need_unwind_info, walk);
}

static int find_proc_info(unw_addr_space_t as, unw_word_t ip, unw_proc_info_t *info, int need_unwind_info, void *arg)
{
  int error = search_tables(as, ip, info, need_unwind_info, arg);
  if (error)
    ((struct walk *)arg)->no_info = true;
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

uint64_t unwind_function(struct thread_state *t, uint64_t ip)
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

/* Can this number be a return address?  It must lie in a module, after a call instruction. */
static bool is_return_address(struct walk *walk, uint64_t address)
{
  static const uint8_t lengths[] = {2, 3, 4, 6, 7}; /* of indirect calls: ff /2 */
  struct dl_find_object object;
  uint8_t code[8];
  unw_word_t word;
  if (address < 4096 || _dl_find_object((void *)address, &object) != 0 ||
      access_mem(space, address - 8, &word, 0, walk) != 0)
    return false;
  memcpy(code, &word, sizeof code);
  if (code[3] == 0xe8)
    return true;
  for (unsigned i = 0; i < sizeof lengths; i++)
    if (code[8 - lengths[i]] == 0xff && (code[9 - lengths[i]] >> 3 & 7) == 2)
      return true;
  return false;
}

/* Steps out of a frame without unwind information (mostly hand-written assembler) at sp, with frame pointer rbp.  The
 * return address is directly at sp (a leaf function), or above a frame pointer that points up the stack, or else the
 * first word up the stack that can be one.  libunwind's own guess follows any frame pointer and goes astray. */
static bool step_by_guess(struct walk *walk, unw_cursor_t *cursor, uint64_t sp, uint64_t rbp)
{
  enum { WORDS = 512 };
  unw_word_t word, saved = rbp;
  uint64_t at = 0;
  if (access_mem(space, sp, &word, 0, walk) == 0 && is_return_address(walk, word)) {
    at = sp;
  } else if (rbp >= sp && rbp < walk->high && access_mem(space, rbp + 8, &word, 0, walk) == 0 &&
             is_return_address(walk, word)) {
    at = rbp + 8;
    access_mem(space, rbp, &saved, 0, walk);
  }
  for (uint64_t next = sp + 8; !at && next < sp + 8 * WORDS && access_mem(space, next, &word, 0, walk) == 0; next += 8)
    if (is_return_address(walk, word))
      at = next;
  if (!at)
    return false;
  memcpy(walk->guessed, walk->registers, sizeof walk->guessed);
  walk->guessed[REG_RIP] = (greg_t)word;
  walk->guessed[REG_RSP] = (greg_t)(at + 8);
  walk->guessed[REG_RBP] = (greg_t)saved;
  walk->registers = walk->guessed;
  return lib.init_remote(cursor, space, walk) == 0;
}

static bool on_stack(const struct thread_state *t, uint64_t sp)
{
  return sp >= t->stack_low && sp <= t->stack_high;
}

/* Steps one frame outwards.  Returns what unw_step() does: positive, 0 at the outermost frame, negative on failure. */
static int step(struct walk *walk, unw_cursor_t *cursor, struct frame *frame)
{
  unw_word_t ip, sp, rbp;
  uint64_t inner = frame[-1].sp;
  if (lib.get_reg(cursor, UNW_X86_64_RBP, &rbp) != 0)
    rbp = 0;
  walk->no_info = false;
  int more = lib.step(cursor);
  if (walk->no_info)
    more = step_by_guess(walk, cursor, inner, rbp) ? 1 : -1;
  if (more > 0 && (lib.get_reg(cursor, UNW_REG_IP, &ip) != 0 || lib.get_reg(cursor, UNW_REG_SP, &sp) != 0 || ip < 4096))
    more = 0;
  if (more > 0)
    *frame = (struct frame){.ip = ip - 1, .sp = sp};
  return more;
}

size_t unwind_size(void)
{
  return sizeof(struct walk);
}

int unwind_walk(const struct thread_state *t, const greg_t *registers, uint64_t end_sp, struct frame *frames, bool *cut)
{
  struct walk *walk = sampling_of(t)->walk;
  walk->registers = registers;
  memset(walk->window_at, 0, sizeof walk->window_at);
  uint64_t sp = unwind_sp(registers);
  frames[0] = (struct frame){.ip = (uint64_t)registers[REG_RIP], .sp = sp};
  *cut = true;
  set_direct_range(walk, t, sp);
  if (!space || lib.init_remote(&walk->cursor, space, walk) != 0)
    return 1;
  int count = 1;
  for (; count < RT_FRAMES_MAX; count++) {
    int more = step(walk, &walk->cursor, &frames[count]);
    sp = frames[more > 0 ? count : count - 1].sp;
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

int unwind_here(const struct thread_state *t, uint64_t end_sp, struct frame *frames, bool *cut)
{
  gregset_t registers = {0};
  __asm__ volatile("leaq 0f(%%rip), %%rax\n"
                   "0: movq %%rax, %[rip]\n"
                   "movq %%rsp, %[rsp]\n"
                   "movq %%rbp, %[rbp]\n"
                   "movq %%rbx, %[rbx]\n"
                   "movq %%r12, %[r12]\n"
                   "movq %%r13, %[r13]\n"
                   "movq %%r14, %[r14]\n"
                   "movq %%r15, %[r15]\n"
                   : [rip] "=m"(registers[REG_RIP]), [rsp] "=m"(registers[REG_RSP]), [rbp] "=m"(registers[REG_RBP]),
                     [rbx] "=m"(registers[REG_RBX]), [r12] "=m"(registers[REG_R12]), [r13] "=m"(registers[REG_R13]),
                     [r14] "=m"(registers[REG_R14]), [r15] "=m"(registers[REG_R15])
                   :
                   : "rax");
  return unwind_walk(t, registers, end_sp, frames, cut);
}

/* libunwind numbers these registers as the machine does. */
uint64_t unwind_called(struct thread_state *t, uint64_t code, uint64_t enter_frame, struct frame *frames)
{
  const uint8_t *end = (const uint8_t *)(uintptr_t)code;
  unsigned number = (end[-1] & 7u) + (end[-3] == 0x41 ? 8 : 0); /* REX.B */
  bool preserved = number == UNW_X86_64_RBX || (number >= UNW_X86_64_R12 && number <= UNW_X86_64_R15), cut;
  if (end[-2] != 0xff || (end[-1] & 0xf8) != 0xd0 || !preserved)
    return 0;
  int last = unwind_here(t, enter_frame, frames, &cut) - 1;
  struct walk *walk = sampling_of(t)->walk;
  unw_word_t called;
  if (cut || frames[last].ip + 1 != code || lib.get_reg(&walk->cursor, (int)number, &called) != 0)
    return 0;
  return unwind_function(t, called) == called ? called : 0;
}
