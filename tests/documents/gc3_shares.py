"""docs/gc3_figures.md, "Where they differ": shares of critical paths, and all-pairs in seven instances."""
import re

from claims import Page

ALL_PAIRS = ("collective.algorithm=gc3_allpairs", "collective.program.instances=4")
RING = ("collective.algorithm=gc3_ring", "collective.program.channels=1", "collective.program.instances=24")
SMALL = ("collective.program.protocol=LL128", "system.ni.program.request=4KiB")
LARGE = ("collective.program.protocol=Simple", "system.ni.program.request=32KiB")
SERVERS_4 = ("system.topology.servers=4", "system.ni.program.contexts=auto", "collective.op=all_to_all")


def claims(program):
    page = Page("docs/gc3_figures.md")

    def shares(config, *settings):
        return Shares(program.printed("explain", "--all", f"configs/gc3/{config}.yaml", *settings))

    def one_server(size, *settings):
        return shares("a100_1server", f"collective.size={size}", *settings)

    def all_to_all(config, algorithm, size, protocol):
        return shares(config, *SERVERS_4, f"collective.algorithm={algorithm}", f"collective.size={size}", f"collective.program.protocol={protocol}")

    page.claim("At 512 KiB its {:.1f} us are {:.0f} % context rate, {:.0f} % NI queue and {:.0f} % arbitration loss.", lambda: (
        one_server("512KiB", *ALL_PAIRS, *SMALL).of("context rate", "ni queue", "arbitration loss")))
    page.claim("The ring's {:.1f} us are {:.0f} % context rate.", lambda: one_server("512KiB", *RING, *SMALL).of("context rate"))
    page.claim("At 4 MiB all-pairs has {:.0f}, {:.0f} and {:.0f} %.", lambda: (
        one_server("4MiB", *ALL_PAIRS, *LARGE).of("context rate", "ni queue", "arbitration loss")[1:]))

    def seven_instances():
        found = []
        for size in ("256KiB", "512KiB", "1MiB"):
            ring, all_pairs = (program.result("run", "configs/gc3/a100_1server.yaml", *keys, f"collective.size={size}", *SMALL)["cycles"]
                               for keys in (RING, ("collective.algorithm=gc3_allpairs", "collective.program.instances=7")))
            found.append(ring / all_pairs)
        return found

    page.claim("they reach {:.2f} of NCCL's at 256 KiB, {:.2f} at 512 KiB and {:.2f} at 1 MiB.", seven_instances)

    def small_exchange():
        time, proxy = all_to_all("a100_2servers", "gc3_direct_alltoall", "16KiB", "LL128").of("network post")
        return proxy, time

    def large_exchange(algorithm):
        """Time, the NI's queue, and credits with arbitration."""
        time, queue, credits, arbitration = all_to_all("a100_2servers", algorithm, "16MiB", "Simple").of("ni queue", "credit stall", "arbitration loss")
        return queue, time, credits + arbitration

    page.claim("0.6 us for each slot: {:.0f} % of {:.0f} us at 16 KiB.", small_exchange)
    page.claim("messages to NICs block the others: {:.0f} % of {:.0f} us at 16 MiB, and {:.0f} % for credits and arbitration.",
               lambda: large_exchange("gc3_direct_alltoall"))
    page.claim("The two-step exchange has {:.0f} % and {:.0f} % of {:.0f} us.", lambda: [large_exchange("gc3_twostep_alltoall")[i] for i in (0, 2, 1)])

    def boards():
        time, arbitration, credits, proxy, queue = all_to_all("v100_2servers", "gc3_direct_alltoall", "1MiB", "Simple").of(
            "arbitration loss", "credit stall", "network post", "ni queue")
        return time, arbitration + credits, proxy, queue

    page.claim("Of {:.0f} us at 1 MiB, {:.0f} % are arbitration loss and credit stalls, {:.0f} % the proxy and {:.0f} % the NI queue.", boards)
    return [page]


class Shares:
    """What `espalier explain --all` prints of a program's time, at 1 GHz."""

    def __init__(self, printed):
        self.cycles = int(re.search(r": (\d+) cycles from", printed).group(1))
        table = re.search(r"^Where the time went.*?\n\n", printed, re.S | re.M).group(0)
        self.kinds = {kind: int(cycles) for cycles, kind in re.findall(r"^ +(\d+) +[\d.]+ %  (.+)$", table, re.M)}

    def of(self, *kinds):
        """Microseconds, then percent of each kind."""
        return (self.cycles / 1000, *(100 * self.kinds[kind] / self.cycles for kind in kinds))
