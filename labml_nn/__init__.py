r"""
---
title: Annotated neural networks
summary: Deep-learning papers as PyTorch code that is written to be read, and runs.
order: [transformers, data, experiments, utils]
---
# Annotated neural networks

A paper says what a network computes. Its code says how. That the two are the same is for the
reader to find out, and it can take days.

Here each idea is one Python module, written to be read from top to bottom. The note tells the idea
and gives the equation; the code beside it does what the note says. Nothing is left out to make it
look simple. What you read is the file that you import:

>>> import torch
>>> from labml_nn.transformers import MultiHeadAttention
>>> attention = MultiHeadAttention(heads=3, d_model=15)
>>> x = torch.randn(7, 2, 15)
>>> attention(query=x, key=x, value=x).shape
torch.Size([7, 2, 15])

## How to read a page

Notes and code go side by side, and a note speaks of the lines beside it. Where the window is too
narrow for two columns, it stands above them.

Start with the notes alone: they make sense without the code. Then read the code, and go back to a
note where a line surprises you.

A list of names, such as `[seq_len, batch_size, d_model]`, is the shape of a tensor, axis by axis.
Sequences have their positions first, then the batch, then the width. Where a name comes twice in
a note, it is the same number.

A mask is true where something may be seen.

Where many have gone wrong before, the page goes wrong on purpose: it shows the mistake, what comes
of it, and the way that works. Both ways run.

## What you can rely on

**Examples.** Lines that begin with `>>>` are run by the test suite, and must print what stands
below them. Their sizes differ, so that no axis can pass for another.

**Values.** Each model is checked, in value and gradient, against something that was not written
here: a layer of PyTorch's own, or the published formula in plain loops and double precision. The
checks are in the folder `tests/labml_nn`.

**Sources.** A claim that is not shown on the page comes with the paper and the section, equation
or table where you can look it up.

## Where to begin

[Transformers](transformers/index.html) start with [multi-head attention](transformers/mha.html).

To see a model learn, train one. It takes minutes on a laptop, and no download:

    python -m labml_nn train basic --steps 300

The [text](data/index.html) is one that every machine has, and the
[training loop](experiments/index.html) is made to be read as well.
"""
