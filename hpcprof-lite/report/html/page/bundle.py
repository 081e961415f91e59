#!/usr/bin/env python3
"""Makes a C header with the frame, style and script of the HTML report.

Usage: bundle.py PAGE.html PAGE.css MODULE.js... HEADER

The modules become one script, in the order in which they are given; each may import only from modules before it, in the
form `import { NAME, ... } from "./MODULE.js";`, whose path may begin with folders, and export only declarations.  As
they share one scope then, no two may declare the same name at their top level.  The page allows only the script and
style with these hashes.
"""
import base64
import hashlib
import os
import re
import sys

IMPORT = re.compile(r'^import \{([^}]*)\} from "\.[\w./-]*/([\w-]+\.js)";\n', re.M)
DECLARATION = re.compile(r"^(export )?(?:async )?(?:function\*?|const|let|class) +(\w+)", re.M)


def fail(text):
    sys.exit(f"bundle.py: {text}")


def joined(paths):
    """The modules as one script."""
    exported, declared, script = {}, {}, ['"use strict";\n']
    for path in paths:
        name = os.path.basename(path)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for names, module in IMPORT.findall(text):
            for wanted in re.findall(r"\w+", names):
                if wanted not in exported.get(module, ()):
                    fail(f"{name}: '{module}' before it does not export '{wanted}'")
        if re.search(r"^import\b", IMPORT.sub("", text), re.M):
            fail(f"{name}: an import in another form than import {{ NAME }} from \"./MODULE.js\";")
        exported[name] = {declaration for export, declaration in DECLARATION.findall(text) if export}
        for _, declaration in DECLARATION.findall(text):
            if declaration in declared:
                fail(f"{name}: '{declaration}' is declared in {declared[declaration]}, too")
            declared[declaration] = name
        script.append(re.sub(r"^export ", "", IMPORT.sub("", text), flags=re.M))
    return "".join(script)


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def array(name, text):
    numbers = ",".join(str(byte) for byte in text.encode())
    lines = re.sub(r"(.{1,110},)", r"\1\n", numbers)
    return f"static const unsigned char {name}[] = {{\n{lines}\n}};\n"


def main(frame_path, style_path, *rest):
    with open(frame_path, encoding="utf-8") as file:
        frame = file.read()
    with open(style_path, encoding="utf-8") as file:
        style = file.read()
    script = joined(rest[:-1])
    if "</script" in script or "</style" in style:
        fail("script or style would end their own element")
    for mark, text in (("STYLE_HASH", source_hash(style)), ("SCRIPT_HASH", source_hash(script)), ("STYLE", style),
                       ("SCRIPT", script)):
        frame = frame.replace("{{" + mark + "}}", text)
    before_title, after_title = frame.split("{{TITLE}}")
    before_data, after_data = after_title.split("{{DATA}}")
    with open(rest[-1], "w", encoding="utf-8") as file:
        file.write("/* Made by bundle.py. */\n" + array("html_before_title", before_title) +
                   array("html_before_data", before_data) + array("html_after_data", after_data))


main(*sys.argv[1:])
