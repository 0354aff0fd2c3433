# SPDX-License-Identifier: Apache-2.0
"""What a call takes on the GPU, with weights that come from its memory."""

import functools
import statistics

import torch

CALLS = 20
REPLAYS = 7


@functools.cache
def stream_of(device):
    """The stream on which calls are captured on this GPU: PyTorch keeps what its libraries work in for each stream that they have run on."""
    return torch.cuda.Stream(device)


def graph_of(call):
    """A CUDA graph of `call`, after it has run outside of one."""
    stream = stream_of(torch.cuda.current_device())
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        call()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(CALLS):
            call()
    return graph


def microseconds(graph):
    """What one call of the graph takes: the median of several replays."""
    graph.replay()
    times = []
    for _ in range(REPLAYS):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1000 / CALLS)
    return statistics.median(times)


def measure(call):
    """Microseconds of a call whose weights are not in the L2 cache, as those of a model that is larger than the cache: between two calls as
    much as three times the cache is written, and what that takes by itself is subtracted."""
    other = torch.empty(3 * torch.cuda.get_device_properties().L2_cache_size, dtype=torch.uint8, device="cuda")

    def with_a_cold_cache():
        other.zero_()
        call()

    return microseconds(graph_of(with_a_cold_cache)) - microseconds(graph_of(other.zero_))
