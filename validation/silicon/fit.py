"""Fits a machine's numbers to its rows whose role is fit. Rows with role test are never looked at."""
import math

import scipy.optimize

from .plans import plan_case

RANGE = math.log(4)  # a number is sought within a quarter and four times its start
HOPELESS = 1e12  # microseconds, where a case does not run


def mean_error(pairs):
    """How far times are off: the mean of |log(ours / measured)| as a factor, less 1. Half as long and twice as long are equally wrong."""
    pairs = list(pairs)
    return math.exp(sum(abs(math.log(ours / measured)) for ours, measured in pairs) / len(pairs)) - 1 if pairs else 0


def error_with(values, machine, cases, runs):
    times = runs.times_of([plan_case(machine, compared.case, values) for compared in cases])
    return mean_error((HOPELESS if failure or ours <= 0 else ours, compared.median) for (ours, failure), compared in zip(times, cases))


def fit_machine(machine, cases, runs):
    """The fitted numbers by name, and the error at their start and at their end. None without numbers or rows to fit."""
    cases = [compared for compared in cases if compared.machine.name == machine.name and compared.role == "fit"]
    numbers = machine.fitted()
    if not cases or not numbers:
        return None

    def values_at(logs):
        # As they stand in a configuration: a simulation knows whole cycles only.
        texts = [number.text(math.exp(log)) for number, log in zip(numbers, logs)]
        return machine.values() | {number.name: float(text.rstrip("GBns/")) for number, text in zip(numbers, texts)}

    def error_at(logs):
        return error_with(values_at(logs), machine, cases, runs)

    start = [math.log(number.start) for number in numbers]
    found = scipy.optimize.minimize(error_at, start, method="Powell", bounds=[(log - RANGE, log + RANGE) for log in start],
                                    options={"xtol": 0.01, "ftol": 1e-3})
    values = values_at(found.x.reshape(-1))
    return {number.name: values[number.name] for number in numbers}, error_at(start), float(found.fun)
