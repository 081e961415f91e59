#!/usr/bin/env python3
"""Lengths of instructions and atomic ones, of real libraries, against those that objdump finds."""
import os
import sys

sys.path.insert(0, os.path.join(sys.path[0], "..", "support"))
import tap
from measured import build

LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libcrypto.so.3", "libgomp.so.1")
FEW = 2000  # of a library, data between its functions, which objdump takes for instructions
MOST = 300000


def instructions(path):
    """Bytes of each instruction, and whether it has a lock prefix or exchanges a register with memory."""
    for line in tap.must("objdump", "-d", "--insn-width=15", path).splitlines():
        parts = line.split("\t")
        if len(parts) == 3 and "(bad)" not in parts[2] and not parts[2].startswith("rex"):
            text = parts[2]
            yield parts[1].replace(" ", ""), "lock " in text or (text.startswith("xchg ") and ("(" in text or "%fs:" in text))


@tap.case
def lengths_of_instructions_are_those_of_objdump(directory):
    tap.need_program("objdump")
    if os.uname().machine != "x86_64":
        raise tap.Skip("reads code of x86-64")
    decoder = build("machine_code.c", "gcc", "-I" + os.path.join(tap.TESTS, ".."), openmp=False)
    for library in LIBRARIES:
        path = next((found for folder in ("/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64")
                     if os.path.exists(found := os.path.join(folder, library))), None)
        if not path:
            continue
        known = list(instructions(path))[:MOST]
        source = os.path.join(directory, library)
        with open(source, "w", encoding="ascii") as file:
            file.writelines(code + "\n" for code, _ in known)
        answers = tap.must(decoder, source).split()
        assert len(answers) == len(known) > 10000, (library, len(known))
        wrong = [(code, answer) for (code, atomic), answer in zip(known, answers)
                 if answer != f"{len(code) // 2},{int(atomic)}"]
        assert len(wrong) <= FEW * (library == "libcrypto.so.3"), (library, len(wrong), wrong[:5])


tap.main()
