# SPDX-License-Identifier: Apache-2.0
"""Which layer of a bundle belongs to which module of a network, whose names may begin in different ways."""

import collections
import dataclasses

ENDING = ".weight"


@dataclasses.dataclass(frozen=True)
class Prefix:
    """What module names begin with, and what the bundle's names have in its place."""

    module: str = ""
    bundle: str = ""

    @classmethod
    def of(cls, given):
        """Of the argument `prefix`: text that the bundle's names have in front of the modules', or a pair of what modules and bundle have."""
        return cls("", given) if isinstance(given, str) else cls(*given)

    def layer(self, module):
        """The bundle's name for the weight of this module; None where the module's name does not begin so."""
        if not module.startswith(self.module):
            return None
        return self.bundle + module[len(self.module) :] + ENDING

    def __str__(self):
        """As the argument that says so."""
        if not self.module:
            return f'prefix="{self.bundle}"'
        return f'prefix=("{self.module}", "{self.bundle}")'


def _suffixes(name):
    """The name, and what stands behind each of its dots, the longest first."""
    parts = name.split(".")
    return [".".join(parts[begin:]) for begin in range(len(parts))]


def find_prefix(modules, layers):
    """The Prefix by which the most of these modules have a layer of the bundle, and how many they are; (None, 0) where no two names end alike."""
    tensors = {layer.removesuffix(ENDING) for layer in layers}
    by_suffix = collections.defaultdict(list)
    for tensor in tensors:
        for suffix in _suffixes(tensor):
            by_suffix[suffix].append(tensor)
    candidates = set()
    for module in modules:
        shared = next((suffix for suffix in _suffixes(module) if suffix in by_suffix), None)
        if shared is not None:
            candidates.update(Prefix(module.removesuffix(shared), tensor.removesuffix(shared)) for tensor in by_suffix[shared])
    counts = [(sum(prefix.layer(module) in layers for module in modules), prefix) for prefix in candidates]
    if not counts:
        return None, 0
    count, prefix = min(counts, key=lambda one: (-one[0], len(one[1].module) + len(one[1].bundle), one[1].module, one[1].bundle))
    return prefix, count


def unmatched_hint(modules, layers, prefix):
    """What to say where the bundle has layers of which no module of the network is, by this prefix; empty where each has its module."""
    found = {prefix.layer(module) for module in modules}
    missing = sorted(layer for layer in layers if layer not in found)
    if not missing:
        return ""
    if len(missing) < len(layers):
        return f"{len(missing)} of {len(layers)} layers of the bundle have no module here: {', '.join(missing[:3])}{', ..' if len(missing) > 3 else ''}"
    if not modules:
        return f"the network has no nn.Linear and no nn.Conv2d for the {len(layers)} layers of the bundle, the first of which is {missing[0]}"
    other, count = find_prefix(modules, layers)
    names = f"the bundle has names such as {missing[0]}, the network such as {modules[0]}{ENDING}"
    if other is None:
        return f"no layer of the bundle has a module here: {names}; generate the bundle from this network's checkpoint"
    return (f"no layer of the bundle has a module here: {names}; what the bundle has before it is \"{other.bundle}\", the network \"{other.module}\": "
            f"replace_linear(model, folder, {other}) finds {count} of {len(layers)} layers")
