"""A headless Firefox, driven by its Marionette protocol: no driver, no package for Python."""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
from tap import Skip, wait_until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")


def need_firefox():
    if not FIREFOX:
        raise Skip("no Firefox: apt-get install firefox-esr (80 MB)")


class Firefox:
    """One window.  `messages`, read by quiet(), are what the page and its security policy have complained about."""

    def __init__(self, width=1280, height=900):
        self.profile = tempfile.mkdtemp(prefix="firefox-")
        self.number, self.buffer = 0, b""
        self.process = subprocess.Popen(
            [FIREFOX, "--headless", "--marionette", "-remote-allow-system-access", "--no-remote", "--profile", self.profile],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.profile})
        port = os.path.join(self.profile, "MarionetteActivePort")
        with open(os.path.join(self.profile, "user.js"), "w", encoding="utf-8") as file:
            file.write('user_pref("marionette.port", 0);\n')  # any that is free
        wait_until(lambda: os.path.exists(port) and open(port, encoding="utf-8").read().strip(),
                   "Firefox listens", 120)
        with open(port, encoding="utf-8") as file:
            self.socket = socket.create_connection(("127.0.0.1", int(file.read())))
        self._read()
        self.call("WebDriver:NewSession", capabilities={})
        self.call("WebDriver:SetWindowRect", width=width, height=height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Marionette:Quit", flags=["eForceQuit"])
            self.process.wait(timeout=20)
        except (OSError, subprocess.TimeoutExpired, AssertionError):
            self.process.kill()
            self.process.wait()
        self.socket.close()
        shutil.rmtree(self.profile, ignore_errors=True)

    def _read(self):
        """A message: its length, a colon, and JSON."""
        while True:
            length, colon, rest = self.buffer.partition(b":")
            if colon and len(rest) >= int(length):
                self.buffer = rest[int(length):]
                return json.loads(rest[:int(length)])
            read = self.socket.recv(1 << 16)
            assert read, "Firefox has ended"
            self.buffer += read

    def call(self, command, **arguments):
        """Sends a command, and returns its result."""
        self.number += 1
        message = json.dumps([0, self.number, command, arguments]).encode()
        self.socket.sendall(str(len(message)).encode() + b":" + message)
        _, number, error, result = self._read()
        assert number == self.number and not error, (command, error)
        return result

    def evaluate(self, script):
        """Returns the value of an expression over the page's elements."""
        return self.call("WebDriver:ExecuteScript", script=f"return {script};", args=[])["value"]

    def open(self, path, fragment=""):
        """Opens a report, and waits until it has drawn itself."""
        self.call("WebDriver:Navigate", url="about:blank")
        self.call("WebDriver:Navigate", url="file://" + os.path.abspath(path) + fragment)
        wait_until(lambda: self.evaluate("document.documentElement.dataset.drawn"), "the page has drawn itself")

    def click(self, selector):
        found = self.call("WebDriver:FindElement", using="css selector", value=selector)["value"]
        self.call("WebDriver:ElementClick", id=next(iter(found.values())))

    def quiet(self):
        """Fails if the console has anything of a page."""
        self.call("Marionette:SetContext", value="chrome")
        messages = self.evaluate("Services.console.getMessageArray().map((one) => one.message)"
                                 ".filter((text) => text.includes('file:///'))")
        self.call("Marionette:SetContext", value="content")
        assert not messages, messages
