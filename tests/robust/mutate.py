#!/usr/bin/env python3
"""Changes input files, arguments and values at random, and looks how the program takes them.

mutate.py ESPALIER [--cases N] [--seed S] [--first K] [--seconds S] [--gigabytes G] [--keep FOLDER] [--log FILE]

Two commands run at a time. A case is a defect if a signal ends the command, if a library's text or a control character is printed, if
a file is refused without its line and column, if the exit code is none of 0, 1, 2, or if a temporary file stays. A command that needs
more time or memory than the limits is counted apart, because a changed size may be large and valid. --first K --cases 1 repeats case K
of the seed. --keep: a folder for each defect, with its files and `command`. --log: a line for each case.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import inputs

# Texts that stand for a defect, wherever they are printed.
LIBRARY = re.compile(r"json\.exception|YAML::|yaml-cpp|std::|bad_alloc|basic_string|vector::|boost|terminate called|\bE\d{3}\b|\bW505\b|"
                     r"sc_core|systemc\.|pugi|CLI::|Traceback|Assertion|Sanitizer|stoul|\bwhat\(\)|_M_")
CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\xc2[\x80-\x9f]")
PLACE = re.compile(r"^([^\n]*?):(\d+):(\d+): (?:error|warning): ", re.MULTILINE)
NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
TOKEN = re.compile(rb"[A-Za-z_][\w.\-]*|\d+")
EDGES = ["0", "-1", "1", "2", "1e308", "-1e308", "1e400", "nan", "inf", "0.1", "1e-320", str(2**31), str(2**32 - 1), str(2**63), str(2**64 - 1), str(2**64),
         "", "null", "true", "[]", "{}", "~", "0x10", "1_000", "٣", "1,5", "NaN", ".inf"]
WORDS = EDGES + ["a\nb", "\x1b[31m", "../x", "/dev/null", ".", "A" * 5000, "[1, 2", "{a: 1}", "\"", "'", "%s%n", "*", "[", "step:99999999999", "step:-1", "1/0",
                 "0/1", "3/2", "1/1", "node 99", "link 0-1", "link 0-0", "45nm", "1nm", "1us", "\u202e", "0.1,0.1", "0.1,,", ",", "ring", "auto", "-", "--"]
EDGE_VALUES = [None, True, -1, 0, 1, 5, 2**31, 2**32, 2**63, 2**64 - 1, 1e308, 0.5, "", "x", "\u0000", "\u001b[31m", "../../x", "/etc/passwd", [], {}, [[]],
               "9" * 400, ["a"], {"a": 1}]


def change_json(rng, text):
    """One value of a document becomes another one, goes, or comes twice. None: the text is not JSON."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return None
    places = []

    def visit(node):
        for key in node if isinstance(node, dict) else range(len(node)) if isinstance(node, list) else ():
            places.append((node, key))
            visit(node[key])

    visit(document)
    if not places:
        return None
    node, key = rng.choice(places)
    kind = rng.randrange(5)
    if kind == 0:
        del node[key]
    elif kind == 1 and isinstance(node, list):
        node.insert(key, node[key])
    elif kind == 2:
        other, name = rng.choice(places)
        node[key] = json.loads(json.dumps(other[name]))
    else:
        node[key] = rng.choice(EDGE_VALUES)
    return json.dumps(document, ensure_ascii=False, indent=rng.choice([None, 1])).encode("utf-8", "surrogatepass")


def replaced(rng, pattern, text, new):
    found = list(pattern.finditer(text))
    if not found:
        return text + new
    at = rng.choice(found)
    return text[:at.start()] + new + text[at.end():]


def nested(rng, text):
    opening = rng.choice([b"[", b"{", b"{a: ", b"- ", b"<a>", b"(", b"\"a\":{", b"[{"])
    at = rng.randrange(len(text) + 1)
    return text[:at] + opening * rng.choice([3, 40, 20000]) + text[at:]


def change_lines(rng, text):
    lines = text.split(b"\n")
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        lines.insert(other, lines[one])
    elif kind == 1:
        lines[one], lines[other] = lines[other], lines[one]
    elif kind == 2:
        del lines[one]
    elif kind == 3:
        lines[one:one + 1] = [lines[one]] * rng.choice([2, 1000])
    else:
        lines[one] += rng.choice([b"a", b"9", b" ", b"\xc3\xa4"]) * rng.choice([300, 100000])
    return b"\n".join(lines)


def change_bytes(rng, text):
    at = rng.randrange(len(text) + 1)
    kind = rng.randrange(6)
    if kind == 0:
        return text[:at] + bytes([rng.randrange(256)]) + text[at + 1:]
    if kind == 1:
        return text[:at] + text[at + 1 + rng.randrange(8):]
    if kind == 2:
        return text[:at]
    if kind == 3:
        return text[:at] + rng.choice([b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88", b"\x00", b"\x1b[31m", b"\x07", b"\x7f", b"\xc2\x9b", b"\xe2\x80\xae",
                                       b"\xe2\x80\xa8", b"\t", b"\r", b":", b": ", b"#", b"&a ", b"*a", b"!!x ", b"<<: ", b"---\n", b"...\n", b"%YAML 9\n",
                                       b"\"", b"'", b",", b"[", b"]", b"{", b"}", b"<", b">", b"&#0;", b"&x;", b"\\u0000", b"\\ud800"]) + text[at:]
    if kind == 4:
        return rng.choice([b"\xef\xbb\xbf" + text, b"\xff\xfe" + text, text.replace(b"\n", b"\r\n"), text.replace(b"\n", b"\r"), b"", b"\n", text + text])
    end = min(len(text), at + rng.randrange(60))
    other = rng.randrange(len(text) + 1)
    return text[:other] + text[at:end] + text[other:]


def changed(rng, text, pool):
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        kind = rng.randrange(20)
        structured = change_json(rng, text) if kind % 2 == 0 and text[:1] in (b"{", b"[") else None
        if structured is not None:
            text = structured
        elif kind < 5:
            text = change_bytes(rng, text)
        elif kind < 9:
            text = change_lines(rng, text)
        elif kind < 13:
            text = replaced(rng, NUMBER, text, rng.choice(EDGES).encode())
        elif kind < 17:
            text = replaced(rng, TOKEN, text, rng.choice(TOKEN.findall(rng.choice(pool)) or [b"x"]))
        elif kind < 18:
            text = nested(rng, text)
        elif kind < 19:
            text = replaced(rng, TOKEN, text, b"")
        else:
            text = rng.choice(pool)
    return text


def words_of(rng, command, keys, pool):
    """The words of a command's line, holes filled: {word} with an edge or a word of a file, {set} with one to three -s of keys."""
    words = []
    for word in shlex.split(command):
        if word == "{set}":
            for key in rng.sample(keys, rng.choice([1, 1, 2, 3])):
                value = rng.choice(key.get("names") or EDGES) if rng.randrange(2) else rng.choice(EDGES)
                if rng.randrange(3) == 0:
                    value = rng.choice(re.findall(r"[\w.^/-]+", key["values"]) or [value])
                words += ["-s", f"{key['name']}={'[' + value + ', ' + rng.choice(EDGES) + ']' if rng.randrange(8) == 0 else value}"]
        elif "{word}" in word:
            drawn = rng.choice(WORDS) if rng.randrange(4) else rng.choice(TOKEN.findall(rng.choice(pool)) or [b"x"]).decode("utf-8", "replace")
            words.append(word.replace("{word}", drawn))
        else:
            words.append(word)
    return words


class Harness:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.nursery = inputs.Nursery(options.program, work / "nursery")
        self.keys = json.loads(subprocess.run([options.program, "schema", "--json"], check=True, capture_output=True).stdout)
        self.pool = [path.read_bytes()[:50000] for path in sorted(self.nursery.folder.rglob("*")) if path.is_file()]

    def case(self, number):
        """(target, exit code or why it was stopped, defects, first error, folder)"""
        rng = random.Random(f"{self.options.seed}/{number}")
        target = rng.choice(self.nursery.targets)
        folder = self.work / f"case{number}"
        (folder / "t").mkdir(parents=True)
        files = folder / "f"
        target.copy(self.nursery.folder, files)
        mutable = target.mutable(files)
        touches = bool(mutable) and ("{" not in target.command or rng.randrange(3) == 0)
        if touches:
            for path in rng.sample(mutable, min(len(mutable), rng.choice([1, 1, 1, 2]))):
                path.write_bytes(changed(rng, path.read_bytes(), self.pool))
        before = {path for path in files.rglob("*")}
        command, _, stdin = target.command.partition(" <")
        words = words_of(rng, command, self.keys, self.pool) if "{" in command else shlex.split(command)
        limits = f'ulimit -c 0 -v {int(self.options.gigabytes * 1e6)} -t {self.options.seconds}; exec "$@"'
        try:
            start = ["bash", "-c", limits, "limits", *(inputs.PYTHON if target.python else [self.options.program]), *words]
            process = subprocess.Popen([os.fsencode(word) for word in start], cwd=files, start_new_session=True,
                                       stdin=open(files / stdin.strip(), "rb") if stdin else subprocess.DEVNULL,
                                       stdout=open(folder / "out", "wb"), stderr=open(folder / "err", "wb"),
                                       env={**os.environ, "TMPDIR": str(folder / "t"), "PYTHONPATH": inputs.PYTHONPATH})
        except (ValueError, OSError):  # a word that no command line can hold
            return target, "none", [], "", folder
        (folder / "command").write_text(" ".join(map(shlex.quote, words)) + (f" <{stdin.strip()}" if stdin else "") + "\n", errors="replace")
        stopped = ""
        try:
            code = process.wait(4 * self.options.seconds)
        except subprocess.TimeoutExpired:
            stopped = "time"
        if not stopped:
            stopped = {-signal.SIGXCPU: "time", 128 + signal.SIGXCPU: "time", -signal.SIGKILL: "time"}.get(code, "")
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        out, err = (folder / "out").read_bytes()[:1 << 22], (folder / "err").read_bytes()[:1 << 22]
        text = err.decode("utf-8", "replace") + "\n" + out[:20000].decode("utf-8", "replace")
        if stopped or "out of memory" in text or "(time limit)" in text or "SIGXCPU" in text or "CPU time limit" in text:
            return target, stopped or "memory", [], "", folder
        defects = [] if code in (0, 1, 2) else [f"exit code {code}"]
        defects += [f"library: {found.group()}" for found in [LIBRARY.search(text)] if found]
        defects += ["a control character on stderr"] if CONTROL.search(err) else []
        errors = [line for line in text.split("\n") if "error: " in line]
        if code == 2:
            defects += ["exit code 2 without an error"] if not text.strip() or touches and not errors else []
            if touches and errors and target.places == "lines":
                defects += [] if re.match(r"(error: )?[\w.]+:\d+", errors[0]) else ["no place"]
            elif touches and errors and target.places == "columns":
                defects += self.placeless(errors[0], files)
        if code == 1 and not errors and not out.strip() and not err.strip():
            defects.append("exit code 1 without a word")
        left = [path.name for path in (folder / "t").iterdir()]
        left += [str(path.relative_to(files)) for path in files.rglob("*") if path not in before and re.search(r"\.new$|unfinished|\.host\.", path.name)]
        defects += [f"left: {left[0]}"] if left else []
        return target, str(code), defects, (errors or [text.strip().split("\n")[0]])[0], folder

    @staticmethod
    def placeless(line, files):
        """What is wrong with the place of the first error. Arguments have no place, nor has a file that is missing."""
        if re.match(r"-s |-", line) or re.search(r"cannot be (read|opened|written)|no such file|is a (folder|device)|does not exist|"
                                                        r"choose one with -s|(cannot be shown|to show) as|(explain|a curve|synthesis) needs|yosys cannot map|is not compared in|\(network\): ", line, re.I) or "the file is text in UTF-16" in line:
            return []
        place = PLACE.match(line)
        if not place:
            return ["no place"]
        path, at, column = files / place.group(1), int(place.group(2)), int(place.group(3))
        if not path.is_file():
            return []
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        # An error may stand behind the last line, or at a line's end.
        inside = 1 <= at <= len(lines) + 1 and column >= 1 and (at > len(lines) or column <= len(lines[at - 1].encode()) + 2)
        return [] if inside else [f"place {at}:{column} is outside of the file"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=lambda name: str(pathlib.Path(name).resolve()))
    for name, kind, default in (("--cases", int, 300), ("--seed", int, 1), ("--first", int, 0), ("--seconds", int, 10), ("--gigabytes", float, 4),
                                ("--keep", pathlib.Path, None), ("--log", pathlib.Path, None)):
        parser.add_argument(name, type=kind, default=default)
    options = parser.parse_args()
    log = open(options.log, "a") if options.log else None
    codes, bad, began = collections.Counter(), collections.Counter(), time.monotonic()
    with tempfile.TemporaryDirectory(prefix="espalier-mutate-") as work:
        harness = Harness(options, pathlib.Path(work))
        print(f"seed {options.seed}, cases {options.first} to {options.first + options.cases - 1}, {len(harness.nursery.targets)} targets", flush=True)

        def one(number):
            return number, *harness.case(number)

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for number, target, code, defects, error, folder in pool.map(one, range(options.first, options.first + options.cases)):
                codes[code] += 1
                if defects:
                    bad[defects[0]] += 1
                    print(f"case {number}: {'; '.join(defects)}: {target.command}: {error[:300]!r}", flush=True)
                    if options.keep:
                        shutil.copytree(folder, options.keep / f"{options.seed}_{number}", dirs_exist_ok=True)
                if log:
                    print(number, code, target.command, repr(error[:300]), sep="\t", file=log, flush=True)
                shutil.rmtree(folder)
    print(f"seed {options.seed}: {options.cases} inputs, {time.monotonic() - began:.0f} s; exit codes "
          + ", ".join(f"{code}: {count}" for code, count in sorted(codes.items())) + f"; {sum(bad.values())} defects"
          + "".join(f"; {what}: {count}" for what, count in sorted(bad.items())))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
