"""Writes collective programs as GC3's language (MSCCLang) does, and hands them to espalier's compiler (docs/programs.md).

    from espalier.program import Program, chunk

    with Program("exchange", "all_reduce", ranks=2, chunks=2, in_place=True) as program:
        for r in range(2):
            total = chunk(r, "input", r).reduce(chunk(1 - r, "input", r))
            total.copy(1 - r, "input", r, ch=r)
    frame = program.run("64KiB")
"""
import contextlib
import os
import pathlib
import sys
import tempfile

from . import frames

BUFFERS = {"input": "in", "output": "out", "scratch": "scratch", "in": "in", "out": "out"}
_open = []  # programs whose `with` block is open, the innermost last


class Chunk:
    """A reference to chunks that are in a place of a rank's buffer. Writing to the place makes it stale."""

    def __init__(self, program, rank, buffer, index, count, name):
        self.program, self.rank, self.buffer, self.index, self.count, self.name = program, rank, buffer, index, count, name

    def copy(self, dst, buffer=None, index=None, ch=None):
        """Copies the chunks to rank `dst`, without buffer and index to the same place there; returns the copy."""
        buffer = self.buffer if buffer is None else buffer
        index = self.index if index is None else index
        name = self.program.emit(f"copy {self.name} rank {dst} {BUFFERS[buffer]} {index}", ch)
        return Chunk(self.program, dst, buffer, index, self.count, name)

    def reduce(self, other, ch=None):
        """Adds the other chunks to these, in place; returns the sum."""
        name = self.program.emit(f"reduce {self.name} {other.name}", ch)
        return Chunk(self.program, self.rank, self.buffer, self.index, self.count, name)


class Program:
    """A program, written in the block of its `with`.

    collective: all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, reduce, custom.
    chunks: into which the larger of a rank's input and output is cut.
    instances: the whole program runs as so many instances, each with its share of every chunk.
    root: of broadcast and reduce. inputs, outputs: of custom, chunks by rank where they are not `chunks`.
    promises: of custom, {(rank, index): [(rank, index), ...]}, the sum that an output chunk must hold."""

    def __init__(self, name, collective, ranks, chunks, in_place=False, protocol=None, instances=1, root=None, inputs=None,
                 outputs=None, promises=None):
        self.name, self.collective, self.ranks, self.chunks = name, collective, ranks, chunks
        self.lines = [f"name {name}", f"collective {collective} ranks {ranks} chunks {chunks}" + (" in_place" if in_place else "")]
        self.places = {}  # file and line of the author, by line of the trace
        self.last = 0
        if protocol:
            self.lines.append(f"protocol {protocol}")
        if root is not None:
            self.lines.append(f"root {root}")
        for word, sizes in [("input", inputs), ("output", outputs)]:
            self.lines += [f"{word} {rank} {size}" for rank, size in (sizes or {}).items()]
        for (rank, index), terms in (promises or {}).items():
            self.lines.append(f"promise rank {rank} out {index} = " + " + ".join(f"{r}:{i}" for r, i in terms))
        self.instances = instances

    def __enter__(self):
        _open.append(self)
        if self.instances > 1:
            self.add(f"parallelize {self.instances}")
        return self

    def __exit__(self, kind, *_):
        _open.remove(self)
        if self.instances > 1 and kind is None:
            self.add("end")

    def add(self, line):
        self.lines.append(line)
        author = sys._getframe(1)
        while author.f_code.co_filename == __file__ and author.f_back:
            author = author.f_back
        self.places[len(self.lines)] = (author.f_code.co_filename, author.f_lineno)

    def emit(self, operation, ch=None):
        self.last += 1
        self.add(f"%{self.last} = {operation}" + ("" if ch is None else f" ch={ch}"))
        return f"%{self.last}"

    def text(self):
        """The program as a text trace."""
        return "\n".join(self.lines) + "\n"

    def save(self, path):
        """Writes the trace; returns its path."""
        pathlib.Path(path).write_text(self.text())
        return path

    def _located(self, error, path):
        """The compiler's message with the author's line in place of the trace's."""
        words = str(error).split(":", 2)
        is_of_trace = len(words) > 2 and words[0] == str(path) and words[1].isdigit()
        place = self.places.get(int(words[1])) if is_of_trace else None
        if place is None:
            return error
        return frames.Error(f"{os.path.relpath(place[0])}:{place[1]}: {words[2].split(' ', 1)[1]}", error.code)

    @contextlib.contextmanager
    def _file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = self.save(pathlib.Path(folder, "program.trace"))
            try:
                yield path
            except frames.Error as error:
                raise self._located(error, path) from None

    def check(self):
        """Compiles the program and proves it: deadlock, races, the collective's result. Returns what the certifier says."""
        with self._file() as path:
            return frames.call("check", path)

    def run(self, size, config=None, sets=None, **options):
        """Simulates the program with `size` per rank on the system of a configuration (a path or a dict; without, one switch);
        returns a frame as espalier.run does."""
        with self._file() as path:
            program = {"collective.op": self.collective, "collective.size": size}
            if config is None:
                return frames.run(path, {"collective.size": size} | (sets or {}), **options)
            return frames.run(config, program | {"collective.algorithm": str(path)} | (sets or {}), **options)


def chunk(rank, buffer, index, count=1):
    """Refers to `count` chunks that are in a buffer ("input", "output", "scratch") of a rank."""
    program = _open[-1]
    return Chunk(program, rank, buffer, index, count,
                 program.emit(f"chunk rank {rank} {BUFFERS[buffer]} {index}" + (f" count {count}" if count > 1 else "")))


@contextlib.contextmanager
def parallelize(instances):
    """Operations in the block run as so many instances, each with its share of every chunk and channels of its own."""
    _open[-1].add(f"parallelize {instances}")
    yield
    _open[-1].add("end")


def call():
    """Begins the next library call: a rank starts it when its part of the one before is done."""
    _open[-1].add("call")
