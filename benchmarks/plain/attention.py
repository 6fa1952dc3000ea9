"""Attention as its equation has it: a table of scores, a mask laid over it, a softmax over the second axis."""

import math

import torch
from torch import Tensor, nn


class Projection(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        return self.linear(x).view(*x.shape[:-1], self.heads, -1)


class MultiHeadAttention(nn.Module):
    """The parameter names of `labml_nn.transformers.mha`."""

    def __init__(self, heads: int, d_model: int):
        super().__init__()
        self.query = Projection(d_model, heads)
        self.key = Projection(d_model, heads)
        self.value = Projection(d_model, heads)
        self.output = nn.Linear(d_model, d_model)
        self.scale = 1 / math.sqrt(d_model // heads)

    def forward(self, *, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.query(query), self.key(key), self.value(value)
        scores = torch.einsum("ibhd,jbhd->ijbh", query, key) * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-1), float("-inf"))
        attn = scores.softmax(dim=1)
        x = torch.einsum("ijbh,jbhd->ibhd", attn, value)
        return self.output(x.flatten(-2))
