#!/usr/bin/env python3
"""Do the documents print the numbers that their commands give?

    tests/documents/claims.py ESPALIER CLAIMS...   check files of claims, e.g. tests/documents/themis.py
    tests/documents/claims.py --list CLAIMS...     the rows of tables with numbers that no claim covers; runs nothing
    tests/documents/claims.py --self-test          the checker itself

A file of claims has a function `claims(program)`. It returns pages, each with claims: a text of the document with {} in place of every
number, and a function that computes these numbers from runs of the program. A claim fails if the document prints other digits, or if
the text stands nowhere or twice. After all claims have been checked, every digit of every number is changed once in a copy of the
document, and its claim must fail.
"""
import csv
import importlib.util
import json
import re
import shlex
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NUMBER = r"[+-]?\d+(?:\.\d+)?"


class Program:
    """The program, called in the repository's folder. Every command runs once."""

    def __init__(self, path):
        self.path = path
        self.folder = tempfile.TemporaryDirectory()
        self.done = {}
        self.seconds = {}

    def call(self, arguments, failing=False):
        """What a command prints."""
        arguments = tuple(str(a) for a in arguments)
        if arguments not in self.done:
            begin = time.monotonic()
            ended = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True)
            if ended.returncode != 0 and not failing:
                raise RuntimeError(f"{shlex.join(arguments)}\nended with {ended.returncode}\n{ended.stderr[-2000:]}")
            self.done[arguments] = ended.stdout + (ended.stderr if failing else "")
            self.seconds[arguments] = time.monotonic() - begin
        return self.done[arguments]

    def results(self, *arguments):
        """Results of `espalier run`; KEY=VALUE sets a key. All must be verified."""
        results = json.loads(self.call([self.path, *settings(arguments), "-q", "--json", "-"]))["results"]
        for result in results:
            if not result.get("verified"):
                raise RuntimeError(f"a result of {shlex.join(arguments)} is not verified")
        return results

    def result(self, *arguments):
        results = self.results(*arguments)
        if len(results) != 1:
            raise RuntimeError(f"{len(results)} results, expected 1: {shlex.join(arguments)}")
        return results[0]

    def printed(self, *arguments):
        return self.call([self.path, *settings(arguments)])

    def default(self, key):
        """Of a key of configurations, as `espalier schema` lists it."""
        return only(json.loads(self.printed("schema", "--json")), name=key)["default"]

    def figure(self, name, *arguments):
        """Rows of a figure's CSV, numbers as numbers. The name is relative to configs/figures."""
        folder = f"{self.folder.name}/{len(self.done)}"
        key = ("figure", name, *arguments)
        if key not in self.done:
            self.call(["/usr/bin/env", f"ESPALIER={self.path}", "PYTHONPATH=python", "/usr/bin/python3", "-m", "espalier.figures",
                       f"configs/figures/{name}.yaml", *settings(arguments), "-o", folder])
            with open(f"{folder}/{Path(name).name}.csv", encoding="utf-8") as file:
                self.done[key] = [{k: number(v) for k, v in row.items()} for row in csv.DictReader(file)]
        return self.done[key]


def settings(arguments):
    """KEY=VALUE becomes -s KEY=VALUE."""
    words = []
    for argument in arguments:
        words += ["-s", argument] if re.match(r"[a-z_0-9]+(\.[a-z_0-9]+)+=", argument) else [argument]
    return words


def number(text):
    try:
        return float(text)
    except ValueError:
        return text


def only(rows, **wanted):
    """The row with these values; there must be one."""
    found = select(rows, **wanted)
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} rows with {wanted}, expected 1")
    return found[0]


def select(rows, **wanted):
    return [row for row in rows if all(row[k.replace("__", ".")] == v for k, v in wanted.items())]


class Text:
    """A document with every run of blanks as one blank, and the line of each character."""

    def __init__(self, raw):
        self.text = ""
        self.lines = []
        line = 1
        for character in raw:
            blank = character.isspace()
            if not blank or not self.text.endswith(" "):
                self.text += " " if blank else character
                self.lines.append(line)
            line += character == "\n"


class Claim:
    def __init__(self, template, compute):
        self.template = " ".join(template.split())
        self.compute = compute
        parts = re.split(r"\{[^}]*\}", self.template)
        literal = [re.escape(part) for part in parts]
        self.places = len(parts) - 1
        self.pattern = re.compile(r"(?<![\d.])" + f"({NUMBER})".join(literal) + r"(?!\d|\.\d)")

    def expected(self):
        values = self.compute()
        if values is None:
            return None
        if isinstance(values, bool):
            return self.template if values else "(the statement is not true)"
        if not isinstance(values, (tuple, list)):
            values = (values,)
        if len(values) != self.places:
            raise RuntimeError(f"{len(values)} numbers for {self.places} places: {self.template}")
        return self.template.format(*values)

    def problem(self, page, text, expected):
        """Why the document does not make the claim, or nothing."""
        found = list(self.pattern.finditer(text.text))
        if len(found) != 1:
            lines = ", ".join(str(text.lines[m.start()]) for m in found)
            return f"{page}: {'no such text' if not found else 'more than once, lines ' + lines}: {self.template}\n  expected: {expected}"
        if expected is not None and found[0].group(0) != expected:
            return f"{page}:{text.lines[found[0].start()]}: stale\n  expected: {expected}\n  found:    {found[0].group(0)}"
        return None


class Page:
    def __init__(self, name):
        self.name = name
        self.claims = []

    def claim(self, template, compute):
        """The document says this, with the computed numbers in place of {}. Without {}, `compute` says whether it is true."""
        self.claims.append(Claim(template, compute))

    def given(self, template):
        """A row whose numbers are the paper's, settings, or facts that another test holds."""
        self.claims.append(Claim(template, lambda: None))

    def by_hand(self, template):
        """A row whose command takes too long for a test. The document names the command."""
        self.given(template)


def check(page, raw):
    """Problems of a page, and how many digits were changed to see whether its claims notice."""
    text = Text(raw)
    problems = []
    changed = 0
    for claim in page.claims:
        try:
            expected = claim.expected()
        except Exception as error:  # a command that fails is a problem of this claim
            problems.append(f"{page.name}: {claim.template}\n  {type(error).__name__}: {error}")
            continue
        problem = claim.problem(page.name, text, expected)
        if problem:
            problems.append(problem)
            continue
        if expected is None:
            continue
        found = claim.pattern.search(text.text)
        for place in range(1, claim.places + 1):
            for at in range(*found.span(place)):
                if text.text[at].isdigit():
                    changed += 1
                    other = Text("")
                    other.text = text.text[:at] + str((int(text.text[at]) + 1) % 10) + text.text[at + 1:]
                    other.lines = text.lines
                    if not claim.problem(page.name, other, expected):
                        problems.append(f"{page.name}: a changed digit is not noticed: {claim.template}")
    return problems, changed


def rows_without_claims(name, raw, claims):
    """Lines of tables that have a digit and no claim."""
    text = Text(raw)
    covered = set()
    for claim in claims:
        for match in claim.pattern.finditer(text.text):
            covered.update(text.lines[match.start():match.end()])
    rows = []
    lines = raw.splitlines()
    for index, line in enumerate(lines, 1):
        heading = index < len(lines) and re.match(r"\|[-:| ]+\|$", lines[index])
        if line.startswith("|") and not heading and re.search(r"\d", line) and index not in covered:
            rows.append(f"{name}:{index}: {line}")
    return rows


def load(path):
    spec = importlib.util.spec_from_file_location("claims_of_" + Path(path).stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.claims


def check_files(espalier, paths):
    failed = False
    for path in paths:
        program = Program(str(Path(espalier).resolve()))
        count = changed = 0
        for page in load(path)(program):
            problems, digits = check(page, (ROOT / page.name).read_text(encoding="utf-8"))
            for problem in problems:
                print(problem)
            failed |= bool(problems)
            count += len(page.claims)
            changed += digits
        print(f"{path}: {count} claims, {changed} changed digits noticed, "
              f"{len(program.seconds)} commands in {sum(program.seconds.values()):.0f} s")
        for command, seconds in sorted(program.seconds.items(), key=lambda item: -item[1])[:5]:
            print(f"  {seconds:6.1f} s  {shlex.join(command)[:150]}")
    return 1 if failed else 0


# Documents of which every row of a table with a number has a claim. Other pages print no number that a simulation decides.
COMPLETE = ("docs/reproduction.md", "docs/timing.md")


def list_rows(paths):
    pages = [page for path in paths for page in load(path)(None)]
    rows = []
    for name in COMPLETE:
        claims = [claim for page in pages if page.name == name for claim in page.claims]
        rows += rows_without_claims(name, (ROOT / name).read_text(encoding="utf-8"), claims)
    print("\n".join(rows) if rows else f"every row with a number has a claim: {', '.join(COMPLETE)}")
    return 1 if rows else 0


def self_test():
    raw = "A page.\n\n| quantity | ours |\n|---|---|\n| gain | 1.25x, 3 |\n| other | 7 |\n\nIt takes 17\ncycles.\n"
    page = Page("page.md")
    page.claim("| gain | {:.2f}x, {} |", lambda: (1.2501, 3))
    page.claim("It takes {} cycles", lambda: 17)
    page.claim("A page.", lambda: True)
    problems, changed = check(page, raw)
    assert not problems and changed == 6, (problems, changed)
    # Any digit that changes is found, with its line.
    for wrong, line in (("1.26x, 3", 5), ("1.25x, 4", 5), ("1.255x, 3", 5)):
        problems, _ = check(page, raw.replace("1.25x, 3", wrong))
        assert len(problems) == 1 and problems[0].startswith(f"page.md:{line}: stale") and wrong in problems[0], problems
    problems, _ = check(page, raw.replace("17", "170"))
    assert len(problems) == 1 and "page.md:8: stale" in problems[0], problems
    # A text that is gone, that stands twice, a statement that is not true, a command that fails.
    assert "no such text" in check(page, raw.replace("gain", "loss"))[0][0]
    assert "more than once, lines 5, 10" in check(page, raw + "| gain | 1.25x, 3 |\n")[0][0]
    page.claims = []
    page.claim("A page.", lambda: False)
    page.claim("It takes {} cycles", lambda: 1 / 0)
    problems, _ = check(page, raw)
    assert len(problems) == 2 and "not true" in problems[0] and "ZeroDivisionError" in problems[1], problems
    # A row with a number and without a claim is named; headings are not.
    page.claims = []
    page.given("| gain | {}x, {} |")
    assert rows_without_claims("page.md", raw, page.claims) == ["page.md:6: | other | 7 |"]
    assert settings(["run", "a.yaml", "collective.size=1MiB"]) == ["run", "a.yaml", "-s", "collective.size=1MiB"]
    print("the checker finds changed digits")
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    return list_rows(sys.argv[2:]) if sys.argv[1] == "--list" else check_files(sys.argv[1], sys.argv[2:])


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.modules["claims"] = sys.modules["__main__"]
    sys.exit(main())
