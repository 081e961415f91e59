"""Gates on the structure: includes between folders, names of files, calls of RT, and the symbols of the preloaded
library."""
import collections
import fnmatch
import glob
import json
import os
import re
import shlex
import sys
from concurrent.futures import ThreadPoolExecutor

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import measurement_file as form
import report
import tap
from tap import BUILD, SOURCE, must


def architecture():
    with open(os.path.join(SOURCE, "doc", "architecture.md"), encoding="utf-8") as file:
        return file.read()


def layer_table():
    """Folder → folders, or files, of the project from which its files include: the table in doc/architecture.md."""
    page = architecture()
    layers = {}
    for folder, allowed in re.findall(r"^\| `([\w/-]+)` \| (.+) \|$", page[page.index("## Layers"):page.index("## Modules")],
                                      re.M):
        top = folder.split("/")[0] + "/"
        names = re.findall(r"`([^`]+)`", allowed)
        layers[folder] = {name if name.split("/")[0] in TOPS else top + name for name in names}
        layers[folder] |= set() if "not itself" in allowed else {folder}
    return layers


TOPS = {"common", "completions", "hpcrun-lite", "hpcprof-lite"}
LAYERS = layer_table()

# Every function outside RT that RT calls.  All are async-signal-safe.
RT_MAY_CALL = {
    # memory and strings, without state
    "memcpy", "memset", "memcmp", "memmove", "strcmp", "strncmp", "strlen", "strnlen", "strcpy", "strrchr",
    "__strcpy_chk", "__memcpy_chk",
    # glibc: lock-free lookup of a module; reads of the auxiliary vector
    "_dl_find_object", "getauxval", "__errno_location",
    # glibc: where a thread's rseq area is
    "__rseq_offset", "__rseq_size",
    "memchr", "strchr",
    "_GLOBAL_OFFSET_TABLE_",
}
# On aarch64, also the compiler's atomic operations and divisions of 128 bits, which become a part of the library.
OF_THE_COMPILER = r"__aarch64_(cas|swp|ld\w+)\d_\w+|__u?divti3"
# And the functions of CTL: hpcrun-lite/rt/core/ctl_calls.h.
CALLS_UP = {"threads_adopt", "serial_moment", "filter_settings_read", "filter_settings_record"}

# The symbols that the library defines: interposed functions, the entry of OMPT, and what include/hpcrun-lite.h looks
# up; and what the wrappers of MPI call.
EXPORTS = {
    "ompt_start_tool", "hpcrun_lite_tool_start", "hpcrun_lite_tool_stop", "hpcrun_lite_tool_add_work",
    "hpcrun_lite_tool_region_begin", "hpcrun_lite_tool_region_end",
    "hpcrun_lite_tool_mark", "hpcrun_lite_tool_phase", "hpcrun_lite_tool_counter",
    "hpcrun_lite_mpi_begin", "hpcrun_lite_mpi_end", "hpcrun_lite_mpi_initialized", "hpcrun_lite_mpi_finalizes",
    "hpcrun_lite_mpi_finalized", "hpcrun_lite_mpi_log", "hpcrun_lite_mpi_logs",
    "hpcrun_lite_tool_fortran_region_begin", "hpcrun_lite_tool_fortran_counter",
    "pthread_create", "thrd_create", "pthread_setaffinity_np", "dlclose", "_exit", "_Exit",
    "sigaction", "signal", "sigprocmask", "pthread_sigmask", "sigwait", "sigwaitinfo", "sigtimedwait",
    "execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "execveat", "fexecve",
    "nanosleep", "clock_nanosleep", "sleep", "usleep", "poll", "ppoll", "select", "pselect", "epoll_wait",
    "epoll_pwait",
    "sem_wait", "sem_timedwait", "sem_clockwait", "pause", "sigsuspend", "msgrcv", "msgsnd", "semop", "semtimedop",
    "accept", "accept4", "connect", "recv", "recvfrom", "recvmsg", "recvmmsg", "sendmmsg", "epoll_pwait2", "__poll_chk",
    "__ppoll_chk", "__recv_chk", "__recvfrom_chk", "send", "sendto", "sendmsg",
    "pthread_join", "thrd_join", "waitpid", "waitid",
    "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait",
    "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
    "pthread_mutex_unlock", "mtx_lock", "mtx_trylock", "mtx_timedlock", "mtx_unlock", "pthread_barrier_wait",
    "pthread_once", "call_once",
    "pthread_rwlock_rdlock", "pthread_rwlock_wrlock", "pthread_rwlock_tryrdlock", "pthread_rwlock_trywrlock",
    "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock", "pthread_rwlock_clockrdlock",
    "pthread_rwlock_clockwrlock", "pthread_rwlock_unlock",
    "pthread_spin_lock", "pthread_spin_trylock", "pthread_spin_unlock",
    "thrd_sleep", "read", "readv", "write", "writev", "setsockopt", "syscall", "prctl", "ptrace", "signalfd",
    "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "posix_spawn", "posix_spawnp",
    "aio_suspend", "aio_suspend64", "__read_chk", "sendfile", "sendfile64", "copy_file_range", "getrandom",
    "pread", "pread64", "__pread_chk", "__pread64_chk", "pwrite", "pwrite64", "preadv", "preadv64", "pwritev",
    "pwritev64", "splice", "fsync", "fdatasync", "msync", "flock", "lockf", "lockf64", "mq_receive",
    "mq_timedreceive", "mq_send", "mq_timedsend", "fread", "fread_unlocked", "__fread_chk", "__fread_unlocked_chk",
    "fwrite", "fwrite_unlocked", "fgets", "fgets_unlocked", "__fgets_chk", "__fgets_unlocked_chk", "getline",
    "getdelim", "__getdelim", "puts", "fputs", "fputs_unlocked", "vprintf", "vfprintf", "__vprintf_chk",
    "__vfprintf_chk", "fflush", "fflush_unlocked", "fclose", "fopen", "fopen64", "pclose", "system", "open", "open64",
    "openat", "openat64", "__open_2", "__open64_2", "__openat_2", "__openat64_2", "fcntl", "fcntl64", "printf",
    "fprintf", "__printf_chk", "__fprintf_chk", "wait", "wait3", "wait4", "pthread_timedjoin_np",
    "__kmpc_omp_task", "__kmpc_omp_task_with_deps", "__kmpc_omp_task_alloc", "__kmpc_taskloop", "__kmpc_taskloop_5",
    "__kmpc_omp_task_begin_if0", "__kmpc_taskgroup", "__kmpc_test_lock", "__kmpc_test_nest_lock",
    "__kmpc_doacross_wait", "__kmpc_reduce", "__kmpc_reduce_nowait",
} | {f"__kmpc_{name}_{kind}" for kind in ("4", "4u", "8", "8u")
     for name in ("dispatch_init", "dispatch_next", "for_static_init", "dist_dispatch_init", "dist_for_static_init")} | {
    f"__tgt_target_{name}" for name in (
        "mapper", "nowait_mapper", "teams_mapper", "teams_nowait_mapper", "kernel", "kernel_nowait", "data_begin_mapper",
        "data_begin_nowait_mapper", "data_end_mapper", "data_end_nowait_mapper", "data_update_mapper",
        "data_update_nowait_mapper")}


def sources():
    for folder in LAYERS:
        for name in sorted(os.listdir(os.path.join(SOURCE, folder))):
            if name.endswith((".c", ".h", ".def")):
                yield folder, os.path.join(folder, name)


def included_by(path):
    with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
        return re.findall(r'^#include "([^"]+)"', file.read(), re.M)


def folders_of_includes():
    """Folder → the folders, or the files that the table names, from which its files include; not common/."""
    graph = collections.defaultdict(set)
    for folder, path in sources():
        own = os.path.splitext(path)[0] + ".h"
        for name in included_by(path):
            if name != own:
                graph[folder].add(name if name in LAYERS[folder] else os.path.dirname(name))
        graph[folder].discard("common")
    return graph


def includes():
    """Module (path without its ending) → modules that its files include; a cycle between its header and source is
    none."""
    graph = collections.defaultdict(set)
    for _, path in sources():
        if not path.endswith(".def"):
            module = os.path.splitext(path)[0]
            graph[module] |= {os.path.splitext(name)[0] for name in included_by(path)} - {module}
    return graph


def cycle(graph):
    """The modules, or folders, of one cycle, or none."""
    done, path = set(), []

    def visit(module):
        if module in path:
            return path[path.index(module):]
        if module in done:
            return []
        path.append(module)
        found = next(filter(None, map(visit, sorted(graph.get(module, ())))), [])
        path.pop()
        done.add(module)
        return found

    return next(filter(None, map(visit, sorted(graph))), [])


def only_in(pattern, allowed):
    wrong = []
    for _, path in sources():
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            if re.search(pattern, file.read()) and not re.match(allowed, path):
                wrong.append(path)
    return wrong


def undefined(library):
    shown = must("nm", library)
    defined = set(re.findall(r" [A-TV-Za-tv-z] (\S+)$", shown, re.M))
    return {name for name in re.findall(r"^ +[Uw] (\S+)$", shown, re.M)} - defined


def exported(library):
    shown = must("nm", "-D", "--defined-only", library)
    return {line.split()[2].split("@")[0] for line in shown.splitlines()}


def needed(library):
    shown = must("readelf", "-d", library)
    return set(re.findall(r"NEEDED.*\[(.+)\]", shown))


# What names records, tables or constants of the stored format; input/ and merge/ are the readers.
FORMAT_READERS = {"hpcprof-lite/model/profile.h", "hpcprof-lite/model/profile.c", "hpcprof-lite/model/construct_figures.h",
                  "hpcprof-lite/timeline/lane.c", "hpcprof-lite/timeline/lane.h",
                  "hpcprof-lite/timeline/traced.c", "hpcprof-lite/timeline/index_builder.c",
                  "hpcprof-lite/timeline/timeline_index.c", "hpcprof-lite/pipelines/phase_store.c"}


def conditionals(code):
    """The lines of conditional operators inside an operand of another one; those without a middle operand do not count,
    as in "COMPARE(a, b) ?: COMPARE(c, d)"."""
    blank = lambda match: re.sub(r"[^\n]", " ", match.group())
    code = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", blank, code, flags=re.S)
    code = re.sub(r"\?\s*:", "  ", code)
    depth, open_at, nested = 0, [], []
    for match in re.finditer(r"[][(){}?,;]", code):
        sign = match.group()
        depth += (sign in "([{") - (sign in ")]}")
        if sign != "?":
            ends = depth if sign in ",;" else depth + 1
            open_at = [at for at in open_at if at < ends]
        else:
            if open_at:
                nested.append(code.count("\n", 0, match.start()) + 1)
            open_at.append(depth)
    return nested


# Files whose names a tool or a format prescribes, and what is not the project's own text.
REPEATED = r"meson\.build|README\.md|.*\.(hpcrun|graph|trace)"
DEBIAN = {"debian", "debian/tests", "debian/source"}  # its names are fixed
MACHINES = os.path.join("hpcrun-lite", "arch")  # each machine has a folder with files of the same names
NOT_SOURCES = {".git", "build", "build-deps", "__pycache__"}


def tree():
    """All folders of the project with the names of their files."""
    for folder, below, names in os.walk(SOURCE):
        below[:] = [name for name in below if name not in NOT_SOURCES
                    and not (folder == SOURCE and name.startswith("build"))]
        if folder != SOURCE:
            yield os.path.relpath(folder, SOURCE), names


@tap.case
def no_file_name_occurs_twice(_):
    places = collections.defaultdict(list)
    for folder, names in tree():
        for name in names:
            if folder not in DEBIAN and not folder.startswith(MACHINES) and not re.fullmatch(REPEATED, name):
                places[name].append(folder)
    repeated = {name: folders for name, folders in places.items() if len(folders) > 1}
    assert not repeated, repeated


@tap.case
def the_folders_of_machines_have_the_same_files(_):
    machines = [names for folder, names in tree() if os.path.dirname(folder) == MACHINES]
    assert len(machines) >= 2 and all(set(names) == set(machines[0]) for names in machines), machines


# Registers, instructions and numbers of a machine; those of ELF files are in common/symbols.
OF_A_MACHINE = (r"__(x86_64|aarch64)__|__asm__( volatile)?\(\s*\"[^\"]|__builtin_(ia32|aarch64)|\bREG_R|gregs|\bUNW_(X86|AARCH64)|"
                r"\b[RE]M?_(X86_64|AARCH64)|<cpuid|%fs\b|x86_64|aarch64")


@tap.case
def only_their_folders_name_machines(_):
    assert only_in(OF_A_MACHINE, r"common/plt_stub|common/symbols/|hpcrun-lite/arch/|hpcprof-lite/model/catalog\.c") == []


@tap.case
def folders_include_what_the_architecture_page_allows_and_nothing_else(_):
    folders = {os.path.dirname(path) for path in glob.glob("*/**/*.[ch]", root_dir=SOURCE, recursive=True)
               if path.split("/")[0] in TOPS}
    assert set(LAYERS) == folders, set(LAYERS) ^ folders
    graph = folders_of_includes()
    wrong = {folder: graph[folder] - LAYERS[folder] for folder in LAYERS if graph[folder] - LAYERS[folder]}
    assert not wrong, wrong
    needless = {folder: LAYERS[folder] - graph[folder] - {folder} for folder in LAYERS}
    assert not any(needless.values()), needless


@tap.case
def no_folders_include_each_other(_):
    graph = {folder: {name for name in names if not name.endswith(".h")} - {folder}
             for folder, names in folders_of_includes().items()}
    assert len(graph) > 45 and not cycle(graph), cycle(graph)


@tap.case
def no_modules_include_each_other(_):
    graph = includes()
    assert len(graph) > 150 and not cycle(graph), cycle(graph)
    assert cycle({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["b", "c"]


@tap.case
def the_architecture_page_lists_every_module_and_no_other(_):
    page = architecture()
    listed = re.findall(r"^\| `([\w/-]+)` \|", page[page.index("## Modules"):page.index("## How")], re.M)
    assert sorted(listed) == sorted(set(includes()) | {"include/hpcrun-lite"}), set(listed) ^ set(includes())


@tap.case
def no_conditional_operator_is_inside_another(_):
    wrong = []
    for _, path in sources():
        with open(os.path.join(SOURCE, path), encoding="utf-8") as file:
            wrong += [f"{path}:{line}" for line in conditionals(file.read())]
    assert not wrong, wrong
    assert conditionals("a ? b : c;\nd = e ? f : g ? h : i;\nj(k ? l : m, n ? o : p) ?: q ?: r;") == [2]


@tap.case
def only_config_reads_the_environment(_):
    assert only_in(r"\bgetenv\(", r"hpcrun-lite/(process/config\.c|launch/)|hpcprof-lite/") == []


@tap.case
def only_the_reader_and_the_model_name_the_format(_):
    assert set(only_in(r"\bFORMAT_[A-Z]", r"common/|hpcrun-lite/|hpcprof-lite/(input|merge)/|tests/")) <= FORMAT_READERS


@tap.case
def only_symbols_and_launcher_read_elf_and_dwarf(_):
    assert only_in(r"<(libelf|gelf)", r"common/symbols|hpcrun-lite/launch") == []
    assert only_in(r"<(dwarf|libdwarf)", r"common/symbols/libdwarf_versions\.h") == []
    assert only_in(r"libdwarf_versions\.h", r"common/symbols/symbols_(entries|lines)\.h") == []


@tap.case
def only_the_transport_module_uses_mpi(_):
    assert only_in(r"#include <mpi\.h>", r"(hpcprof-lite/ranks/transport_mpi|hpcrun-lite/mpi/mpi_decode)\.c") == []
    assert not [name for name in needed(tap.REPORT) if "mpi" in name]


@tap.case
def only_modules_on_demand_use_the_libraries_of_exports(_):
    assert only_in(r"#include <sqlite3\.h>", r"hpcprof-lite/report/exports/profile/sqlite_library\.c") == []
    assert only_in(r"#include <otf2", r"hpcprof-lite/report/exports/otf2_library\.c") == []
    assert not [name for name in needed(tap.REPORT) if "sqlite" in name or "otf2" in name]


@tap.case
def rt_calls_only_what_is_on_the_list(_):
    library = os.path.join(BUILD, "hpcrun-lite", "librt.a")
    called = undefined(library)
    if "elf64-littleaarch64" in must("objdump", "-f", library):  # this script may run on another machine
        called = {name for name in called if not re.fullmatch(OF_THE_COMPILER, name)}
    with open(os.path.join(SOURCE, "hpcrun-lite", "rt", "core", "ctl_calls.h"), encoding="utf-8") as file:
        declared = re.findall(r"(\w+)\(.*\);$", file.read(), re.M)
    assert called - CALLS_UP <= RT_MAY_CALL and CALLS_UP <= called, (called, CALLS_UP)
    assert sorted(declared) == sorted(CALLS_UP), declared


# Arithmetic, comparisons and conversions, which depend on the program's floating-point control register; not moves.
FLOATING = (r"\t(v?(add|sub|mul|div|sqrt|min|max|round|u?comi|cmp)[sp][sd]|v?cvt\w+|vfn?m\w+|f(add|sub|mul|div|ild|istt?p?|ld|stp?)\w*|"
            r"f(n?m(add|sub|ul|la|ls)|sqrt|c?cm\w+|ac\w+|(min|max)\w*|abd|recp\w|rsqrt\w|cvt\w+|rint\w)|[su]cvtf)\s")


@tap.case
def rt_has_no_floating_point(_):
    library = os.path.join(BUILD, "hpcrun-lite", "librt.a")
    code = must("objdump", "-d", "--no-show-raw-insn", library)
    assert "mul" in code
    found = [line for line in code.splitlines() if re.search(FLOATING, line)]
    assert not found, found


# What a function takes of the stack; on aarch64 with the registers that it saves.
RESERVED = r"\tsub +\$0x(\w+),%rsp|\tsub\tsp, sp, #0x(\w+)(?:, lsl #(12))?$|\tmov\t(x\d+), #0x(\w+).*\n.*\tsub\tsp, sp, \4$"


def reserved(*files):
    """Pairs of a function in object files and the bytes that it takes of the stack."""
    code = must("objdump", "-d", "--no-show-raw-insn", *files)
    return [(name, int(found[1] or found[2] or found[5], 16) << int(found[3] or 0))
            for name, body in re.findall(r"^[0-9a-f]+ <(.+)>:\n((?:.+\n)*)", code, re.M)
            for found in re.finditer(RESERVED, body, re.M)]


@tap.case
def rt_uses_little_of_the_stack(_):
    """It runs on the stack that a signal interrupts, also one of a coroutine; see little_room() of the handler."""
    by_ctl = {"usage_of_thread"}
    large = {name: size for name, size in reserved(os.path.join(BUILD, "hpcrun-lite", "librt.a")) if 1536 < size < 1 << 63}
    assert set(large) == by_ctl, large


@tap.case
def what_a_thread_of_the_program_writes_has_room_on_its_stack(_):
    """A thread that calls exec() or exit() writes the tables."""
    objects = glob.glob(os.path.join(BUILD, "hpcrun-lite", "**", "*output_*.o"), recursive=True)
    sizes = [size for _, size in reserved(*objects)]
    assert 1000 < max(sizes) < 6000, max(sizes)


def libgomp_table(directory):
    """What hpcrun-lite/gomp/entries.h says: the names of wrapped functions, and patterns with the reasons for others."""
    with open(os.path.join(directory, "table.c"), "w", encoding="utf-8") as file:
        file.write('''
            #include "hpcrun-lite/gomp/entries.h"
            #define NAME(name) wrapped name ;
            #define PLAIN(name, reason) plain name reason ;
            GOMP_WRAPPED(NAME) GOMP_LOCKS(NAME) GOMP_PLAIN(PLAIN)''')
    text = must("cc", "-E", "-P", "-I", SOURCE, file.name)
    wrapped = re.findall(r"wrapped (\w+) ;", text)
    plain = dict(re.findall(r'plain "(\S+)" "([^"]+)" ;', text))
    assert len(wrapped) == len(set(wrapped)) > 130 and len(plain) > 30
    return set(wrapped), plain


@tap.case
def the_library_defines_only_what_it_interposes(directory):
    wrapped, _ = libgomp_table(directory)
    wrong = exported(tap.LIBRARY) ^ (EXPORTS | wrapped | {"OMP_1.0", "OMP_3.0"})
    assert not wrong, wrong


@tap.case
def every_function_of_libgomp_is_wrapped_or_has_a_reason(directory):
    wrapped, plain = libgomp_table(directory)
    names = {name for name in exported(must("gcc", "-print-file-name=libgomp.so.1").strip())
             if name.startswith(("GOMP_", "omp_")) and "." not in name}
    others = {name for name in names - wrapped if not any(fnmatch.fnmatchcase(name, known) for known in plain)}
    assert len(names) > 300 and not others, others
    newer = {"GOMP_taskwait_depend_nowait"}  # of GCC 13
    assert wrapped - names <= newer, wrapped - names


# Where auditors run (LD_AUDIT), the libraries of a program and the program's own share less than 2 KB, and a library
# that finds no room ends the program.
STATIC_STORAGE_MOST = 256


@tap.case
def the_library_takes_little_static_thread_local_storage(_):
    segment = re.search(r"^ +TLS +(?:0x[0-9a-f]+ +){4}(0x[0-9a-f]+) +R +(0x[0-9a-f]+)$",
                        must("readelf", "-lW", tap.LIBRARY), re.M)
    size, alignment = (int(value, 16) for value in segment.groups())
    assert 0 < size <= STATIC_STORAGE_MOST and alignment <= 16, segment.group()


@tap.case
def loaders_are_examined_for_the_version_that_the_library_needs(_):
    with open(os.path.join(SOURCE, "common", "loader_version.h"), encoding="utf-8") as file:
        named = re.search(r'LOADER_VERSION "GLIBC_([\d.]+)"', file.read()).group(1)
    needs = must("readelf", "-V", "-W", tap.LIBRARY).split("section '.gnu.version_r'")[1]
    versions = [tuple(map(int, version.split("."))) for version in re.findall(r"Name: GLIBC_([\d.]+)", needs)]
    of_loader = re.split(r"File: ld-linux-[\w-]+\.so", needs)[1].split("File:")[0]
    assert f"Name: GLIBC_{named} " in of_loader, of_loader
    assert max(versions) == tuple(map(int, named.split("."))), versions


@tap.case
def the_library_needs_only_libc(_):
    assert needed(tap.LIBRARY) <= {"libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def anchor(heading):
    """As GitHub makes them."""
    return re.sub(r"[^\w -]", "", heading.strip().lower()).replace(" ", "-")


def broken_links(folder, page):
    """The links of a page to files or headings that are not there."""
    def text(path):
        with open(path, encoding="utf-8") as file:
            return file.read()

    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text(os.path.join(folder, page))):
        name, _, heading = link.partition("#")
        path = os.path.join(folder, name or page)
        if re.match(r"\w+:", link):
            continue
        if not os.path.exists(path) or os.path.relpath(path, folder).startswith(".."):
            wrong.append(f"{page}: {link}")
        elif heading and heading not in map(anchor, re.findall(r"^#+ (.*)", text(path), re.M)):
            wrong.append(f"{page}: {link}")
    return wrong


@tap.case
def links_of_documents_lead_to_installed_ones(_):
    """Also in the package, which takes all that is below share/."""
    folder = os.path.join(os.path.dirname(tap.BIN), "share", "doc", "hpcrun-lite")
    pages = [name for name in os.listdir(folder) if name.endswith(".md")]
    wrong = [link for page in pages for link in broken_links(folder, page)]
    assert not wrong, wrong
    assert set(pages) == {name for name in os.listdir(os.path.join(SOURCE, "doc")) if name.endswith(".md")}
    assert not (wrong := broken_links(SOURCE, "README.md")), wrong
    with open(os.path.join(SOURCE, "debian", "hpcrun-lite.install"), encoding="utf-8") as file:
        assert "usr/share" in file.read().split()


@tap.case
def manual_pages_are_set_without_warnings(_):
    tap.need_program("groff")
    pages = glob.glob(os.path.join(os.path.dirname(tap.BIN), "share", "man", "man*", "*"))
    assert len(pages) >= 2, pages
    for page in pages:
        done = tap.run("groff", "-ww", "-mdoc", "-Tutf8", page)
        assert done.returncode == 0 and done.stderr == "", (page, done.stderr)


# ---- the measurement format ----

SHORT = {"uint8_t": "u8", "uint16_t": "u16", "uint32_t": "u32", "int32_t": "i32", "uint64_t": "u64", "double": "f64"}
WIDTH = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "int32_t": 4, "uint64_t": 8, "double": 8}


def rows_of(heading, cells):
    """The rows of the table below a heading of doc/format.md, without the row of headings."""
    with open(os.path.join(SOURCE, "doc", "format.md"), encoding="utf-8") as file:
        section = file.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return [row for row in rows if len(row) == cells][2:]


def as_documented(fields):
    return ", ".join(f"{name} {SHORT.get(kind, kind.removeprefix('struct format_'))}{f'[{length}]' if length else ''}"
                     for name, _, kind, length in fields)


@tap.case
def the_page_of_the_format_lists_the_records_of_the_header(_):
    head = form.LAYOUTS["records"]["format_extent"]["fields"]
    assert [tuple(row[:3]) for row in rows_of("Extents", 4)] == [
        (str(offset), str(WIDTH[kind] * (length or 1)), name) for name, offset, kind, length in head]
    tables = [(str(number), name, kind if kind.startswith("struct") else "")
              for name, (number, kind, _) in form.LAYOUTS["tables"].items()]
    assert [(row[0], row[1], "".join(re.findall(r"^`(struct \w+)`", row[3])))
            for row in rows_of("Tables", 4)[:len(tables)]] == tables
    assert [(row[0], int(row[1]), row[2]) for row in rows_of("Records", 3)] == [
        (f"`struct {name}`", record["size"], as_documented(record["fields"]))
        for name, record in form.LAYOUTS["records"].items() if name != "format_extent"]


@tap.case
def the_reader_of_tests_uses_the_records_of_the_header(_):
    """It refuses a layout that ctypes does not give, and its records are those of a golden measurement."""
    for name in form.LAYOUTS["records"]:
        form.layout(name)
    path, = report.golden_files(".hpcrun", "basic")["basic"][:1]
    found = {extent.table: extent.parsed() for extent in form.extents(path) if extent.table in (form.THREAD, form.PROCESS)}
    assert found[form.PROCESS][0].threads >= found[form.THREAD][0].index >= 1
    assert found[form.THREAD][0].wall_ns <= found[form.PROCESS][0].wall_ns


def counted(directory, *runs):
    """What count_cases.py prints of runs, each a status and the outcomes of tests: result and lines.  None: no log."""
    arguments = []
    for number, (status, tests) in enumerate(runs):
        arguments += [os.path.join(directory, f"run{number}.json"), str(status)]
        if tests is not None:
            with open(arguments[-2], "w", encoding="utf-8") as log:
                for name, (result, lines) in tests.items():
                    log.write(json.dumps({"name": name, "result": result, "stdout": "\n".join(lines)}) + "\n")
        elif os.path.exists(arguments[-2]):
            os.unlink(arguments[-2])
    done = tap.run(sys.executable, os.path.join(tap.SUPPORT, "count_cases.py"), *arguments)
    lines = done.stdout.splitlines()
    assert (done.returncode == 0) == lines[-1].endswith(", 0 failed"), done
    return lines[-1], done.stdout


@tap.case
def the_last_line_of_the_tests_counts_all_failures(directory):
    busy, failed = "ok 1 - a # SKIP other programs took 0.5 cores and more: 1", ("FAIL", ["not ok 1 - a", "ok 2 - b"])
    fine = "OK", ["ok 1 - a", "ok 2 - b"]
    once = 1, {"t": failed, "u": fine}
    for expected, *runs in (
            ("4 passed, 0 failed", (0, {"t": fine, "u": fine})),
            ("3 passed, 1 failed", once),
            ("4 passed, 0 failed", once, (0, {"t": fine})),
            ("3 passed, 1 failed", once, (1, {"t": failed})),
            ("3 passed, 1 failed", once, (0, {"t": ("OK", [busy, "ok 2 - b"])})),      # skipped in the second run
            ("3 passed, 1 failed", once, (0, {"t": ("OK", ["ok 2 - b"])})),            # missing in the second run
            ("4 passed, 0 failed", (1, {"t": ("FAIL", ["not ok 1 - a", busy.replace("- a", "- b")]), "u": fine}),
             (0, {"t": fine})),
            ("4 passed, 0 failed", (1, {"t": ("FAIL", ["not ok 1 - g", "ok 2 - b"]), "u": fine}),
             (0, {"t": ("OK", ["ok 1 - g: x", "ok 2 - b"])})),                         # a group that failed as a whole
            ("3 passed, 0 failed", (1, {"t": ("FAIL", ["not ok 1 - g"]), "u": fine}),
             (0, {"t": ("OK", ["ok 1 - g: x", "ok 2 - g: y # SKIP needs root"])})),
            ("3 passed, 1 failed", (1, {"t": ("FAIL", ["not ok 1 - g"]), "u": fine}),
             (0, {"t": ("OK", ["ok 1 - g: x", busy.replace("- a", "- g: y")])})),
            ("2 passed, 1 failed", (1, {"t": ("FAIL", ["not ok 1 - g"]), "u": fine}),
             (0, {"t": ("OK", ["ok 1 - g: x # SKIP needs root"])})),
            ("4 passed, 1 failed", (2, {"t": failed, "u": fine}), (0, {"t": fine})),   # the log lacks a test
            ("4 passed, 1 failed", (1, {"t": fine, "u": fine})),
            ("4 passed, 1 failed", once, (1, {"t": fine})),
            ("3 passed, 1 failed", once, (0, None)),
            ("0 passed, 1 failed", (1, None)),
            ("2 passed, 1 failed", (1, {"t": ("TIMEOUT", ["ok 1 - a", "ok 2 - b"])})),
            ("1 passed, 0 failed", (0, {"t": ("OK", [busy, "ok 2 - b"])}))):
        last, text = counted(directory, *runs)
        assert last == expected, (runs, text)
        assert ("1 skipped: machine busy" in text) == (busy.partition("#")[2] in str(runs[-1])), (runs, text)


def by_clang(entry):
    """What clang objects to in a file that another compiler compiles by that entry of compile_commands.json."""
    words = [word for word in shlex.split(entry["command"])[1:] if word not in ("-MD", "-MQ", "-MF", "-o", "-c")]
    words = [word for word in words if not word.endswith((".o", ".o.d"))]
    done = tap.run("clang", "-fsyntax-only", "-Werror", "-Wno-missing-field-initializers",
                   "-Wno-unknown-warning-option", *words, cwd=entry["directory"])
    return done.stderr if done.returncode else ""


@tap.case
def the_tests_compile_with_clang(_):
    """With all warnings but one: GCC does not warn of members that a designated initializer omits, either."""
    tap.need_program("clang")
    with open(os.path.join(BUILD, "compile_commands.json"), encoding="utf-8") as file:
        entries = [entry for entry in json.load(file)
                   if os.path.realpath(os.path.join(entry["directory"], entry["file"])).startswith(
                       os.path.join(SOURCE, "tests", "")) and entry["file"].endswith(".c")]
    assert len(entries) > 50, len(entries)
    with ThreadPoolExecutor(2) as pool:
        wrong = [text for text in pool.map(by_clang, entries) if text]
    assert not wrong, "".join(wrong)


tap.main()
