"""How near are simulated times to those of real machines? docs/silicon.md

    python3 -m validation.silicon table                          all rows of the repository
    python3 -m validation.silicon table --machine "8 x H100" -o kept
    python3 -m validation.silicon table times.csv                rows of your own
    python3 -m validation.silicon fit "ND v5, 1 server, MSCCL++"
    python3 -m validation.silicon rows                           what is measured, and what stands apart

Called in the repository's folder; needs python3-pandas, python3-yaml and python3-scipy, and the program (ESPALIER names another one).
"""
import argparse
import collections
import contextlib
import csv
import datetime
import math
import pathlib
import re
import sys

from . import fit, machines, plans, rows
from .runs import Runs, espalier

SMALL, LARGE = "below 1 MiB", "1 MiB and more"
KIND_TEXT = {"taken": "of the fit of {}", "given": "published", "assumed": "assumed", "set_by_hand": "set by hand", "fitted": "calibrated"}
ROLE_MARK = {"fit": "f", "test": " ", "limit": "l"}
WORST = 8
EVERY = 10**6  # more fitted numbers than a machine has


def size_text(size):
    if size == 10**9:
        return "1 GB"
    value = float(size)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if value < 1023.5 or unit == "GiB":
            return f"{value:.4g} {unit}"
        value /= 1024


def percent(factor):
    return f"{100 * (factor - 1):+.1f} %"


def case_name(case):
    words = [case.collective] + ([f"NCCL {case.nccl}"] if case.nccl else [])
    words += [f"{case.site} {case.setting}".strip()] if case.site or case.setting else []
    return ", ".join(words + ([f"kernel {case.kernel}"] if case.kernel else []))


def by_machine(cases):
    groups = collections.defaultdict(list)
    for compared in cases:
        groups[compared.machine.name].append(compared)
    return groups.values()


def print_cases(cases, most):
    machine, values = cases[0].machine, cases[0].machine.values(most)
    print(f"{machine.name}{', preset ' + machine.preset if machine.preset else ''}")
    print(f"  {'operation':<36} {'size':>10}   {'ours us':>11} {'measured us':>11} {'error':>9} {'rows':>5} {'spread':>11}  simulated as")
    for one in cases:
        ours = "-" if one.failure else f"{one.ours:.1f}"
        error = "-" if one.failure else percent(one.ours / one.median)
        spread = f"{one.microseconds[-1] / one.microseconds[0]:.2f}x"
        how = one.how if one.how == plans.NOT_MODELLED or not one.failure else "not simulated"
        print(f"  {case_name(one.case):<36} {size_text(one.case.size):>10} {ROLE_MARK[one.role]} {ours:>11} {one.median:>11.1f} {error:>9} "
              f"{len(one.microseconds):>5} {spread:>11}  {how}")
    for number in machine.numbers.values():
        unfitted = number in machine.fitted()[most:]
        kind, value = ("not fitted", values.get(number.name)) if unfitted else (KIND_TEXT[number.kind].format(number.origin), number.value)
        print(f"  {kind}: {number.name} = {'-' if value is None else number.text(value)} ({number.meaning})")
    if machine.not_modelled:
        print(f"  {plans.NOT_MODELLED}: {machine.not_modelled}")
    if machine.closed_form and machine.model:
        errors = [percent(plans.closed_form(machine, one.case) / one.median) for one in cases]
        print(f"  closed form {machine.closed_form}: {', '.join(errors)}")


def error_text(cases):
    """The error of all rows of these cases."""
    pairs = [(one.ours, measured) for one in cases for measured in one.microseconds]
    return f"{100 * fit.mean_error(pairs):.1f} % of {len(pairs)}" if pairs else "-"


def summary(cases):
    """One line for each machine, operation and range of sizes, and one for all operations: (machine, operation, cells)."""
    lines = []
    for own in by_machine(cases):
        for sizes in (LARGE, SMALL):
            group = [one for one in own if (one.case.size < plans.SMALL) == (sizes == SMALL) and not one.failure and one.role != "limit"]
            operations = list(dict.fromkeys(one.case.collective for one in group))
            for operation in operations + ["all"] * bool(group):
                chosen = [one for one in group if operation in ("all", one.case.collective)]
                errors = [error_text([one for one in chosen if one.role == role]) for role in ("fit", "test")]
                lines.append((own[0].machine.name, operation, [own[0].machine.name, operation, sizes, *errors]))
    return lines


def print_worst(cases):
    simulated = [one for one in cases if not one.failure]
    print("\nworst cases")
    for one in sorted(simulated, key=lambda one: -abs(math.log(one.ours / one.median)))[:WORST]:
        print(f"  {one.machine.name}, {case_name(one.case)}, {size_text(one.case.size)}: {percent(one.ours / one.median)} ({one.how})")


def check_csv(path, tables):
    """Before the simulations: the file can be written, and is none of the tables that are read."""
    if path in (None, "-"):
        return
    if any(pathlib.Path(path).resolve() == pathlib.Path(table).resolve() for table in tables):
        raise machines.Mistake(f"--csv {path}: this file is also a table that is read. Name another file")
    try:
        open(path, "a", encoding="utf-8").close()
    except OSError as error:
        raise machines.Mistake(f"--csv {path}: {error.strerror}") from error


def write_csv(path, cases):
    with contextlib.nullcontext(sys.stdout) if path == "-" else open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow("machine,op,nccl,site,setting,kernel,size_bytes,role,ours_us,measured_us,rows,error,simulated_as".split(","))
        for one in cases:
            if not one.failure:
                case = one.case
                writer.writerow([one.machine.name, case.collective, case.nccl, case.site, case.setting, case.kernel, case.size, one.role,
                                 f"{one.ours:.3f}", f"{one.median:.3f}", len(one.microseconds), f"{one.ours / one.median - 1:.4f}", one.how])


def write_table(path, lines, day):
    """Puts the lines into the table of a page, which begins with the column `machine` and ends with the column `date`. Lines of machines
    that were not simulated now stay as they are."""
    text = path.read_text(encoding="utf-8")
    found = re.search(r"(\| machine \|[^\n]*\| date \|\n\|[-|]+\|\n)((?:\|[^\n]*\n)*)", text)
    if not found:
        raise machines.Mistake(f"{path}: no table with the columns machine ... date. Write its two first lines")
    new = [cells[0] for cells in lines]
    kept = [line for line in found[2].splitlines() if line.split("|")[1].strip() not in new]
    written = kept + [f"| {' | '.join(cells)} | {day} |" for cells in lines]
    order = list(machines.read_machines())
    written.sort(key=lambda line: order.index(line.split("|")[1].strip()))
    path.write_text(text[:found.start(2)] + "".join(line + "\n" for line in written) + text[found.end(2):], encoding="utf-8")


def table(cases, apart, options):
    if options.write and options.files:
        raise machines.Mistake("--write is for the rows of validation/silicon/rows. Leave out the files, or --write")
    if options.fitted < 0:
        raise machines.Mistake(f"--fitted {options.fitted}: less than no numbers. Write for example 3")
    if options.write and options.fitted < EVERY:
        raise machines.Mistake("--write is for all fitted numbers. Leave out --fitted, or --write")
    runs = Runs(options.output, options.jobs)
    check_csv(options.csv, options.files)
    with contextlib.redirect_stdout(sys.stderr if options.csv == "-" else sys.stdout):
        failed, lines = print_table(cases, apart, runs, options.fitted)
    if options.csv:
        write_csv(options.csv, cases)
    if options.write and not failed:
        day = datetime.date.today().isoformat()
        write_table(machines.ROOT / "validation/silicon/README.md", [cells for _, _, cells in lines], day)
        short = [[cells[0], *cells[2:]] for _, operation, cells in lines if operation == "all"]
        write_table(machines.ROOT / "docs/silicon.md", short, day)
    return 1 if failed else 0


def print_table(cases, apart, runs, most):
    """Simulates the cases, each machine with `most` fitted numbers. The cases that failed, and the lines of the summary."""
    planned = [plans.plan_case(one.machine, one.case, one.machine.values(most)) for one in cases]
    for one, plan, (ours, failure) in zip(cases, planned, runs.times_of(planned)):
        one.how, one.ours, one.failure = plan.how, ours, failure
    for own in by_machine(cases):
        print_cases(own, most)
    lines = summary(cases)
    print("\n| machine | operation | sizes | fitted third | the rest |\n|---|---|---|---|---|")
    for _, _, cells in lines:
        print(f"| {' | '.join(cells)} |")
    print_worst(cases)
    if apart:
        print("\nrows apart, which are not simulated")
    for (machine, why), count in apart.items():
        print(f"  {count} rows of {machine}: {why}")
    print("\nf: a row that a fit may look at; l: a published limit, in no error.\nError of a group: mean of |log(ours / measured)| over its "
          "rows, as a factor. Error of a line:\nagainst the median of its rows.")
    failed = [one for one in cases if one.failure and one.how != plans.NOT_MODELLED]
    for one in failed:
        print(f"{one.machine.name}, {case_name(one.case)}, {size_text(one.case.size)}: {one.failure}", file=sys.stderr)
    return failed, lines


def fit_command(cases, options):
    runs = Runs(options.output, options.jobs)
    cases = [one for one in cases if one.case.size <= options.at_most]
    for name in dict.fromkeys(one.machine.name for one in cases):
        machine = next(one.machine for one in cases if one.machine.name == name)
        found = fit.fit_machine(machine, cases, runs)
        if not found:
            print(f"{name}: no numbers to fit, or no rows with role fit")
            continue
        values, before, after = found
        print(f"{name}: error on the fitted rows {100 * after:.2f} %, at the start {100 * before:.2f} %")
        for number in machine.fitted():
            print(f"  {number.name} = {number.text(values[number.name])}, in machines/ {number.text(number.value)} ({number.meaning})")
    return 0


def rows_command(cases, apart):
    for own in by_machine(cases):
        counts = collections.Counter()
        for one in own:
            counts[one.role] += len(one.microseconds)
        print(f"{own[0].machine.name}: {', '.join(f'{count} {role}' for role, count in counts.items())}")
    for source in dict.fromkeys(source for one in cases for source in one.machine.sources):
        print(f"  {source}")
    for (machine, why), count in apart.items():
        print(f"apart, {count} of {machine}: {why}")
    return 0


def size(text):
    match = re.fullmatch(r"(\d+)(B|KiB|MiB|GiB)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size. Write for example 1GiB")
    return int(match[1]) * 1024 ** ("B", "KiB", "MiB", "GiB").index(match[2])


def main():
    known = machines.read_machines()
    parser = argparse.ArgumentParser(prog="python3 -m validation.silicon", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    for name, summary_text in (("table", "simulate what was measured; print times and errors"), ("fit", "fit a machine's numbers to its fit rows"),
                               ("rows", "list what is measured, and its sources")):
        command = commands.add_parser(name, help=summary_text)
        if name == "fit":
            command.add_argument("machine", nargs="+", choices=list(known), metavar="MACHINE")
            command.add_argument("--rows", dest="files", action="append", default=[], metavar="FILE", help="in place of the repository's rows")
            command.add_argument("--at-most", type=size, default=math.inf, metavar="SIZE", help="fit to rows of at most this size, e.g. 1GiB")
        else:
            command.add_argument("files", nargs="*", metavar="FILE", help="tables of measured times (default: the repository's)")
            command.add_argument("--machine", action="append", choices=list(known), metavar="NAME", help="only this one; may be repeated")
        if name != "rows":
            command.add_argument("-o", "--output", metavar="FOLDER", help="keep finished simulations here; the same command continues")
            command.add_argument("-j", "--jobs", type=int, help="simulations at the same time (default: one per core)")
    commands.choices["table"].add_argument("--csv", metavar="FILE", help="write one line per case, - for stdout")
    commands.choices["table"].add_argument("--write", action="store_true", help="write the errors into docs/silicon.md and README.md here")
    commands.choices["table"].add_argument("--fitted", type=int, default=EVERY, metavar="N",
                                           help="only the first N fitted numbers of a machine; the others have values that its rows do not know")
    options = parser.parse_args()
    measured = [row for file in options.files for row in rows.read_rows(file)] if options.files else rows.stored_rows()
    cases, apart = rows.cases_of(measured, known)
    cases = [one for one in cases if not options.machine or one.machine.name in options.machine]
    if options.command == "table":
        return table(cases, apart, options)
    return fit_command(cases, options) if options.command == "fit" else rows_command(cases, apart)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (machines.Mistake, espalier.Error) as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        print("stopped by SIGINT; -o FOLDER keeps finished simulations, and the same command continues", file=sys.stderr)
        sys.exit(130)
