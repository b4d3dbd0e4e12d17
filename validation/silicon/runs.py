"""Simulates planned cases side by side, each distinct configuration once, and keeps the times in a folder."""
import concurrent.futures
import hashlib
import json
import os
import pathlib
import sys
import tempfile

from .machines import Mistake
from .plans import POINT, bytes_of
from .program import espalier


class Runs:
    """`folder`: finished simulations stay there and are not run again by the same program; None: only in memory."""

    def __init__(self, folder=None, jobs=None):
        self.folder = pathlib.Path(folder) if folder else None
        self.jobs = jobs or os.cpu_count()
        self.known = {}  # (microseconds, failure) by settings
        self.program = ""
        if self.folder:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
                tempfile.TemporaryFile(dir=self.folder).close()
            except OSError as error:
                raise Mistake(f"{folder}: {error.strerror}. Name a folder with -o that can be written") from error
            self.program = hashlib.sha256(pathlib.Path(espalier.program_path()).read_bytes()).hexdigest()

    def times_of(self, plans):
        """(microseconds, failure) of each plan."""
        new = {json.dumps(settings): settings for plan in plans for _, settings in plan.runs if json.dumps(settings) not in self.known}
        # The longest simulation starts first.
        order = sorted(new, key=lambda key: -bytes_of(new[key]["collective.size"]))
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            futures = {pool.submit(self.simulate, key, new[key]): key for key in order}
            try:
                for done, future in enumerate(concurrent.futures.as_completed(futures), 1):
                    self.known[futures[future]] = future.result()
                    if sys.stderr.isatty():
                        print(f"\r{done} of {len(futures)} simulations", end="\n" if done == len(futures) else "", file=sys.stderr)
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return [self.time_of(plan) for plan in plans]

    def time_of(self, plan):
        if plan.added_us is None:
            return 0, plan.how
        time = plan.added_us
        for weight, settings in plan.runs:
            microseconds, failure = self.known[json.dumps(settings)]
            if failure:
                return 0, failure
            time += weight * microseconds
        return time, ""

    def simulate(self, key, settings):
        kept = self.folder and self.folder / (hashlib.sha256((self.program + key).encode()).hexdigest()[:24] + ".json")
        if kept and kept.exists():
            try:
                return float(json.loads(kept.read_text())["us"]), ""
            except (ValueError, TypeError, KeyError):
                print(f"{kept} is damaged; simulating again", file=sys.stderr)
        try:
            frame = espalier.run(POINT, settings, quiet=True, jobs=1)
        except espalier.Error as error:
            return 0, str(error)
        microseconds = float(frame["time_ns"].iloc[0]) / 1000
        if kept:
            # Renamed when it is whole, so that an interrupted command leaves no half of a file. Nobody can guess its first name.
            with tempfile.NamedTemporaryFile("w", dir=self.folder, suffix=".part", delete=False) as part:
                json.dump({"us": microseconds, "settings": settings}, part)
            os.replace(part.name, kept)
        return microseconds, ""
