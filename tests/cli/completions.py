#!/usr/bin/env python3
"""The completions of bash and zsh and the manual: complete against --help, and what a shell makes of them."""
import os
import pty
import re
import select
import sys
import time

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
from tap import BIN, LAUNCHER, REPORT, SOURCE, case, main, must, need_program, run, start

SHARE = os.path.join(os.path.dirname(BIN), "share")
PROGRAMS = {"hpcrun-lite": LAUNCHER, "hpcprof-lite": REPORT}


def installed(program):
    """The two completions of a program."""
    return (os.path.join(SHARE, "bash-completion", "completions", program),
            os.path.join(SHARE, "zsh", "site-functions", "_" + program))


def text_of(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def options_of(program):
    """The options that --help names, short and long."""
    lines = must(PROGRAMS[program], "--help").splitlines()
    found = [word for line in lines if line.startswith((" " * 2 + "-", " " * 6 + "-"))
             for word in re.findall(r"(?:^|[ ,])(--[a-z-]+|-[A-Za-z])(?![a-z-])", line[:26])]
    assert len(found) > 15 and "--help" in found and "-o" in found, found
    assert all(len(line) <= 80 for line in lines), [line for line in lines if len(line) > 80]
    return found


def measurement(directory, name):
    path = os.path.join(directory, name)
    os.makedirs(path)
    with open(os.path.join(path, "launch"), "w", encoding="ascii"):
        return path


# ---- text ----

@case
def every_option_of_help_is_completed_and_no_other(_):
    for program in PROGRAMS:
        wanted = set(options_of(program))
        bash, zsh = map(text_of, installed(program))
        listed = re.search(r"local options='([^']*)'", bash)[1].split()
        assert set(listed) == wanted and len(listed) == len(wanted), (program, set(listed) ^ wanted)
        entries = zsh[zsh.index("_arguments"):]
        found = re.findall(r"(?<![\w-])(--[a-z-]+|-[a-zA-Z])(?=[=+,}[-])(?![a-z])", re.sub(r"\([^()]*\)", "", entries))
        assert set(found) - {"-s", "-S", "-A", "-e"} == wanted - {"-e"}, (program, set(found) ^ wanted)


def names_of(what):
    """The views or formats, as the refusal of another one lists them."""
    option = {"view": "--view", "format": "-f"}[what]
    listed = run(REPORT, option, "nonsense", "nowhere").stderr.split("one of ")[1].strip().split(", ")
    assert len(listed) > 15 and len(set(listed)) == len(listed), listed
    return listed


@case
def help_names_every_view_and_format(_):
    text = must(REPORT, "--help")
    for what, option, end in (("view", "--view VIEW", "-f, --format"), ("format", "--format FORMAT", "-o, --output")):
        part = text[text.index(option):text.index(end)]
        for name in names_of(what):
            assert re.search(rf"(?<![\w-]){name}(?![\w-])", part), name


# ---- the manual ----

def manual(program):
    return text_of(os.path.join(SHARE, "man", "man1", program + ".1")).splitlines()


def words_of(arguments):
    """What an argument consists of: what is in capitals."""
    return set(re.findall(r"[A-Z]+", arguments))


@case
def the_manual_has_every_option_with_its_argument(_):
    """In OPTIONS and in the synopsis, where an option may have its short name only."""
    for program, path in PROGRAMS.items():
        items = {}
        for line in manual(program):
            found = re.match(r"\.It (?:Fl ([a-zA-Z]) , )?Fl -([a-z-]+)(.*)", line)
            if found:
                items["--" + found[2]] = (found[1], words_of(re.sub(r"\b(Ar|Ns|Op|Fl)\b", "", found[3])))
        described = {}
        for line in must(path, "--help").splitlines():
            found = re.match(r"  (?:-([a-zA-Z]), |    )--([a-z-]+)(.*)", line)
            if found:
                head = found[3] if line[25:26] != " " else line[:26]  # the paragraph begins in column 26
                described["--" + found[2]] = (found[1], words_of(re.sub(r"^ *-[a-zA-Z],", "", head)))
        described.update({"--fail-if": (None, {"CONDITION"})} if "--fail-if" in described else {})  # too long for a term
        assert items == described, (program, {name for name in items.keys() | described.keys()
                                              if items.get(name) != described.get(name)})
        lines = manual(program)
        synopsis = " ".join(lines[lines.index(".Sh SYNOPSIS"):lines.index(".Sh DESCRIPTION")])
        for name, (letter, _) in items.items():
            if name not in ("--help", "--version"):
                short = rf"|Fl {letter}(?![\w-])|Fl qv" if letter else ""
                assert re.search(rf"Fl {name[1:]}(?![\w-]){short}|\.Nm.*{name[1:]}", synopsis), (program, name)


@case
def the_manual_has_every_view_and_format(_):
    lines = manual("hpcprof-lite")
    views = lines[lines.index(".Sh REPORT VIEWS"):lines.index(".Sh COLUMNS")]
    assert sorted(line[7:] for line in views if line.startswith(".It Cm ")) == sorted(names_of("view"))
    formats = lines[lines.index(".It Fl f , Fl -format Ar FORMAT"):lines.index(".It Fl o , Fl -output Ar FILE")]
    told = {word for line in formats if re.match(r"\.(It )?Cm ", line) for word in re.findall(r"(?<![.A-Z])[a-z][a-z0-9-]+", line)}
    assert told & set(names_of("format")) == set(names_of("format")), set(names_of("format")) - told
    assert told - set(names_of("format")) <= {"grain-graph", "topdown"}, told


def documented_columns():
    """View → the columns that the manual lists, in the order of the list; "grain-groups" for those of groups."""
    found, views, items, lines = {}, [], None, manual("hpcprof-lite")
    for line in lines[lines.index(".Sh COLUMNS"):lines.index(".Sh CLUSTERS")]:
        if line == "Columns of":
            views, items = [], None
        elif line.startswith("a row stands for the grains"):
            views, items = ["grain-groups"], None
        elif line.startswith(".Bl") and views:
            items = []
        elif line == ".El" and items is not None:
            found.update({view: items for view in views})
            views, items = [], None
        elif items is None and line.startswith(".Cm ") and views != ["grain-groups"]:
            views += [word for word in line[4:].split() if word in names_of("view")]
        elif items is not None and line.startswith(".It Va "):
            items += [part.split()[0] for part in line[7:].replace(", Va ", ", ").split(" , ")]
    return found


def header_of(measurement, view):
    """The columns of a view in CSV, none where the measurement lacks it."""
    options = ["grains", "--grain-groups"] if view == "grain-groups" else [view]
    done = run(REPORT, "-q", "-f", "csv", *options, os.path.join(SOURCE, "tests", "golden", measurement))
    return done.stdout.split("\n")[0].split(",") if done.stdout else []


@case
def the_manual_lists_the_columns_of_every_table(_):
    """The columns of kept measurements, but those of events and counters; each once, and with what it holds."""
    listed, seen = documented_columns(), {}
    trees = {"topdown", "bottomup", "flat", "critical-path"}
    assert set(listed) == set(names_of("view")) - {"grain-graph"} | {"grain-groups"}, set(listed)
    for name in ("basic", "constructs", "constructs2", "graph", "traced", "marked", "locked", "offload", "messages", "plain", "recorded", "events",
                 "counted", "ranks"):
        events = {column[:-5] for column in header_of(name, "topdown") if re.search("_(incl|excl)$", column)} - {"critical_path"}
        for view in listed:
            header = header_of(name, view)
            assert len(set(header)) == len(header), (name, view, header)
            shown = "grains" if "path" in header else view  # where there are no groups
            seen.setdefault(shown, set()).update(header)
            missing = set(header) - set(listed[shown])
            if view in trees:
                missing -= {event + ending for event in events for ending in ("_incl", "_excl")}
            assert name == "counted" or missing <= (events if view == "source" else set()), (name, view, missing)
    for view, columns in listed.items():
        assert len(seen[view]) > 3 and len(set(columns)) == len(columns), (view, seen[view], columns)
    lines = manual("hpcprof-lite")
    for line, following in zip(lines, lines[1:]):
        assert not line.startswith(".It Va ") or re.match(r"[^.\s]|\.(Cm|Va|Em|Fl|Ql) ", following), (line, following)


@case
def every_heading_of_text_is_in_the_manual(directory):
    """Beside its column, where it differs."""
    text = "\n".join(manual("hpcprof-lite"))
    for column, heading in (("work_s", "Work"), ("abs_idleness_pct", "Idle%"), ("sync_pct", "Sync%"), ("exec_mean_s", "Mean"),
                            ("speedup_lower", "Lower"), ("exec_longest_s", "Longest")):
        assert f'Va {column} Po Li "{heading}" Pc' in text, column
    assert 'Va samples Po' not in text  # the same but for the capital letter


# ---- bash ----

def bash(directory, program, *words, more="", at=None):
    """What bash offers for the last word of a command line, or for that with a number."""
    line = " ".join("'" + word.replace("'", "'\\''") + "'" for word in (program, *words))
    script = f"{more}\nsource {installed(program)[0]}\nCOMP_WORDS=({line})\nCOMP_CWORD={at or len(words)}\n" \
             f"compopt() {{ :; }}\n$(complete -p {program} | sed 's/.*-F \\([^ ]*\\).*/\\1/')\n" \
             "printf '%s\\n' \"${COMPREPLY[@]}\""
    done = run("bash", "--norc", "-u", "-c", script, cwd=directory)
    assert done.returncode == 0 and not done.stderr, done
    return [word for word in done.stdout.split("\n") if word]


@case
def every_view_and_format_is_completed(directory):
    """By bash, and by zsh with what it shows."""
    need_program("bash")
    zsh = text_of(installed("hpcprof-lite")[1])
    for option, what in (("--view", "view"), ("--format", "format")):
        names = names_of(what)
        assert sorted(bash(directory, "hpcprof-lite", option, "")) == sorted(names)
        entry = next(line for line in zsh.splitlines() if f":{what}:((" in line)
        phrases = dict(re.findall(r'([a-z0-9-]+)\\:"([^"]+)"', entry))
        assert sorted(phrases) == sorted(names) and len(set(phrases.values())) == len(names), phrases
    assert set(names_of("view")) <= set(bash(directory, "hpcprof-lite", ""))


@case
def bash_completes_every_option_that_has_words(directory):
    """What completes the value of an option is what the option accepts."""
    need_program("bash")
    text = must(REPORT, "--help")
    for option, told in (("--idleness", "--idleness"), ("--lanes", "--lanes"), ("--colour", "--grain-limit")):
        words = bash(directory, "hpcprof-lite", option, "")
        paragraph = re.search(rf" {told} .*(?:\n {{26}}.*)*", text)[0]
        assert set(words) <= set(re.findall("[a-z_]+", paragraph)), (words, paragraph)
        refused = run(REPORT, option, "nonsense", "nowhere").stderr
        assert len(words) > 2 and set(words) == set(re.findall(r"[a-z_]+", refused.split("needs ")[1].split(", not")[0])) - {"or"}, \
            (words, refused)
    for option in ("--parallelism", "--work", "--task-context", "--trace-keep"):
        words = bash(directory, "hpcrun-lite", option, "")
        refused = run(LAUNCHER, option, "nonsense", "true").stderr
        assert len(words) > 1 and refused.strip().endswith("write one of " + ", ".join(words)), (words, refused)
    refused = run(LAUNCHER, "--control", directory, "nonsense").stderr
    commands = {word.split()[0] for word in refused[refused.index("(") + 1:refused.index(")")].split(", ")}
    assert set(bash(directory, "hpcrun-lite", "--control", directory, "")) == commands, refused
    assert f"_values command {' '.join(bash(directory, 'hpcrun-lite', '--control', directory, ''))}\n" in \
        text_of(installed("hpcrun-lite")[1])
    for option, event in (("-e", "cpu-clock"), ("-c", "LLC-loads")):
        words = bash(directory, "hpcrun-lite", option, "")
        assert event in words and "cycles" in words, words
        for word in words:
            done = run(LAUNCHER, option, word, "--print-config", cwd=directory)
            assert done.returncode == 0, (option, word, done)


@case
def bash_completes_reports(directory):
    need_program("bash")
    for name in ("hpcrun-lite-app-measurements", "hpcrun-lite-app-measurements-2", "hpcrun me", "fl-run"):
        measurement(directory, name)
    os.mkdir(os.path.join(directory, "hpcrun-other"))
    os.mkdir(os.path.join(directory, "sources"))

    def offered(*words):
        return sorted(bash(directory, "hpcprof-lite", *words))

    assert offered("fl") == ["fl-run", "flat"]
    assert offered("flat", "fl") == ["fl-run"]
    assert offered("--view", "flat", "fl") == offered("--view", "=", "flat", "fl") == ["fl-run"]
    assert offered("hpc") == ["hpcrun me", "hpcrun-lite-app-measurements", "hpcrun-lite-app-measurements-2"]
    assert offered("flat", "so") == ["sources"]  # the way to a measurement
    assert offered("--reference", "fl") == ["fl-run"]
    assert offered("--vi") == ["--view"] and offered("--no") == ["--no-header", "--no-pager"]
    assert offered("--view", "gr") == offered("--view", "=", "gr") == ["grain-graph", "grains"]
    assert {"advice", "summary"} < set(offered("--view", "=")) and offered("-f", "cs") == ["csv"]
    assert offered("--lanes", "n") == ["node"] and offered("--colour", "sc") == ["scatter"]
    assert offered("--grain-limit", "sc") == ["scatter="] and offered("--idleness", "") == ["core", "shared", "thread"]
    assert offered("--depth", "") == offered("advice", "--sort", "f") == []
    for words in (("./fl-run",), ("--merge", "./fl-run"), ("-f", "csv", "--legend", "./fl-run")):
        assert offered(*words, "fl") == ["fl-run"], words
    for words in (("-f", "csv"), ("--merge",), ("--root", "flat"), ("--compare", "=", "fl-run"), ("-j", "2")):
        assert offered(*words, "fl") == ["fl-run", "flat"], words
    assert offered("--compare", "fl") == ["fl-run"] and offered("--compare", "x,fl") == ["x,fl-run"]
    assert offered("--compare", "=", "a,b,fl") == ["a,b,fl-run"]


@case
def bash_completes_columns(directory):
    """Those of the view that the command line names; each is taken."""
    need_program("bash")

    def offered(*words, at=None):
        return bash(directory, "hpcprof-lite", *words, at=at)

    assert offered("threads", "--sort", "wo") == ["work_s"]
    for words in (("--view", "threads"), ("--view", "=", "threads"), ("--view=threads",), ("-q", "threads"), ("DIR", "--view", "threads")):
        assert offered(*words, "--sort", "=", "cp") == offered(*words, "--sort", "cp") == ["cpu_s"], words
    assert offered("--sort", "cp", "threads", "DIR", at=2) == ["cpu_s"]  # the view is named later
    assert offered("--sort", "module") == ["module"]  # of topdown
    assert offered("threads", "--columns", "wor") == ["work_s"]
    assert offered("threads", "--columns", "work_s,cp") == offered("threads", "--columns", "=", "work_s,cp") == ["work_s,cpu_s"]
    assert offered("--columns", "s") == ["section"]  # of summary
    assert "name" in offered("flat", "--sort", "") and "name" not in offered("flat", "--metric", "")
    assert offered("regions", "--metric", "gain") == ["gain_s"] and offered("summary", "--metric", "") == []
    assert offered("--fail-if", "ela") == offered("--fail-if", "'ela") == ["elapsed", "elapsed_with_cores"]
    assert offered("--fail-if", "work >") == []
    golden = os.path.join(SOURCE, "tests", "golden", "basic")
    for view in set(names_of("view")) - {"grain-graph", "timeline", "phases", "marks", "user-counters", "locks", "devices",
                                         "grains", "messages", "wait-states", "ranks", "mpi"}:
        words = offered(view, "--columns", "")
        header = must(REPORT, "-q", view, "-f", "csv", "--columns", ",".join(words), golden).split("\n")[0]
        assert len(words) > 4 and header == ",".join(words), (view, words, header)
        for word in offered(view, "--sort", "")[:8]:
            assert run(REPORT, "-q", view, "-f", "csv", "--sort", word, golden).returncode in (0, 1), (view, word)
    for word in offered("--fail-if", ""):
        refused = run(REPORT, "--fail-if", f"{word} of f > 1", "nowhere").stderr
        assert "no such metric" not in refused, (word, refused)


@case
def bash_completes_launches(directory):
    need_program("bash")
    for name in ("app", "input"):
        with open(os.path.join(directory, name), "w", encoding="ascii") as file:
            os.chmod(file.name, 0o755)
    os.mkdir(os.path.join(directory, "runs"))

    def offered(*words, more=""):
        return sorted(bash(directory, "hpcrun-lite", *words, more=more))

    assert offered("--repo") == ["--report"] and offered("-p", "o") == ["off", "online"]
    assert offered("--trace", "=", "s") == ["samples", "states"]
    assert offered("--trace", "=") == ["off", "samples", "states"]
    assert offered("--work", "=", "c") == ["cpu-time", "cycles"] and offered("-e", "wa") == ["wall"]
    assert offered("--omp-runtime", "e") == ["exchange"] and offered("-o", "ru") == ["runs"]
    assert "ls" in offered("ls") and "ls" in offered("-q", "--report", "-o", "runs", "ls")
    assert "ls" in offered("--trace", "ls") and "ls" in offered("--", "ls")
    for word in ("if", "then", "done", "[["):
        assert word not in offered(word), word
    # options of COMMAND are its own
    for command in (("./app",), ("-o", "runs", "./app"), ("--", "./app"), ("--work", "=", "user", "-t", "./app")):
        assert offered(*command, "--repo") == [] and offered(*command, "in") == ["input"], command
    own = offered("-q", "./app", "x", more="_command_offset() { COMPREPLY=(offset $1); }")
    assert own == ["2", "offset"], own


# ---- zsh ----

class Zsh:
    """An interactive zsh with these completions."""

    def __init__(self, directory):
        self.ours, its = pty.openpty()
        self.child = start("zsh", "-f", "-i", cwd=directory, stdin=its, stdout=its, stderr=its, TERM="dumb",
                           PATH=BIN + ":" + os.environ["PATH"], HOME=directory)
        os.close(its)
        functions = os.path.join(SHARE, "zsh", "site-functions")
        self.send(f"PS1=; PS2=; setopt no_beep no_auto_menu; fpath=({functions} $fpath)\n"
                  "autoload -U compinit; compinit -u -D; echo re''ady\n")
        self.until("ready")

    def send(self, text):
        os.write(self.ours, text.encode())

    def until(self, wanted, seconds=60):
        """Reads until this has appeared, or what has within the time."""
        text, deadline = "", time.monotonic() + seconds
        while wanted not in text and time.monotonic() < deadline:
            if select.select([self.ours], [], [], 0.1)[0]:
                text += os.read(self.ours, 4096).decode(errors="replace")
        assert wanted in text, (wanted, text)
        return text

    def completed(self, line):
        """The line after Tab: it is printed by a command that replaces the first word."""
        self.send(f"{line}\t\x01print -r -- start: \x05 :en''d\n")
        text = self.until(":end\r\n")
        return text[text.rindex("start:") + 7:text.rindex(":end")].rstrip()


@case
def zsh_completes(directory):
    need_program("zsh")
    measurement(directory, "hpcrun-lite-app-measurements")
    os.mkdir(os.path.join(directory, "hpcrun-other"))
    os.mkdir(os.path.join(directory, "sources"))
    measurement(directory, "my run")
    shell = Zsh(directory)
    for line, wanted in (("hpcprof-lite --no-p", "--no-pager"), ("hpcprof-lite fla", "flat"),
                         ("hpcprof-lite hpc", "hpcrun-lite-app-measurements"),
                         ("hpcprof-lite flat hpc", "flat hpcrun-lite-app-measurements"),
                         ("hpcprof-lite flat so", "flat sources"), ("hpcprof-lite flat --no-p", "flat --no-pager"),
                         ("hpcprof-lite my", "my run"),
                         ("hpcprof-lite --view=crit", "--view=critical-path"), ("hpcprof-lite -f perf", "-f perfetto"),
                         ("hpcprof-lite --grain-limit=sc", "--grain-limit=scatter="),
                         ("hpcprof-lite --colour=work", "--colour=work_deviation"),
                         ("hpcprof-lite threads --sort wo", "threads --sort work_s"),
                         ("hpcprof-lite --view=threads --sort=cp", "--view=threads --sort=cpu_s"),
                         ("hpcprof-lite --view threads --columns work_s,cp", "--view threads --columns work_s,cpu_s"),
                         ("hpcprof-lite --sort modu", "--sort module"),
                         ("hpcprof-lite regions --metric=gain", "regions --metric=gain_s"),
                         ("hpcprof-lite --fail-if elap", "--fail-if elapsed"),
                         ("hpcrun-lite --repo", "--report"), ("hpcrun-lite -p onl", "-p online"),
                         ("hpcrun-lite --trace=sam", "--trace=samples"), ("hpcrun-lite -e wal", "-e wall"),
                         ("hpcrun-lite -e wall -e cyc", "-e wall -e cycles"),
                         ("hpcrun-lite --report -q hpcprof-l", "--report -q hpcprof-lite"),
                         ("hpcrun-lite -q hpcprof-lite --no-p", "-q hpcprof-lite --no-pager")):
        program = line.split()[0]
        found = shell.completed(line)
        assert found == f"{program} {wanted}", (line, found, wanted)


main()
