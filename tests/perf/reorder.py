#!/usr/bin/env python3
"""What the order of the ranks is worth on a data-centre fabric (Luo et al., "Cloud Collectives"): simulated times of random orders, of
the best and the worst that `espalier reorder` finds, and of orders spread between them, with Spearman's correlation between model and
simulation. Writes a CSV for every algorithm, one of all, and pictures where matplotlib is installed.

    tests/perf/reorder.py ESPALIER CONFIG FOLDER [--random N] [--simulated M] [--algorithms ring,dbtree] [-s key=value]...
"""
import argparse
import csv
import json
import os
import subprocess
import sys


def ranks(values):
    """Ranks from 1, equal values sharing their mean."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    at = 0
    while at < len(order):
        end = at
        while end + 1 < len(order) and values[order[end + 1]] == values[order[at]]:
            end += 1
        for i in order[at:end + 1]:
            result[i] = (at + end) / 2 + 1
        at = end + 1
    return result


def spearman(a, b):
    ra, rb = ranks(a), ranks(b)
    n = len(a)
    mean = (n + 1) / 2
    cov = sum((x - mean) * (y - mean) for x, y in zip(ra, rb))
    var = (sum((x - mean) ** 2 for x in ra) * sum((y - mean) ** 2 for y in rb)) ** 0.5
    return cov / var if var else float("nan")


def call(arguments):
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(" ".join(arguments) + "\n" + done.stderr)
    return done.stdout


class Study:
    """One algorithm: random orders are simulated once, and priced by every objective. The spread orders depend on how many
    random orders are priced."""

    def __init__(self, options, algorithm):
        self.options = options
        self.algorithm = algorithm
        self.folder = os.path.join(os.path.abspath(options.folder), algorithm)
        os.makedirs(self.folder, exist_ok=True)
        self.settings = []
        for setting in [f"collective.algorithm={algorithm}"] + options.settings:
            self.settings += ["-s", setting]

    def search(self, objective):
        result = os.path.join(self.folder, f"reorder_{objective}.json")
        call([self.options.espalier, "reorder", "--no-simulate", self.options.config, "--spread", "10", "--json",
              result, "-s", f"reorder.random_orders={self.options.random}",
              "-s", f"reorder.objective={objective}"] + self.settings)
        with open(result, encoding="utf-8") as file:
            return json.load(file)["result"]

    def write(self, name, order):
        path = os.path.join(self.folder, name + ".order")
        with open(path, "w", encoding="utf-8") as file:
            file.write("rank_order: [" + ", ".join(map(str, order)) + "]\n")
        return path

    def times(self, settings):
        text = call([self.options.espalier, "run", self.options.config, "--json", "-"]
                    + self.settings + settings)
        results = json.loads(text)["results"]
        if not all(r["verified"] for r in results):
            sys.exit(f"{self.algorithm}: a run is not verified")
        return [r["time_ns"] / 1e6 for r in results]

    def run_found(self, found, objective):
        named = [("best", found["best"]["cost"], found["best"]["rank_order"]),
                 ("worst", found["worst"]["cost"], found["worst"]["rank_order"])]
        named += [(f"spread_{i + 1}", o["cost"], o["rank_order"])
                  for i, o in enumerate(found["spread"])]
        files = [self.write(f"{objective}_{name}", order) for name, _, order in named]
        return list(zip([n for n, _, _ in named], [c for _, c, _ in named],
                        self.times(["-s", "collective.rank_order=[" + ", ".join(files) + "]"])))

    def run(self):
        """Of each objective: its rows (name of the order, cost, ms), and what the search said."""
        seeds = list(range(1, min(self.options.simulated or self.options.random, self.options.random) + 1))
        drawn = self.times(["-s", "collective.rank_order=random", "-s",
                            f"collective.rank_order_seed={seeds}"])
        studies = {}
        # A ring's load is the sum of its hops.
        for objective in ["sum"] if self.algorithm == "ring" else ["sum", "load"]:
            found = self.search(objective)
            rows = self.run_found(found, objective)
            rows += list(zip([f"random_{s}" for s in seeds], found["random"]["costs"], drawn))
            with open(os.path.join(self.folder, f"orders_{objective}.csv"), "w",
                      encoding="utf-8") as file:
                file.write("order,cost,time_ms\n")
                file.writelines(f"{n},{c},{t}\n" for n, c, t in rows)
            studies[objective] = (rows, found)
        return studies


def summary(algorithm, objective, rows, found):
    time = {name: t for name, _, t in rows}
    random = [t for name, _, t in rows if name.startswith("random")]
    spread = [(c, t) for name, c, t in rows if name.startswith("spread")]
    drawn = [(c, t) for name, c, t in rows if name.startswith("random")]
    mean = sum(random) / len(random)
    deviation = (sum((t - mean) ** 2 for t in random) / len(random)) ** 0.5
    return {
        "algorithm": algorithm, "objective": objective, "best_ms": time["best"], "worst_ms": time["worst"],
        "random_least_ms": min(random), "random_mean_ms": mean, "random_most_ms": max(random),
        "random_deviation_ms": deviation,
        "worst_over_best": time["worst"] / time["best"], "random_over_best": mean / time["best"],
        "spearman_spread": spearman([c for c, _ in spread], [t for _, t in spread]),
        "spearman_random": spearman([c for c, _ in drawn], [t for _, t in drawn]),
        "model_gap": found["gap"], "search_s": found["host"]["wall_s"]}


def draw(folder, algorithms):
    try:
        from matplotlib import pyplot
    except ImportError:
        return
    pictures = {name: pyplot.subplots(figsize=(7.2, 4.4)) for name in ("random_orders", "model_and_simulation")}
    (_, shares), (_, costs) = pictures.values()
    for algorithm in algorithms:
        objective = "sum" if algorithm == "ring" else "load"
        with open(os.path.join(folder, algorithm, f"orders_{objective}.csv"), encoding="utf-8") as file:
            rows = [(row["order"], float(row["cost"]), float(row["time_ms"])) for row in csv.DictReader(file)]
        drawn = sorted(time for name, _, time in rows if name.startswith("random"))
        shares.step(drawn, [(i + 1) / len(drawn) for i in range(len(drawn))], where="post", label=algorithm)
        best = dict((name, cost) for name, cost, _ in rows)["best"]
        costs.plot([cost / best for _, cost, _ in rows], [time for _, _, time in rows], "+", label=algorithm)
    shares.set(xlabel="all-reduce, ms", ylabel="share of random orders")
    costs.set(xlabel="cost by the model, of the best", ylabel="all-reduce, ms")
    for name, (figure, axes) in pictures.items():
        axes.grid()
        axes.legend()
        figure.savefig(os.path.join(folder, name + ".svg"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("espalier", type=os.path.abspath)
    parser.add_argument("config")
    parser.add_argument("folder")
    parser.add_argument("--random", type=int, default=500)
    parser.add_argument("--simulated", type=int, help="simulate so many of the random orders (default: all)")
    parser.add_argument("--algorithms", default="ring,halving_doubling,dbtree,bcube")
    parser.add_argument("-s", dest="settings", action="append", default=[])
    options = parser.parse_args()
    algorithms = options.algorithms.split(",")
    table = []
    for algorithm in algorithms:
        for objective, (rows, found) in Study(options, algorithm).run().items():
            table.append(summary(algorithm, objective, rows, found))
            print("  ".join(f"{k} {v:.4g}" if isinstance(v, float) else str(v)
                            for k, v in table[-1].items()), flush=True)
    with open(os.path.join(options.folder, "summary.csv"), "w", encoding="utf-8") as file:
        file.write(",".join(table[0]) + "\n")
        file.writelines(",".join(str(v) for v in row.values()) + "\n" for row in table)
    draw(options.folder, algorithms)


if __name__ == "__main__":
    main()
