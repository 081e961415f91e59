"""A headless Chromium, driven by its DevTools protocol over pipes: no driver, no port, no package for Python."""
import atexit
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "support"))
import tap
from tap import Skip

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def need_browser():
    """Skips a case where there is no browser; in CI there has to be one."""
    if not CHROMIUM:
        assert not os.environ.get("CI"), "no Chromium, which CI needs: run scripts/setup"
        raise Skip("no Chromium: run scripts/setup")


class Failure(Exception):
    """What the browser reports as an error."""


class Process:
    """The browser's process, and its pipes.  All windows of a script are in one process: starting it takes as long as
    most cases do."""
    running = None

    @classmethod
    def get(cls):
        """The process that runs, or a new one."""
        if not cls.running:
            cls.running = cls()
            tap.keep(cls.running.process.pid)
            atexit.register(cls.running.end)
        return cls.running

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="browser-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        wanted = (CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                  "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--process-per-site",  # not a new process for each page
                  "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}",
                  "about:blank")
        # the browser reads descriptor 3 and writes descriptor 4
        script = f'exec 3<&{to_browser} 4>&{from_browser}; exec "$@"'
        self.process = subprocess.Popen(["bash", "-c", script, "bash", *wanted], pass_fds=(to_browser, from_browser),
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.windows = 0, b"", {}

    def end(self):
        """Ends the browser, once; the next window starts another one."""
        if Process.running is not self:
            return
        Process.running = None
        atexit.unregister(self.end)
        os.close(self.output)
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.input)
        shutil.rmtree(self.profile.name, ignore_errors=True)

    def _read(self):
        while b"\0" not in self.buffer:
            read = os.read(self.input, 1 << 20)
            if not read:
                raise Failure("the browser has ended")
            self.buffer += read
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **arguments):
        """Calls a method of the protocol, of the browser or of a window's session, and returns its result.  Events that
        come meanwhile are noted by their windows."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": arguments}
        if session:
            message["sessionId"] = session
        try:
            return self._answer(message)
        except (OSError, Failure):
            if self.process.poll() is not None:
                self.end()
            raise

    def _answer(self, message):
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise Failure(f"{method}: {answer['error']['message']}")
                return answer["result"]
            if answer.get("sessionId") in self.windows:
                self.windows[answer["sessionId"]].note(answer)


class Browser:
    """One window, which shares cookies and storage with no other.  `messages` are the console's and the page's errors,
    `requests` what it asked any server for.  After an error the whole browser is ended."""

    def __init__(self, width=1280, height=900):
        self.process = Process.get()
        self.messages, self.requests = [], []
        self.context = self.process.call("Target.createBrowserContext")["browserContextId"]
        target = self.process.call("Target.createTarget", url="about:blank", browserContextId=self.context, width=width,
                                   height=height, newWindow=True)["targetId"]
        self.session = self.process.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.process.windows[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, error, *_):
        del self.process.windows[self.session]
        if error:
            self.process.end()
        else:
            self.process.call("Target.disposeBrowserContext", browserContextId=self.context)

    def note(self, event):
        """Notes an event of this window."""
        name, values = event.get("method"), event.get("params", {})
        if name == "Runtime.consoleAPICalled":
            self.messages.append(" ".join(str(value.get("value", value.get("description"))) for value in values["args"]))
        elif name == "Runtime.exceptionThrown":
            details = values["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif name == "Log.entryAdded":
            self.messages.append(values["entry"]["text"])
        elif name == "Network.requestWillBeSent" and not values["request"]["url"].startswith("file:"):
            self.requests.append(values["request"]["url"])

    def call(self, method, **arguments):
        """Calls a method of the protocol for this window, and returns its result."""
        return self.process.call(method, self.session, **arguments)

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def scheme(self, name):
        """Sets the colour scheme that the system prefers: light or dark."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def open(self, path, fragment="", drawn="document.documentElement?.dataset.drawn"):
        """Opens a file, and waits until it has drawn itself; drawn: what is true of a report then."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)
        self.wait(drawn)

    def evaluate(self, script):
        """Returns the value of a script's expression."""
        result = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise Failure(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait(self, condition, seconds=60):
        """Waits until a script's expression is true."""
        end = time.monotonic() + seconds
        while not self.evaluate(f"Boolean({condition})"):
            if time.monotonic() > end:
                raise Failure(f"waited in vain for {condition}; messages: {self.messages}")
            time.sleep(0.01)

    def key(self, key, modifiers=0):
        """Presses a key, named as in JavaScript's KeyboardEvent.key."""
        codes = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
                 "ArrowDown": 40, "Home": 36, "End": 35, "PageUp": 33, "PageDown": 34, " ": 32}
        values = {"key": key, "code": key, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper())),
                  "modifiers": modifiers}
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        self.call("Input.dispatchKeyEvent", type="keyDown", **values, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **values)

    def click(self, x, y, count=1):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=count)

    def move(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def wheel(self, x, y, amount, modifiers=0):
        self.call("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=amount, modifiers=modifiers)

    def picture(self, path):
        """Writes what the window shows as PNG."""
        data = self.call("Page.captureScreenshot", format="png")["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
