#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trains a small network on handwritten digits, prunes its hidden layer, and writes that layer as Matrix Market text.

The network is 64 -> 256 -> 512 -> 10. The layer in the middle, 512 x 256 and about 86 % of the parameters, is the one
that is pruned: gradually, by magnitude, while the network trains on; a last stretch of training with the pattern fixed
lets the surviving weights make up for the removed ones.

The same network is trained a second time without pruning, from the same start and for as long, to compare with.
"""

import argparse
import pathlib

import numpy as np
from sklearn.datasets import load_digits

WIDTHS = (64, 256, 512, 10)
HIDDEN = 1  # the layer that is pruned: WIDTHS[1] inputs, WIDTHS[2] outputs
TEST_IMAGES = 449  # a quarter of the 1797
BATCH = 64
EPOCHS = 90
PRUNING_EPOCHS = (20, 60)  # dense before, fine-tuning after
LEARNING_RATE = 1e-3
WEIGHT_DECAY = 1e-2


def load(seed):
    """Images scaled to [0, 1] and their labels: for training, then for testing."""
    digits = load_digits()
    images = (digits.data / 16).astype(np.float32)
    order = np.random.default_rng(seed).permutation(len(images))
    test, train = order[:TEST_IMAGES], order[TEST_IMAGES:]
    return images[train], digits.target[train], images[test], digits.target[test]


def forward(weights, biases, images):
    """Activations of every layer, the input first and the logits last. Weights are [outputs, inputs]."""
    activations = [images]
    for layer, (weight, bias) in enumerate(zip(weights, biases)):
        sums = activations[-1] @ weight.T + bias
        activations.append(sums if layer == len(weights) - 1 else np.maximum(sums, 0))
    return activations


def gradients(weights, activations, labels):
    """Gradients of the mean cross-entropy: of the weights, then of the biases."""
    logits = activations[-1]
    delta = np.exp(logits - logits.max(axis=1, keepdims=True))
    delta /= delta.sum(axis=1, keepdims=True)
    delta[np.arange(len(labels)), labels] -= 1
    delta /= np.float32(len(labels))
    of_weights, of_biases = [], []
    for layer in reversed(range(len(weights))):
        of_weights.insert(0, delta.T @ activations[layer])
        of_biases.insert(0, delta.sum(axis=0))
        delta = (delta @ weights[layer]) * (activations[layer] > 0)
    return of_weights, of_biases


def accuracy(weights, biases, images, labels):
    return np.mean(forward(weights, biases, images)[-1].argmax(axis=1) == labels)


def sparsity_after(epoch, target):
    """The cubic ramp of Zhu and Gupta (2017): fast while many weights are redundant, slow near the target."""
    first, last = PRUNING_EPOCHS
    progress = np.clip((epoch + 1 - first) / (last - first), 0, 1)
    return target * (1 - (1 - progress) ** 3)


def smallest_removed(weight, sparsity):
    """A mask that is False at exactly the given share of the weights, the smallest ones. Zeros stay removed."""
    removed = np.argsort(np.abs(weight), axis=None, kind="stable")[: round(sparsity * weight.size)]
    mask = np.ones(weight.size, dtype=bool)
    mask[removed] = False
    return mask.reshape(weight.shape)


def train(images, labels, target_sparsity, seed):
    """Adam with decoupled weight decay; the learning rate falls along a cosine."""
    rng = np.random.default_rng(seed)
    weights = [rng.normal(0, np.sqrt(2 / inputs), (outputs, inputs)).astype(np.float32)
               for inputs, outputs in zip(WIDTHS, WIDTHS[1:])]
    biases = [np.zeros(outputs, dtype=np.float32) for outputs in WIDTHS[1:]]
    parameters = weights + biases
    means = [np.zeros_like(parameter) for parameter in parameters]
    squares = [np.zeros_like(parameter) for parameter in parameters]
    mask = np.ones(weights[HIDDEN].shape, dtype=bool)
    step = 0
    for epoch in range(EPOCHS):
        rate = np.float32(LEARNING_RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS)))
        order = rng.permutation(len(images))
        for start in range(0, len(order), BATCH):
            batch = order[start:start + BATCH]
            of_weights, of_biases = gradients(weights, forward(weights, biases, images[batch]), labels[batch])
            step += 1
            for parameter, gradient, mean, square in zip(parameters, of_weights + of_biases, means, squares):
                mean += np.float32(0.1) * (gradient - mean)
                square += np.float32(0.001) * (gradient * gradient - square)
                scale = np.float32(np.sqrt(1 - 0.999**step) / (1 - 0.9**step))
                decay = WEIGHT_DECAY if parameter.ndim == 2 else 0
                direction = scale * mean / (np.sqrt(square) + np.float32(1e-8))
                parameter -= rate * (direction + np.float32(decay) * parameter)
            # Assigned, not multiplied by the mask, so that a removed weight is +0 and never -0.
            weights[HIDDEN][~mask] = 0
        mask = smallest_removed(weights[HIDDEN], sparsity_after(epoch, target_sparsity))
        weights[HIDDEN][~mask] = 0
    return weights, biases


def write_matrix_market(path, weight, comments):
    """Coordinates count from 1. str() of a float32 is the shortest text that reads back as the same float32."""
    rows, columns = np.nonzero(weight)
    with open(path, "w", encoding="ascii", newline="\n") as file:
        file.write("%%MatrixMarket matrix coordinate real general\n")
        file.writelines(f"% {comment}\n" for comment in comments)
        file.write(f"{weight.shape[0]} {weight.shape[1]} {len(rows)}\n")
        file.writelines(f"{row + 1} {column + 1} {str(weight[row, column])}\n" for row, column in zip(rows, columns))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).with_name("hidden.mtx"),
                        help="where the pruned layer goes (default: hidden.mtx beside this file)")
    parser.add_argument("--sparsity", type=float, default=0.9,
                        help="share of zeros in the layer (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1,
                        help="of the split, the start and the batches (default: %(default)s)")
    arguments = parser.parse_args()

    images, labels, test_images, test_labels = load(arguments.seed)
    for name, sparsity in ("dense", 0), ("pruned", arguments.sparsity):
        weights, biases = train(images, labels, sparsity, arguments.seed)
        share = accuracy(weights, biases, test_images, test_labels)
        print(f"{name}: {share:.2%} of {len(test_labels)} test images, "
              f"{accuracy(weights, biases, images, labels):.2%} of {len(labels)} training images")

    hidden = weights[HIDDEN]
    assert np.isfinite(hidden).all()
    lengths = np.count_nonzero(hidden, axis=1)
    print(f"hidden layer: {hidden.shape[0]} x {hidden.shape[1]}, {lengths.sum()} nonzeros, "
          f"{1 - lengths.sum() / hidden.size:.2%} zeros")
    print(f"row lengths: least {lengths.min()}, median {np.median(lengths):g}, mean {lengths.mean():.1f}, "
          f"most {lengths.max()}, standard deviation {lengths.std():.1f}; {np.count_nonzero(lengths == 0)} empty rows, "
          f"{np.count_nonzero(~hidden.any(axis=0))} empty columns")
    write_matrix_market(arguments.output, hidden, [
        "Hidden layer (outputs x inputs) of a network for handwritten digits, pruned by magnitude.",
        "Written by train.py; the README.md beside it says how."])


if __name__ == "__main__":
    main()
