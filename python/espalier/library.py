"""Programs of the GC3 paper that only its figures need, and an all-reduce by levels as an example.

    python3 -m espalier.library alltonext servers=3 per_server=8 instances=4 > alltonext.trace
"""
import sys

from .program import Program, call, chunk, parallelize


def ring_reduce_scatter(ranks, buffer="input", offset=0, count=1, channel=0):
    """Run r of `count` chunks is summed along the ring and ends at ranks[r]."""
    for r in range(len(ranks)):
        index = offset + r * count
        total = chunk(ranks[(r + 1) % len(ranks)], buffer, index, count)
        for step in range(1, len(ranks)):
            total = chunk(ranks[(r + 1 + step) % len(ranks)], buffer, index, count).reduce(total, ch=channel)


def ring_all_gather(ranks, buffer="input", offset=0, count=1, channel=0):
    """Run r of `count` chunks goes around the ring from ranks[r]."""
    for r in range(len(ranks)):
        part = chunk(ranks[r], buffer, offset + r * count, count)
        for step in range(1, len(ranks)):
            part = part.copy(ranks[(r + step) % len(ranks)], buffer, offset + r * count, ch=channel)


def by_levels(servers, per_server, instances=1):
    """An all-reduce by levels: sums inside each server, then between the servers, then copies."""
    ranks = servers * per_server

    def rank(server, local):
        return server % servers * per_server + local % per_server

    with Program(f"{servers} boxes of {per_server}, by levels", "all_reduce", ranks, ranks, in_place=True,
                 instances=instances) as program:
        # Part p belongs to position p // servers in every server, and among these ranks to server p % servers.
        for part in range(ranks):
            owner, home = part // servers, part % servers
            for server in range(servers):
                total = chunk(rank(server, owner), "input", part)
                for step in range(1, per_server):
                    total = total.reduce(chunk(rank(server, owner + step), "input", part))
            total = chunk(rank(home, owner), "input", part)
            for step in range(1, servers):
                total = total.reduce(chunk(rank(home + step, owner), "input", part))
            for step in range(1, servers):
                total.copy(rank(home + step, owner))
            for server in range(servers):
                total = chunk(rank(server, owner), "input", part)
                for step in range(1, per_server):
                    total.copy(rank(server, owner + step))
    return program


def hierarchical_composed(servers, per_server, instances=1):
    """GC3, section 2, as four library calls: rings in servers, across them, across them, in servers."""
    ranks = servers * per_server

    def in_servers(write, channel):
        # Links inside a server are faster than one thread block, so the ring has one instance per server.
        with parallelize(servers):
            for server in range(servers):
                write(range(server * per_server, (server + 1) * per_server), count=servers, channel=channel)

    def across_servers(write):
        for g in range(per_server):
            write(range(g, ranks, per_server), offset=g * servers, channel=1)

    with Program("gc3_hierarchical_composed", "all_reduce", ranks, ranks, in_place=True, instances=instances) as program:
        in_servers(ring_reduce_scatter, 0)
        call()
        across_servers(ring_reduce_scatter)
        call()
        across_servers(ring_all_gather)
        call()
        in_servers(ring_all_gather, 2)
    return program


def twostep_alltoall_composed(servers, per_server, instances=1):
    """GC3, section 7.3, as two library calls. The first gives every rank the chunks that its server has for its counterparts,
    in the order of arrival; the second copies them side by side and exchanges the sequences."""
    ranks = servers * per_server

    def arrived(i, to):  # in scratch, behind the sequences: the chunk of rank i of this server for the counterpart in `to`
        return ranks + i * servers + to

    with Program("gc3_twostep_alltoall_composed", "all_to_all", ranks, ranks, instances=instances) as program:
        for away in range(per_server):
            for r in range(ranks):
                first, i = r - r % per_server, r % per_server
                g = (i + away) % per_server
                for to in range(servers):
                    part = chunk(r, "input", to * per_server + g)
                    if to * per_server == first:
                        part.copy(first + g, "output", r)
                    else:
                        part.copy(first + g, "scratch", arrived(i, to))
        call()
        for away in range(1, servers):
            for r in range(ranks):
                server = r // per_server
                to = (server + away) % servers
                run = to * per_server
                for i in range(per_server):
                    chunk(r, "scratch", arrived(i, to)).copy(r, "scratch", run + i)
                chunk(r, "scratch", run, per_server).copy(run + r % per_server, "output", server * per_server)
    return program


def _next_promises(ranks, chunks):
    return {(r, k): [(r - 1, k)] for r in range(1, ranks) for k in range(chunks)}


def alltonext(servers, per_server, instances=1):
    """GC3, section 7.4: rank i's buffer goes to rank i + 1; between servers every rank carries a part to its counterpart, so that
    all network links are used."""
    ranks = servers * per_server
    leaving, arriving = 0, 1  # chunks of scratch
    with Program("gc3_alltonext", "custom", ranks, per_server, instances=instances,
                 promises=_next_promises(ranks, per_server)) as program:
        for r in range(ranks - 1):
            following = r + 1
            if following % per_server:
                chunk(r, "input", 0, per_server).copy(following, "output", 0)
                continue
            first = following - per_server
            for g in range(per_server):
                part = chunk(r, "input", g)
                if first + g != r:
                    part = part.copy(first + g, "scratch", leaving)
                if g:
                    part = part.copy(following + g, "scratch", arriving)
                part.copy(following, "output", g)
    return program


def alltonext_direct(servers, per_server, instances=1):
    """Rank i's buffer goes to rank i + 1 in one message."""
    ranks = servers * per_server
    with Program("gc3_alltonext_direct", "custom", ranks, 1, instances=instances, promises=_next_promises(ranks, 1)) as program:
        for r in range(ranks - 1):
            chunk(r, "input", 0).copy(r + 1, "output", 0)
    return program


PROGRAMS = {function.__name__: function for function in (by_levels, hierarchical_composed, twostep_alltoall_composed, alltonext,
                                                          alltonext_direct)}


def main(name, *words):
    sizes = {key: int(value) for key, value in (word.split("=") for word in words)}
    sys.stdout.write(PROGRAMS[name](**sizes).text())


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in PROGRAMS:
        sys.exit(f"usage: python3 -m espalier.library NAME servers=N per_server=N [instances=N]; names: {', '.join(PROGRAMS)}")
    try:
        main(*sys.argv[1:])
    except (TypeError, ValueError) as error:
        sys.exit(f"{sys.argv[1]}: {error}. Give sizes as servers=3 per_server=4")
