#!/usr/bin/env python3
"""Prints an all-reduce for BOXES boxes of PER_BOX accelerators as a text trace (docs/programs.md): reduce-scatter inside each box,
all-reduce of each part between the boxes, all-gather inside each box. Ranks are numbered box by box.

    examples/python/hierarchical_trace.py 3 4 > mine.trace
"""
import sys

boxes, per_box = int(sys.argv[1]), int(sys.argv[2])
ranks = boxes * per_box
last = 0  # number of the last reference


def emit(operation):
    global last
    last += 1
    print(f"%{last} = {operation}")
    return last


def chunk(rank, part):
    return emit(f"chunk rank {rank} in {part}")


def rank_of(box, local):
    return box % boxes * per_box + local % per_box


print(f"name {boxes} boxes of {per_box}, by levels")
print(f"collective all_reduce ranks {ranks} chunks {ranks} in_place")
# Part p belongs to position p // boxes in every box, and among these ranks to box p % boxes.
for part in range(ranks):
    owner, home = part // boxes, part % boxes
    for box in range(boxes):
        total = chunk(rank_of(box, owner), part)
        for step in range(1, per_box):
            total = emit(f"reduce %{total} %{chunk(rank_of(box, owner + step), part)}")
    total = chunk(rank_of(home, owner), part)
    for step in range(1, boxes):
        total = emit(f"reduce %{total} %{chunk(rank_of(home + step, owner), part)}")
    for step in range(1, boxes):
        emit(f"copy %{total} rank {rank_of(home + step, owner)} in {part}")
    for box in range(boxes):
        total = chunk(rank_of(box, owner), part)
        for step in range(1, per_box):
            emit(f"copy %{total} rank {rank_of(box, owner + step)} in {part}")
