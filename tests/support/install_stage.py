"""Installs the build below the stage directory, where the other tests run it.  Usage: install_stage.py BUILD STAGE"""
import os
import subprocess
import sys

build, stage = sys.argv[1:]
result = subprocess.run([os.environ.get("MESON", "meson"), "install", "-C", build, "--no-rebuild", "--quiet",
                         "--destdir", stage],
                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
print("1..1")
print("ok 1 - install" if result.returncode == 0 else "not ok 1 - install\n# " + result.stdout.replace("\n", "\n# "))
