# SPDX-License-Identifier: Apache-2.0
"""What became of each layer of a model."""

import dataclasses
import json
import pathlib


@dataclasses.dataclass(frozen=True)
class Measurement:
    """Microseconds of one product of so many tokens: dense, by the bundle's kernel and, where the layer can be unpacked,
    dense after unpacking."""

    tokens: int
    dense: float
    sparse: float
    unpacked: float = None


@dataclasses.dataclass(frozen=True)
class LayerReport:
    """A layer that the bundle has kernels for. `measurements` are empty, and `difference`, the largest from a product of float64, None where
    it could not be replaced; `kept` says why it is dense, and is None where it was replaced. Products of more tokens than
    `dense_above` are dense: with a weight that is unpacked for each where `unpacks` is set, else with one that stays
    beside the packed one; of none where it is None. `tied` says that the dense weight is another module's, too, so that
    it stays whatever the layer does. `tensor` is the layer's name in the bundle, where that is not NAME.weight."""

    name: str
    m: int
    k: int
    sparsity: float
    dense_bytes: int
    packed_bytes: int
    measurements: tuple
    difference: float
    kept: str
    dense_above: int = None
    tensor: str = None
    unpacks: bool = False
    tied: bool = False

    @property
    def bundle_name(self):
        return self.tensor or f"{self.name}.weight"

    def in_use(self, measurement):
        """Microseconds of the product that the model has now."""
        if self.kept is not None:
            return measurement.dense
        if self.dense_above is None or measurement.tokens <= self.dense_above:
            return measurement.sparse
        return measurement.unpacked if self.unpacks else measurement.dense

    @property
    def bytes_in_use(self):
        keeps_dense = self.kept is not None or self.tied or (self.dense_above is not None and not self.unpacks)
        return (self.dense_bytes if keeps_dense else 0) + (self.packed_bytes if self.kept is None else 0)


@dataclasses.dataclass(frozen=True)
class Report:
    """Of all layers, measured on the GPU of this name. str() says what the weights take, and the model by its number of
    tokens, above a table with times in microseconds. `hint` says which layers of the bundle the model does not have, and
    how it may be called to have them. `weights` are how often the model multiplies with each number of tokens, where that
    was said."""

    layers: tuple
    gpu: str = "GPU"
    hint: str = ""
    weights: dict = None

    @property
    def replaced(self):
        return sum(layer.kept is None for layer in self.layers)

    @property
    def dense_bytes(self):
        return sum(layer.dense_bytes for layer in self.layers)

    @property
    def bytes_in_use(self):
        return sum(layer.bytes_in_use for layer in self.layers)

    def totals(self):
        """(tokens, microseconds dense, microseconds now) of all layers that were measured with so many tokens."""
        found = {}
        for layer in self.layers:
            for one in layer.measurements:
                dense, now = found.get(one.tokens, (0.0, 0.0))
                found[one.tokens] = (dense + one.dense, now + layer.in_use(one))
        return [(tokens, *times) for tokens, times in sorted(found.items())]

    def weighted_total(self):
        """(microseconds dense, microseconds now) of all layers and numbers of tokens, each as often as its weight says;
        None without weights."""
        if not self.weights:
            return None
        return tuple(sum(self.weights[tokens] * times[at] for tokens, *times in self.totals()) for at in (0, 1))

    def save(self, path):
        """Writes what was measured, for `escgen report BUNDLE --measured PATH`. Keys are those of `--json`; the keys of the
        release before are beside them."""
        content = {
            "format_version": 1,
            "kind": "measured layers",
            "status": "done",
            "gpu": self.gpu,
            "dense_bytes": self.dense_bytes,
            "bytes_in_use": self.bytes_in_use,
            "layers_by_name": {layer.bundle_name: self._saved(layer) for layer in self.layers},
            "layers": {layer.bundle_name: self._saved_as_before(layer) for layer in self.layers},
        }
        pathlib.Path(path).write_text(json.dumps(content, indent=2) + "\n")

    @staticmethod
    def _saved(layer):
        return {
            "rows": layer.m,
            "columns": layer.k,
            "sparsity": layer.sparsity,
            "dense_bytes": layer.dense_bytes,
            "packed_bytes": layer.packed_bytes,
            "bytes_in_use": layer.bytes_in_use,
            "kept": layer.kept,
            "dense_above": None if layer.unpacks else layer.dense_above,
            "products": [
                {
                    "bcol": one.tokens,
                    "dense_microseconds": one.dense,
                    "esc_microseconds": layer.in_use(one) if layer.unpacks else one.sparse,
                }
                for one in layer.measurements
            ],
        }

    @staticmethod
    def _saved_as_before(layer):
        saved = Report._saved(layer)
        products = [
            {"columns": one["bcol"], "dense_us": one["dense_microseconds"], "esc_us": one["esc_microseconds"]} for one in saved["products"]
        ]
        return {"kept": saved["kept"], "dense_above": saved["dense_above"], "products": products}

    def __str__(self):
        width = max([len(layer.name) for layer in self.layers] + [5])
        lines = [f"weights take {self.bytes_in_use / 1e9:.3g} GB, before {self.dense_bytes / 1e9:.3g} GB; "
                 f"{self.replaced} of {len(self.layers)} layers replaced"]
        for tokens, dense, now in self.totals():
            lines.append(f"{tokens} tokens: {dense:.1f} us dense, {now:.1f} us now, {dense / now:.2f} x")
        if self.weights and self.totals():
            dense, now = self.weighted_total()
            mix = ", ".join(f"{weight:g} x {tokens}" for tokens, weight in self.weights.items())
            lines.append(f"weighted ({mix} tokens): {dense:.1f} us dense, {now:.1f} us now, {dense / now:.2f} x")
        lines.append("")
        lines += [f"{'layer':<{width}}  {'shape':>13}  {'% zeros':>7}  {'tokens':>6}  {'dense us':>8}  {'esc us':>7}  {'speed-up':>8}  "
                 f"{'bytes':>5}  {'difference':>10}"]
        for layer in self.layers:
            head = f"{layer.name:<{width}}  {f'{layer.m} x {layer.k}':>13}  {100 * layer.sparsity:>7.2f}"
            tail = f"  {layer.packed_bytes / layer.dense_bytes:>5.2f}  " + (f"{layer.difference:>10.1e}" if layer.measurements else "")
            for number, one in enumerate(layer.measurements):
                start = head if number == 0 else " " * len(head)
                end = tail + self._fate(layer) if number == 0 else ""
                lines.append(f"{start}  {one.tokens:>6}  {one.dense:>8.2f}  {one.sparse:>7.2f}  {one.dense / one.sparse:>8.2f}{end}")
            if not layer.measurements:
                lines.append(f"{head}  kept: {layer.kept}")
        if self.hint:
            lines.append(f"note: {self.hint}")
        return "\n".join(lines)

    @staticmethod
    def _fate(layer):
        if layer.kept:
            return f"  kept: {layer.kept}"
        above = "" if layer.dense_above is None else f"  {'unpacked' if layer.unpacks else 'dense'} above {layer.dense_above}"
        return above + ("  tied" if layer.tied else "")
