#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filter-sparse convolutions beside cuDNN and im2col with cuBLAS.

    convolution_bench.py generate ESCGEN FOLDER LAYERS...   here: kernels for the ResNet-50 matrices (.smtx) among LAYERS
    convolution_bench.py measure FOLDER [SECONDS]           on a machine with a GPU, nvcc and PyTorch

Every kernel is compared with a float64 convolution first, its output poisoned; what is wrong is said and not timed. Times are of graphs of ten
launches, replayed in turns, medians; ours is the kernel of `--schedule auto`, cuDNN the faster of NCHW and NHWC with its best algorithm.
"""
import ctypes
import json
import math
import pathlib
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

BATCHES = (1, 8, 32)
REPLAYS = 15
GRAPH_LAUNCHES = 10
# Height and width of the images, and stride, by filters and channels: those of ResNet-50.
SQUARE_FILTERS = {64: 56, 128: 28, 256: 14, 512: 7}
POINT_FILTERS = {
    (64, 64): (56, 1), (64, 256): (56, 1), (256, 64): (56, 1), (128, 256): (56, 1), (512, 128): (28, 1), (128, 512): (28, 1),
    (512, 256): (56, 2), (256, 512): (28, 1), (256, 1024): (14, 1), (1024, 256): (14, 1), (1024, 512): (28, 2),
    (512, 1024): (14, 1), (512, 2048): (7, 1), (2048, 512): (7, 1), (2048, 1024): (14, 2),
}
SHARES = ((0.45, 0.65), (0.65, 0.75), (0.75, 0.85), (0.85, 0.93), (0.93, 1.0))


def read_pattern(path):
    """The matrix of an .smtx file, with values that float32 sums of are exact enough: eighths, never zero."""
    with open(path) as file:
        rows, columns, _ = map(int, file.readline().split(","))
        offsets = list(map(int, file.readline().split()))
        indices = numpy.array(file.readline().split(), dtype=numpy.int64)
    values = numpy.random.default_rng(7)
    matrix = numpy.zeros((rows, columns), numpy.float32)
    for row in range(rows):
        chosen = indices[offsets[row] : offsets[row + 1]]
        matrix[row, chosen] = values.choice([-1, -0.75, -0.5, -0.25, 0.25, 0.5, 0.75, 1], len(chosen))
    return matrix


def layer_of(path):
    """What convolution a matrix of ResNet-50 is of; none for other matrices."""
    with open(path) as file:
        filters, columns, nonzeros = map(int, file.readline().split(","))
    layer = {"filters": filters, "zeros": 1 - nonzeros / (filters * columns), "source": pathlib.Path(path).stem}
    if columns == 9 * filters and filters in SQUARE_FILTERS:
        return layer | {"channels": filters, "taps": 3, "size": SQUARE_FILTERS[filters], "stride": 1, "pad": 1}
    if (filters, columns) in POINT_FILTERS:
        size, stride = POINT_FILTERS[filters, columns]
        return layer | {"channels": columns, "taps": 1, "size": size, "stride": stride, "pad": 0}
    return None


def generate(escgen, folder, paths):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True)
    kernel = pathlib.Path(__file__).parents[2] / "templates" / "conv2d.c"
    layers, commands = [], []
    for path in paths:
        layer = layer_of(path)
        if layer is None:
            continue
        number = len(layers)
        weights = folder / f"{number}.npy"
        taps = layer["taps"]
        numpy.save(weights, read_pattern(path).reshape(layer["filters"], layer["channels"], taps, taps))
        layers.append(layer)
        sizes = f"H={layer['size']},W={layer['size']},stride={layer['stride']},pad={layer['pad']},dilation=1"
        for batch in BATCHES:
            commands.append(
                [escgen, "generate", weights, "--kernel", kernel, "--size", sizes, "--bcol", str(batch), "--name", f"l{number}b{batch}", "-o", folder,
                 "--arch", "sm_90", "--no-verify", "-q"]
            )
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda command: subprocess.run(command, check=True), commands))
    (folder / "layers.json").write_text(json.dumps(layers))
    print(f"{len(layers)} layers, {len(commands)} kernels")


def build(folder):
    def compile_one(bundle):
        text = bundle / f"{bundle.name}.cu"
        return subprocess.run(["nvcc", "-O3", "-std=c++17", "-arch=sm_90", "-shared", "-Xcompiler", "-fPIC", text, "-o", folder / f"{bundle.name}.so"],
                              capture_output=True).returncode

    bundles = [path for path in folder.iterdir() if path.is_dir()]
    with ThreadPoolExecutor() as pool:
        if any(pool.map(compile_one, bundles)):
            sys.exit("nvcc refuses a kernel")


def measure(folder, seconds):
    import torch
    import torch.nn.functional as functional

    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    folder = pathlib.Path(folder).resolve()
    build(folder)
    stream = torch.cuda.Stream()
    kept = []  # what graphs point to
    results, wrong, begin = [], 0, time.time()

    def graph_of(call):
        for _ in range(3):
            call()
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(GRAPH_LAUNCHES):
                call()
        return graph

    def kernel_of(name, images, output):
        library = ctypes.CDLL(str(folder / f"{name}.so"))
        packed = torch.from_numpy(numpy.fromfile(folder / name / f"{name}.packed", dtype=numpy.uint8)).cuda()
        kept.append(packed)
        product = getattr(library, name + "_spmm")
        product.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32, ctypes.c_void_p]
        assert getattr(library, name + "_prepare")() == 0

        def call():
            status = product(packed.data_ptr(), images.data_ptr(), images[0].numel(), output.data_ptr(), output[0].numel(), len(images),
                             torch.cuda.current_stream().cuda_stream)
            assert status == 0, status

        return call

    for number, layer in enumerate(json.loads((folder / "layers.json").read_text())):
        for batch in BATCHES:
            if time.time() - begin > seconds:
                print(f"{seconds} s are over: the rest was not measured")
                break
            how = {"stride": layer["stride"], "padding": layer["pad"]}
            weights = torch.from_numpy(numpy.load(folder / f"{number}.npy")).cuda()
            images = torch.randn(batch, layer["channels"], layer["size"], layer["size"], device="cuda")
            expected = functional.conv2d(images.double(), weights.double(), **how)
            output = torch.empty(expected.shape, device="cuda")
            channels_last = [one.to(memory_format=torch.channels_last) for one in (images, weights)]
            flat = weights.reshape(layer["filters"], -1)
            kept += [weights, images, output, flat, *channels_last]
            graphs = {}
            with torch.cuda.stream(stream):
                call = kernel_of(f"l{number}b{batch}", images, output)
                output.fill_(float("nan"))
                call()
                torch.cuda.synchronize()
                error = ((output.double() - expected).norm() / expected.norm()).item()
                if not error < 1e-6:
                    wrong += 1
                    print(f"WRONG by {error}: {layer} batch {batch}")
                    continue
                graphs["ours"] = graph_of(call)
                for kind, allowed in (("fp32", False), ("tf32", True)):
                    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = allowed
                    graphs[kind] = graph_of(lambda: functional.conv2d(images, weights, **how))
                    graphs[kind + " nhwc"] = graph_of(lambda: functional.conv2d(*channels_last, **how))
                torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
                if layer["taps"] == 1 and layer["stride"] == 1:
                    graphs["im2col"] = graph_of(lambda: torch.matmul(flat, images.reshape(batch, layer["channels"], -1)))
                else:
                    graphs["im2col"] = graph_of(
                        lambda: torch.matmul(flat, functional.unfold(images, layer["taps"], padding=layer["pad"], stride=layer["stride"])))
                times = {key: [] for key in graphs}
                first, last = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                for graph in graphs.values():
                    graph.replay()
                for _ in range(REPLAYS):
                    for key, graph in graphs.items():
                        first.record(stream)
                        graph.replay()
                        last.record(stream)
                        last.synchronize()
                        times[key].append(first.elapsed_time(last) * 1000 / GRAPH_LAUNCHES)
            median = {key: float(numpy.median(values)) for key, values in times.items()}
            result = {"taps": layer["taps"], "batch": batch, "zeros": layer["zeros"], "ours": median["ours"],
                      "fp32": min(median["fp32"], median["fp32 nhwc"]), "tf32": min(median["tf32"], median["tf32 nhwc"]), "im2col": median["im2col"]}
            results.append(result)
            print(f"{layer['filters']}x{layer['channels']}x{layer['taps']} {layer['size']}/{layer['stride']} batch {batch} zeros {layer['zeros']:.2f}: "
                  f"ours {result['ours']:.1f} us, cuDNN fp32 {result['fp32']:.1f}, tf32 {result['tf32']:.1f}, im2col {result['im2col']:.1f}",
                  flush=True)

    def ratio(chosen, peer):
        return math.exp(sum(math.log(one[peer] / one["ours"]) for one in chosen) / len(chosen))

    print("taps batch zeros layers over: cuDNN fp32, tf32, im2col")
    for taps in (1, 3):
        for batch in BATCHES:
            for low, high in SHARES:
                chosen = [one for one in results if one["taps"] == taps and one["batch"] == batch and low <= one["zeros"] < high]
                if chosen:
                    print(f"{taps} {batch} {low}-{high} {len(chosen)}  " + "  ".join(f"{ratio(chosen, peer):.2f}" for peer in ("fp32", "tf32", "im2col")))
    print(f"{wrong} wrong")
    return wrong


if __name__ == "__main__":
    if len(sys.argv) > 4 and sys.argv[1] == "generate":
        generate(sys.argv[2], sys.argv[3], sys.argv[4:])
    elif len(sys.argv) in (3, 4) and sys.argv[1] == "measure":
        sys.exit(1 if measure(sys.argv[2], float(sys.argv[3]) if len(sys.argv) == 4 else math.inf) else 0)
    else:
        sys.exit(__doc__)
