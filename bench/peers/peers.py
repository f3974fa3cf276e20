# SPDX-License-Identifier: Apache-2.0
"""A problem on the device, the clock, and what is timed: raggedgemm, its peers, a dense product.

A maker takes a Problem and a Clock and returns (callable that returns the output, note)."""

import ctypes
import functools
import itertools
import os
import statistics
import time

import torch
import torch.nn.functional

from shapes import dims, group_sizes

LIMIT = 1e-2  # of an element's error over |want| + rms(want); bf16 rounding reaches 2e-3
MAX_PADDED_BYTES = 30e9
libraries = "."  # the folder of libours.so and libcublas_peers.so


def operands(shape):
    """x[M,K], x[M,N] and the elements of all weights, of a normal distribution."""
    m, k, n, e = shape
    def normal(*extents):
        return torch.empty(*extents, device="cuda", dtype=torch.bfloat16).normal_()
    return normal(m, k), normal(m, n), normal(e * k * n)


class Problem:
    """A class of a shape: its operands, an output to share, and a sampled f32 reference."""

    def __init__(self, shape, cls, pattern, x_k, x_n, weights):
        self.variant, self.c, self.o = dims(shape, cls)
        self.m, k, _, self.e = shape
        self.sizes = group_sizes(shape, pattern)
        self.starts = [0, *itertools.accumulate(self.sizes)]
        self.device_sizes = torch.tensor(self.sizes, dtype=torch.int32, device="cuda")
        self.ends = torch.tensor(self.starts[1:], dtype=torch.int32, device="cuda")
        self.x, other = (x_k, x_n) if self.c == k else (x_n, x_k)
        if self.variant == "tn":
            self.w, out = other, (self.e, self.c, self.o)
        else:
            inner = (self.c, self.o) if self.variant == "nn" else (self.o, self.c)
            self.w, out = weights.view(self.e, *inner), (self.m, self.o)
        self.out = torch.empty(out, device="cuda", dtype=torch.bfloat16)
        self.empty = [g for g, size in enumerate(self.sizes) if not size]
        self.samples = [self.sample(g) for g in self.sampled_groups()]
        self.cleanup = []

    def close(self):
        for free in self.cleanup:
            free()
        self.cleanup = []

    def sampled_groups(self):
        """The first, last, largest and smallest with rows, and four others."""
        self.random = torch.Generator().manual_seed(7)
        live = sorted((g for g, size in enumerate(self.sizes) if size), key=self.sizes.__getitem__)
        others = torch.randint(len(live), (4,), generator=self.random).tolist()
        return sorted({min(live), max(live), live[0], live[-1], *(live[i] for i in others)})

    def sample(self, group):
        """(group, rows of the output, their f32 values): the first, the last and 30 others."""
        begin, end = self.starts[group], self.starts[group + 1]
        lo, hi = (0, self.c) if self.variant == "tn" else (begin, end)
        others = torch.randint(lo, hi, (30,), generator=self.random)
        pick = torch.unique(torch.cat([torch.tensor([lo, hi - 1]), others])).to("cuda")
        if self.variant == "tn":
            want = self.x[begin:end][:, pick].float().t() @ self.w[begin:end].float()
        else:
            w = self.w[group].float()
            want = self.x[pick].float() @ (w if self.variant == "nn" else w.t())
        return group, pick, want

    def poison(self):
        """NaN in the shared output, and in the block that the allocator will hand out next."""
        self.out.fill_(float("nan"))
        torch.full_like(self.out, float("nan"))

    def check(self, out):
        """(status, worst error). An element left unwritten is an infinite error; where only the
        slabs of empty groups are, the status is `partial`."""
        worst = 0.0
        for group, pick, want in self.samples:
            got = (out[group][pick] if self.variant == "tn" else out[pick]).float()
            error = ((got - want).abs() / (want.abs() + want.square().mean().sqrt())).max().item()
            worst = max(worst, error if error == error else float("inf"))
        slabs = [out[g] for g in self.empty] if self.variant == "tn" else []
        partial = any(slab.count_nonzero().item() for slab in slabs)  # NaN counts
        for slab in slabs if partial else []:
            slab.zero_()
        if out.sum(dtype=torch.float32).isnan().item():
            worst = float("inf")
        return "wrong" if worst > LIMIT else "partial" if partial else "ok", worst


class Clock:
    """Device time of calls: L2 is evicted by reading 256 MB, then the device spins for about as
    long as the host takes to enqueue the call, so that the timed part waits for no launch."""

    def __init__(self):
        self.memory = torch.zeros(64 << 20, device="cuda")
        self.host_us = {}

    def learn(self, call):
        """Runs a call (compiled by then) and keeps the host's time for it."""
        torch.cuda.synchronize()
        begin = time.perf_counter()
        call()
        self.host_us[call] = min(5e3, 1e6 * (time.perf_counter() - begin))
        torch.cuda.synchronize()

    def enqueue(self, call):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        self.memory.sum()
        torch.cuda._sleep(int(2000 * (self.host_us.get(call, 0) + 20)))  # in cycles
        start.record()
        call()
        stop.record()
        return start, stop

    def times_us(self, calls):
        """One time for each call, in their order."""
        events = [self.enqueue(call) for call in calls]
        torch.cuda.synchronize()
        return [1e3 * start.elapsed_time(stop) for start, stop in events]


@functools.cache
def library(name):
    lib = ctypes.CDLL(os.path.join(libraries, name))
    for function, result in [("rg_plan", ctypes.c_void_p), ("cb_plan", ctypes.c_void_p),
                             ("rg_row", ctypes.c_char_p), ("rg_explain", ctypes.c_char_p),
                             ("rg_error", ctypes.c_char_p)]:
        if hasattr(lib, function):
            getattr(lib, function).restype = result
    return lib


def stream():
    return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)


def pointers(*tensors):
    return [ctypes.c_void_p(tensor.data_ptr()) for tensor in tensors]


def variant_index(p):
    return ["nn", "nt", "tn"].index(p.variant)


def ours(p, _):
    lib = library("libours.so")
    extents = [ctypes.c_int64(extent) for extent in (p.m, p.c, p.o, p.e)]
    handle = ctypes.c_void_p(lib.rg_plan(variant_index(p), *extents,
                                         *pointers(p.x, p.w, p.device_sizes, p.out)))
    if not handle:
        raise RuntimeError(lib.rg_error().decode())
    p.cleanup.append(lambda: lib.rg_free(handle))
    p.explanation = lib.rg_explain(handle).decode()
    on = stream()

    def call():
        if lib.rg_run(handle, on):
            raise RuntimeError(lib.rg_error().decode())
        return p.out
    return call, lib.rg_row(handle).decode()


def torch_grouped(p, _):
    grouped_mm = getattr(torch.nn.functional, "grouped_mm", None) or torch._grouped_mm
    a = p.x.t() if p.variant == "tn" else p.x
    b = p.w.transpose(1, 2) if p.variant == "nt" else p.w
    return lambda: grouped_mm(a, b, offs=p.ends), ""


def triton_persistent(p, clock):
    """The best of its configs, by the median of three; one that is 1.6 times slower gets one."""
    import triton_peer
    if p.e > triton_peer.SLOTS:
        raise RuntimeError(f"at most {triton_peer.SLOTS} groups")
    best = None
    for config in triton_peer.configs(p.variant):
        call = triton_peer.launcher(p.variant, config, p.x, p.w, p.out, p.ends, p.c, p.o, p.e)
        try:
            call()
            clock.learn(call)
            times = clock.times_us([call])
            if best is None or times[0] < 1.6 * best[0]:
                times += clock.times_us([call] * 2)
        except Exception as error:  # too much shared memory; but not a lost device
            if "CUDA" in str(error):
                raise
            continue
        us = statistics.median(times)
        if best is None or us < best[0]:
            best = us, config, call
    if best is None:
        raise RuntimeError("no config runs")
    _, config, launch = best
    return lambda: (launch(), p.out)[1], "config " + " ".join(map(str, config))


def cublas(p, function):
    lib = library("libcublas_peers.so")
    if lib.cb_init(stream()):
        raise OSError("cuBLAS does not start")
    sizes = (ctypes.c_int * p.e)(*p.sizes)
    handle = ctypes.c_void_p(lib.cb_plan(variant_index(p), p.e, sizes, p.c, p.o,
                                         *pointers(p.x, p.w, p.out)))
    if not handle:
        raise RuntimeError("no memory for the plan")
    p.cleanup.append(lambda: lib.cb_free(handle))
    run = getattr(lib, function)
    slabs = [p.out[g] for g in p.empty] if p.variant == "tn" else []

    def call():
        if slabs:
            torch._foreach_zero_(slabs)
        status = run(handle)
        if status:
            raise RuntimeError(f"{function}: status {status}")
        return p.out
    return call, f"cuBLAS {lib.cb_version()}" + ("; clears empty slabs" if slabs else "")


def padded_bmm(p, _):
    """Groups expanded to the largest, one batched product, gathered back."""
    capacity = max(p.sizes)
    needed = 2 * p.e * capacity * (p.c + p.o)
    if needed > MAX_PADDED_BYTES:
        raise MemoryError(f"padded buffers of {needed / 1e9:.0f} GB")
    begin = torch.tensor(p.starts[:-1], device="cuda")
    line = torch.arange(capacity, device="cuda")
    live = (line < p.device_sizes[:, None])[:, :, None]
    source = (begin[:, None] + line).clamp_(max=p.m - 1).view(-1)
    group = torch.repeat_interleave(torch.arange(p.e, device="cuda"), p.device_sizes)
    back = group * capacity + torch.arange(p.m, device="cuda") - begin[group]

    def expand(tensor):
        return tensor.index_select(0, source).view(p.e, capacity, -1)

    def call():
        if p.variant == "tn":
            return torch.bmm((expand(p.x) * live).transpose(1, 2), expand(p.w))
        out = torch.bmm(expand(p.x), p.w if p.variant == "nn" else p.w.transpose(1, 2))
        return out.view(-1, p.o).index_select(0, back)
    return call, f"capacity {capacity}: {p.e * capacity / p.m:.1f} times the rows"


def dense(p, _):
    """One product of the same flops; its result is no result of the problem."""
    if p.variant == "tn":
        a, b = p.x.t(), p.w
    else:
        a, b = p.x, p.w[0] if p.variant == "nn" else p.w[0].t()
    return lambda: a @ b, ""


PEERS = {
    "ours": ours,
    "torch": torch_grouped,
    "triton": triton_persistent,
    "cublas_grouped*": lambda p, _: cublas(p, "cb_grouped"),
    "cublas_loop*": lambda p, _: cublas(p, "cb_loop"),
    "padded_bmm*": padded_bmm,
    "dense": dense,
}


def ceilings(clock):
    """Flops and bytes a second: the best 8192^3 product, copy of 4 GiB, fill of 4 GiB."""
    def best(call, runs):
        for _ in range(3):
            call()
        return 1e-6 * min(clock.times_us([call] * runs))
    a, b = (torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    matmul = 2 * 8192**3 / best(lambda: a @ b, 10)
    size = 4 << 30
    source = torch.randint(256, (size,), dtype=torch.uint8, device="cuda")
    to = torch.empty_like(source)
    copy = 2 * size / best(lambda: to.copy_(source), 20)
    driver, words, on = ctypes.CDLL("libcuda.so.1"), ctypes.c_size_t(size // 4), stream()
    address = ctypes.c_uint64(to.data_ptr())
    fill = size / best(lambda: driver.cuMemsetD32Async(address, 0, words, on), 20)
    if to.any().item():
        raise RuntimeError("the fill did not run")
    return matmul, copy, fill
