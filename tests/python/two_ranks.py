# SPDX-License-Identifier: MIT
"""Runs a program (argv) in one of several processes of the host, where torch has no symmetric memory: files that all map
stand for it, in the folder SYMMETRIC, and copies run at once."""
import contextlib
import os
import runpy
import sys

import torch
from torch.distributed import _symmetric_memory as symmetric

made = []


class Handle:
    def __init__(self, tensor):
        self.number = next(i for i, t in enumerate(made) if t is tensor)

    def get_buffer(self, rank, sizes, dtype):
        return mapped(self.number, rank, sizes, dtype)

    @staticmethod
    def barrier():
        torch.distributed.barrier()


class Stream:
    def wait_stream(self, other):
        pass


def mapped(number, rank, shape, dtype):
    path = os.path.join(os.environ["SYMMETRIC"], f"{number}.{rank}")
    return torch.from_file(path, shared=True, size=torch.Size(shape).numel(), dtype=dtype).view(shape)


def empty(*shape, dtype, device):
    assert device.type == "cpu"
    made.append(mapped(len(made), torch.distributed.get_rank(), shape, dtype))
    return made[-1]


def rendezvous(tensor, group):
    torch.distributed.barrier(group)
    return Handle(tensor)


symmetric.empty, symmetric.rendezvous = empty, rendezvous
torch.cuda.Stream = torch.cuda.current_stream = Stream
torch.cuda.stream = contextlib.nullcontext
sys.argv = sys.argv[1:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
