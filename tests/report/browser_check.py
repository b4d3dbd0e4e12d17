#!/usr/bin/env python3
"""Opens pages in headless Chromium, wide and narrow, light and dark, and says what is wrong with them.

browser_check.py CHROMIUM PAGE=PICTURES... [--use PAGE] [--picture TITLE FILE] [--screenshots FOLDER] [--section ID] [--height PIXELS] [--widths PIXELS,...]

PICTURES: how many pictures the page must have at least. --use: uses this page, too, as a reader does: points at a mark, clicks on a
legend, chooses axes, filters runs, saves files, prints, and opens it without JavaScript. --picture: writes the first picture of the
last page with this title, as its button PNG does. --section: screenshots begin with it. --height: of screenshots, at most. Talks
to the browser over a pipe; the standard library is enough.
"""
import base64
import csv
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

SCHEMES = ("light", "dark")
LEAST_TEXT_PX = 9

# What is drawn, measured in the page.
MEASURE = """(() => {
  const pictures = [...document.querySelectorAll('figure svg, figure canvas')];
  const root = document.documentElement;
  const outside = [], small = [];
  for (const svg of document.querySelectorAll('figure svg')) {
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
  // A chart has the colours of page, text and at least one series.
  const blank = [...document.querySelectorAll('canvas')].filter(canvas => {
    const pixels = new Uint32Array(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
    return new Set(pixels).size < 10;
  });
  const luminance = colour => [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16) / 255)
    .map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4).reduce((sum, v, c) => sum + v * [0.2126, 0.7152, 0.0722][c], 0);
  const contrast = (a, b) => (Math.max(luminance(a), luminance(b)) + 0.05) / (Math.min(luminance(a), luminance(b)) + 0.05);
  const page = themeColour('page');
  const faint = [...Array(9).keys()].map(n => `c${n}`).filter(name => contrast(themeColour(name), page) < (luminance(page) > 0.5 ? 3 : 6));
  const part = [...Array(18).keys()].map(colourOf);
  // Columns whose numbers have different numbers of digits behind the point.
  const ragged = [...document.querySelectorAll('th.n')].filter(title => {
    const numbers = [...title.closest('table').tBodies[0].rows].map(row => row.cells[title.cellIndex].textContent).filter(text => /^-?[\\d.]+$/.test(text));
    return new Set(numbers.map(text => (text.split('.')[1] || '').length)).size > 1;
  }).map(title => title.textContent);
  // Axes of sizes without a tick at the smallest or the largest one.
  const cut = drawn.filter(view => view.chart && view.chart.scales.x && view.chart.scales.x.options.title.text === 'size').filter(({chart}) => {
    const sizes = chart.data.datasets.flatMap(set => set.data).map(at => at.x);
    const ticks = chart.scales.x.ticks.map(tick => tick.value);
    return ticks[0] !== Math.min(...sizes) || ticks[ticks.length - 1] !== Math.max(...sizes);
  }).length;
  const times = [...document.querySelectorAll('#summary th')].find(title => /^(time|iteration|all-reduce), /.test(title.textContent));
  const unlike = drawn.flatMap((view, n) => data.pictures[n].kind === 'bars' ? [data.pictures[n].bars.map(bar => bar.label.replace(/^run \\d+, /, ''))] : [])
    .filter(labels => new Set(labels).size < labels.length).length;
  return JSON.stringify({
    pictures: pictures.length,
    empty: pictures.filter(p => !(p.getBoundingClientRect().width > 50 && p.getBoundingClientRect().height > 50)).length,
    expected: document.querySelectorAll('figure').length, blank: blank.length, faint, colours: new Set(part).size,
    unnamed: pictures.filter(p => !p.getAttribute('aria-label')).length,
    scrolls: root.scrollWidth, fits: root.clientWidth, outside: outside.slice(0, 5), small: small.slice(0, 5),
    ids: [...document.querySelectorAll('[id]')].length - new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size,
    dangling: [...document.querySelectorAll('a[href^="#"]')].filter(a => !document.getElementById(a.getAttribute('href').slice(1))).length,
    ragged, cut, unlike, time: times ? times.getBoundingClientRect().right : 0,
    page: getComputedStyle(document.body).backgroundColor
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
        measured = json.loads(self.evaluate(MEASURE))
        return measured, self.complaints(page)

    def evaluate(self, expression):
        # As a reader's own act: the browser may hold back a page's downloads that nobody asked for.
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, userGesture=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {json.dumps(answer['exceptionDetails'])[:400]}")
        return answer["result"].get("value")

    def complaints(self, page):
        complaints = []
        for event in self.events:
            method, what = event.get("method"), event.get("params", {})
            if method in ("Runtime.consoleAPICalled", "Runtime.exceptionThrown", "Log.entryAdded"):
                complaints.append(json.dumps(what)[:300])
            if method == "Network.requestWillBeSent" and what["request"]["url"] != page.as_uri() \
                    and not what["request"]["url"].startswith("data:"):
                complaints.append("asks for " + what["request"]["url"])
        return complaints

    def mouse(self, kind, at):
        self.call("Input.dispatchMouseEvent", type=kind, x=at["x"], y=at["y"], button="none" if kind == "mouseMoved" else "left", clickCount=1)
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")  # charts follow with the next frame

    def screenshot(self, path, height, section=None):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        top = self.evaluate(f"document.getElementById('{section}').getBoundingClientRect().top + scrollY") if section else 0
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                            clip={"x": 0, "y": top, "width": size["width"], "height": min(size["height"] - top, height), "scale": 1})
        path.write_bytes(base64.b64decode(picture["data"]))


def problems_of(measured, complaints, least_pictures):
    problems = list(complaints)

    def expect(good, what):
        if not good:
            problems.append(what)

    expect(measured["pictures"] >= least_pictures, f"{measured['pictures']} pictures, expected {least_pictures} or more")
    expect(measured["empty"] == 0, f"{measured['empty']} pictures have no size")
    expect(measured["pictures"] == measured["expected"], f"{measured['pictures']} of {measured['expected']} pictures are drawn")
    expect(measured["blank"] == 0, f"{measured['blank']} charts are blank")
    expect(measured["unnamed"] == 0, f"{measured['unnamed']} pictures have no name")
    expect(not measured["faint"], f"colours that are faint on the page: {measured['faint']}")
    expect(measured["colours"] == 18, f"only {measured['colours']} of 18 parts of a bar have a colour of their own")
    expect(measured["scrolls"] <= measured["fits"], f"the page is {measured['scrolls']} px wide in {measured['fits']} px")
    expect(not measured["outside"], f"text outside of its picture: {measured['outside']}")
    expect(not measured["small"], f"text below {LEAST_TEXT_PX} px: {measured['small']}")
    expect(not measured["ragged"], f"columns whose decimal points are not below each other: {measured['ragged']}")
    expect(measured["cut"] == 0, f"{measured['cut']} axes of sizes lack their first or last tick")
    expect(measured["unlike"] == 0, f"{measured['unlike']} pictures have bars with the same label")
    expect(measured["time"] <= measured["fits"], f"the time in the summary is at {measured['time']} px of {measured['fits']}")
    expect(measured["ids"] == 0, f"{measured['ids']} ids are there twice")
    expect(measured["dangling"] == 0, f"{measured['dangling']} links lead nowhere")
    return problems


# In the page: the chart of the first picture of a kind, scrolled into view, and a place in it on the screen.
HELPERS = """
const first = kind => data.pictures.findIndex(picture => picture.kind === kind);
const chartOf = kind => drawn[first(kind)].chart;
const figureOf = kind => document.getElementById(`picture-${first(kind)}`);
const onScreen = (kind, at) => {
  figureOf(kind).scrollIntoView({block: 'center'});
  const box = figureOf(kind).querySelector('canvas, svg').getBoundingClientRect();
  return {x: box.left + at.x, y: box.top + at.y};
};
const choose = (control, value) => { control.value = value; control.dispatchEvent(new Event('change', {bubbles: true})); };
const shownPoints = kind => chartOf(kind).data.datasets.flatMap(set => set.data).filter(at => at.run !== undefined).length;
"""


def saved_file(browser, folder, kind, button):
    """What the page saves when the reader clicks on a button."""
    for old in folder.iterdir():
        old.unlink()
    for _ in range(3):  # a busy machine may lose a download
        browser.evaluate(f"[...figureOf('{kind}').querySelectorAll('button')].find(b => b.textContent === '{button}').click()")
        for _ in range(100):
            files = [path for path in folder.iterdir() if not path.name.endswith(".crdownload")]
            if files and files[0].stat().st_size > 0:
                return files[0].read_bytes()
            time.sleep(0.1)
    return b""


def use_page(browser, page, folder):
    """Problems of a page with a chart `xy`, bars and a map, in the hands of a reader."""
    problems = []

    def expect(good, what):
        if not good:
            problems.append(what)

    browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder))
    browser.show(page, 1280, "light")
    browser.evaluate(HELPERS)
    points = browser.evaluate("shownPoints('xy')")
    expect(points > 3, f"{points} points in the first chart")
    # A tip names the run, its values and its settings.
    browser.mouse("mouseMoved", browser.evaluate("(() => { const at = chartOf('xy').getDatasetMeta(0).data[1]; return onScreen('xy', {x: at.x, y: at.y}); })()"))
    tip = browser.evaluate("tip.hidden ? '' : tip.innerText")
    expect(tip.startswith("run ") and "algorithm: " in tip and "bandwidth, GB/s: " in tip, f"the tip of a mark says '{tip}'")
    browser.mouse("mouseMoved", browser.evaluate("(() => { const at = chartOf('bars').getDatasetMeta(0).data.slice(-1)[0]; return onScreen('bars', {x: at.x - 2, y: at.y}); })()"))
    tip = browser.evaluate("tip.hidden ? '' : tip.innerText")
    expect("buffers: " in tip and "%" in tip, f"the tip of a bar says '{tip}'")
    # The route of the message under the mouse stands out, and the tip names it.
    middle = browser.evaluate(
        "(() => { figureOf('tree').scrollIntoView({block: 'center'}); const edge = figureOf('tree').querySelector('.edge');"
        "const at = edge.getPointAtLength(edge.getTotalLength() / 2).matrixTransform(edge.getScreenCTM()); return {x: at.x, y: at.y}; })()")
    for _ in range(2):  # a chart that the mouse leaves hides the tip a frame later
        browser.mouse("mouseMoved", middle)
    tip = browser.evaluate("tip.hidden ? '' : tip.innerText")
    expect("route: r_" in tip, f"the tip of a message says '{tip}'")
    widths = browser.evaluate("[...figureOf('tree').querySelectorAll('.edge')].map(edge => getComputedStyle(edge).strokeWidth)")
    expect(widths.count("5px") == 1, f"the lines of messages are {set(widths)} wide")
    # A click on the legend switches a series off, and a redrawn chart keeps it so.
    place = browser.evaluate("(() => { const box = chartOf('xy').legend.legendHitBoxes[0]; return onScreen('xy', {x: box.left + 5, y: box.top + 5}); })()")
    for kind in ("mousePressed", "mouseReleased"):
        browser.mouse(kind, place)
    browser.evaluate("drawn[first('xy')].redraw()")
    expect(browser.evaluate("!chartOf('xy').isDatasetVisible(0) && chartOf('xy').isDatasetVisible(1)"), "a click on the legend does not switch its series off")
    # Axes.
    browser.evaluate("choose(figureOf('xy').querySelector('[data-axis=y]'), 'compared')")
    expect(browser.evaluate("chartOf('xy').options.scales.y.title.text").startswith("time, "), "the y axis is not the chosen one")
    expect(browser.evaluate("(() => { const at = chartOf('xy').data.datasets[1].data[0]; const m = data.metrics.findIndex(one => one.id === 'compared');"
                            "return at.y === data.points[at.run].values[m]; })()"), "points do not have the chosen values")
    was = browser.evaluate("chartOf('xy').options.scales.y.type")
    browser.evaluate("figureOf('xy').querySelector('[data-log=y]').click()")
    expect(browser.evaluate("chartOf('xy').options.scales.y.type") != was, "the axis does not become logarithmic, or linear")
    # The filter hides points and rows.
    browser.evaluate("choose(document.querySelector('#filter select'), '1')")
    left = browser.evaluate("shownPoints('xy')")
    expect(0 < left < points, f"the filter leaves {left} of {points} points")
    rows = browser.evaluate("[...document.querySelectorAll('#runs tr[data-run]')].filter(row => !row.hidden).length")
    expect(rows == browser.evaluate("data.points.length - hiddenRuns.size"), f"the filter leaves {rows} rows of runs")
    expect(browser.evaluate("document.querySelector('#filter').innerText").count(" of ") == 1, "the filter does not say how many runs it leaves")
    # Files.
    table = list(csv.reader(saved_file(browser, folder, "xy", "CSV").decode().splitlines()))
    expect(len(table) == left + 1 and table[0][:3] == ["run", "series", "size"], f"a chart of {left} points is saved as {table[:2]}, {len(table)} lines")
    for kind in ("xy", "bars", "links", "tree", "occupancy"):
        expect(saved_file(browser, folder, kind, "PNG")[:8] == b"\x89PNG\r\n\x1a\n", f"a picture of {kind} is not saved as PNG")
        expect(saved_file(browser, folder, kind, "CSV").count(b"\n") > 1, f"the numbers of {kind} are not saved as CSV")
    browser.evaluate("document.querySelector('#filter').reset()")
    time.sleep(0.2)
    expect(browser.evaluate("shownPoints('xy')") == points, "all runs are not shown again")
    # A column's title sorts its rows.
    browser.evaluate("[...document.querySelectorAll('#runs th')].find(title => title.textContent === 'cycles').click()")
    cycles = browser.evaluate("[...document.querySelectorAll('#runs tbody tr')].map(row => Number(row.cells[4].textContent))")
    expect(len(cycles) > 1 and cycles == sorted(cycles), "the table of runs is not sorted by cycles")
    problems += browser.complaints(page)
    # Paper is light, also for readers of dark pages.
    browser.show(page, 1280, "dark")
    browser.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(browser.evaluate("themeColour('page')") == "#ffffff", "charts are dark on paper")
    browser.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(browser.evaluate("themeColour('page')") != "#ffffff", "the page stays light after printing")
    pdf = base64.b64decode(browser.call("Page.printToPDF")["data"])
    expect(pdf.startswith(b"%PDF"), "the page cannot be printed")
    problems += browser.complaints(page)
    # Without JavaScript.
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.events = []
    browser.call("Page.navigate", url=page.as_uri())
    browser.wait_for("Page.loadEventFired")
    root = browser.call("DOM.getDocument")["root"]["nodeId"]
    count = lambda selector: len(browser.call("DOM.querySelectorAll", nodeId=root, selector=selector)["nodeIds"])
    expect(count("tbody tr") > len(cycles), "without JavaScript the tables are not there")
    expect(count("noscript p") == 1 and count("canvas") == 0, "without JavaScript the page does not say that pictures need it")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)
    return problems


def main(arguments):
    def option(name, otherwise, count=1):
        if name not in arguments:
            return otherwise
        at = arguments.index(name)
        values = arguments[at + 1:at + 1 + count]
        del arguments[at:at + 1 + count]
        return values[0] if count == 1 else values

    screenshots = option("--screenshots", None)
    used = option("--use", None)
    picture, file = option("--picture", (None, None), 2)
    section = option("--section", None)
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
                        browser.screenshot(screenshots / f"{page.stem}-{width}-{scheme}.png", height, section)
            if colours["light"] == colours["dark"]:
                bad += 1
                print("  light and dark look the same")
        if picture:
            browser.show(page, 1280, "light")
            url = browser.evaluate(f"drawn[data.pictures.findIndex(one => one.title === {json.dumps(picture)})].png()")
            pathlib.Path(file).write_bytes(base64.b64decode(url.split(",")[1]))
        if used:
            with tempfile.TemporaryDirectory() as folder:
                problems = use_page(browser, pathlib.Path(used).resolve(), pathlib.Path(folder))
            bad += len(problems)
            print(f"{used}, used: {len(problems)} problems")
            for problem in problems:
                print("  " + problem)
    finally:
        browser.process.kill()
        browser.process.wait()
        shutil.rmtree(profile, ignore_errors=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
