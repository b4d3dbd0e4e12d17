#!/usr/bin/env python3
"""Opens pages in headless Chromium, wide and narrow, light and dark, and says what is wrong with them.

browser_check.py CHROMIUM PAGE=PICTURES... [--screenshots FOLDER] [--height PIXELS] [--widths PIXELS,...]

PICTURES: how many pictures the page must have at least. --height: of screenshots, at most. Talks to the browser over a pipe; the standard library is enough.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCHEMES = ("light", "dark")
LEAST_TEXT_PX = 9

# What is drawn, measured in the page.
MEASURE = """(() => {
  const pictures = [...document.querySelectorAll('svg')];
  const root = document.documentElement;
  const outside = [], small = [];
  for (const svg of pictures) {
    const box = svg.getBoundingClientRect();
    const scale = box.width / svg.viewBox.baseVal.width;
    for (const text of svg.querySelectorAll('text')) {
      const r = text.getBoundingClientRect();
      if (r.left < box.left - 1 || r.right > box.right + 1 || r.top < box.top - 1 || r.bottom > box.bottom + 1)
        outside.push(svg.getAttribute('aria-label') + ': ' + text.textContent);
      const px = parseFloat(getComputedStyle(text).fontSize) * scale;
      if (px < %d) small.push(text.textContent + ' ' + px);
    }
  }
  const hues = new Set();
  for (const mark of document.querySelectorAll('svg .segment, svg .mark, svg .link, svg .step')) {
    const style = getComputedStyle(mark);
    hues.add(style.fill + style.stroke);
  }
  return JSON.stringify({
    pictures: pictures.length,
    empty: pictures.filter(p => !(p.getBoundingClientRect().width > 50 && p.getBoundingClientRect().height > 50)).length,
    unnamed: pictures.filter(p => !p.getAttribute('aria-label') || !p.querySelector('title') || !p.querySelector('desc')).length,
    scrolls: root.scrollWidth, fits: root.clientWidth, outside: outside.slice(0, 5), small: small.slice(0, 5),
    ids: [...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size,
    dangling: [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length,
    hues: hues.size, page: getComputedStyle(document.body).backgroundColor
  });
})()""" % LEAST_TEXT_PX


class Browser:
    """Chromium's DevTools protocol: messages end with a zero byte."""

    def __init__(self, program, profile):
        to_browser, self.out = os.pipe()
        self.inn, from_browser = os.pipe()

        def keep_pipes():
            # The browser reads from 3 and writes to 4.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=keep_pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.rest = b""
        self.number = 0
        self.events = []
        self.session = None

    def read(self):
        while b"\0" not in self.rest:
            part = os.read(self.inn, 1 << 16)
            if not part:
                raise RuntimeError("the browser has gone away")
            self.rest += part
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.read())

    def open_tab(self):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def show(self, page, width, scheme):
        """What the page measures, and what it complained of or asked for."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.events = []
        self.call("Page.navigate", url=page.as_uri())
        self.wait_for("Page.loadEventFired")
        measured = json.loads(self.call("Runtime.evaluate", expression=MEASURE)["result"]["value"])
        complaints = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                complaints.append(json.dumps(what)[:300])
            if method == "Network.requestWillBeSent" and what["request"]["url"] != page.as_uri():
                complaints.append("asks for " + what["request"]["url"])
        return measured, complaints

    def screenshot(self, path, height):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            clip={"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], height), "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))


def problems_of(measured, complaints, least_pictures):
    problems = list(complaints)

    def expect(good, what):
        if not good:
            problems.append(what)

    expect(measured["pictures"] >= least_pictures, f"{measured['pictures']} pictures, expected {least_pictures} or more")
    expect(measured["empty"] == 0, f"{measured['empty']} pictures have no size")
    expect(measured["unnamed"] == 0, f"{measured['unnamed']} pictures have no name or description")
    expect(measured["scrolls"] <= measured["fits"], f"the page is {measured['scrolls']} px wide in {measured['fits']} px")
    expect(not measured["outside"], f"text outside of its picture: {measured['outside']}")
    expect(not measured["small"], f"text below {LEAST_TEXT_PX} px: {measured['small']}")
    expect(measured["ids"] == 0, f"{measured['ids']} ids are there twice")
    expect(measured["dangling"] == 0, f"{measured['dangling']} links lead nowhere")
    return problems


def main(arguments):
    def option(name, otherwise):
        if name not in arguments:
            return otherwise
        at = arguments.index(name)
        value = arguments[at + 1]
        del arguments[at:at + 2]
        return value

    screenshots = option("--screenshots", None)
    height = int(option("--height", "12000"))
    widths = [int(width) for width in option("--widths", "1280,390").split(",")]
    if screenshots:
        screenshots = pathlib.Path(screenshots)
        screenshots.mkdir(parents=True, exist_ok=True)
    program, *pages = arguments
    profile = tempfile.mkdtemp(prefix="espalier-browser-")
    browser = Browser(program, profile)
    bad = 0
    try:
        browser.open_tab()
        for argument in pages:
            name, least_pictures = argument.rsplit("=", 1)
            page = pathlib.Path(name).resolve()
            colours = {}
            for width in widths:
                for scheme in SCHEMES:
                    measured, complaints = browser.show(page, width, scheme)
                    colours[scheme] = measured["page"]
                    problems = problems_of(measured, complaints, int(least_pictures))
                    bad += len(problems)
                    print(f"{page.name}, {width} px, {scheme}: {measured['pictures']} pictures, {len(problems)} problems")
                    for problem in problems:
                        print("  " + problem)
                    if screenshots:
                        browser.screenshot(screenshots / f"{page.stem}-{width}-{scheme}.png", height)
            if colours["light"] == colours["dark"]:
                bad += 1
                print("  light and dark look the same")
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
