"""Relative attention as its equation has it: one table of scores, one shift, one softmax over the second axis."""

import math

import torch
from torch import Tensor, nn


class Projection(nn.Module):
    def __init__(self, d_model: int, heads: int, bias: bool):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model, bias=bias)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        x = self.linear(x)
        return x.view(*x.shape[:-1], self.heads, -1)


class RelativeMultiHeadAttention(nn.Module):
    """The learned table, and the parameter names of `labml_nn.transformers.relative_mha`."""

    def __init__(self, heads: int, d_model: int, dropout_prob: float = 0.1, *, max_len: int = 2**12):
        super().__init__()
        d_k = d_model // heads
        self.query = Projection(d_model, heads, bias=False)
        self.key = Projection(d_model, heads, bias=False)
        self.value = Projection(d_model, heads, bias=True)
        self.output = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout_prob)
        self.softmax = nn.Softmax(dim=1)
        self.scale = 1 / math.sqrt(d_k)
        self.max_len = max_len
        self.key_pos_embeddings = nn.Parameter(torch.zeros(2 * max_len, heads, d_k))
        self.key_pos_bias = nn.Parameter(torch.zeros(2 * max_len, heads))
        self.query_pos_bias = nn.Parameter(torch.zeros(heads, d_k))

    def scores(self, query: Tensor, key: Tensor) -> Tensor:
        n_queries, n_keys = query.shape[0], key.shape[0]
        rows = slice(self.max_len - n_keys, self.max_len + n_queries)
        words = torch.einsum("ibhd,jbhd->ijbh", query + self.query_pos_bias[None, None], key)
        places = torch.einsum("ibhd,jhd->ijbh", query, self.key_pos_embeddings[rows])
        places = places + self.key_pos_bias[rows][None, :, None, :]
        column = places.new_zeros(places.shape[0], 1, *places.shape[2:])
        padded = torch.cat([places, column], dim=1)
        shifted = padded.view(places.shape[1] + 1, places.shape[0], *places.shape[2:])[:-1].view_as(places)
        return words + shifted[:, -n_keys:]

    def forward(self, *, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        length, batch_size = query.shape[:2]
        query, key, value = self.query(query), self.key(key), self.value(value)
        scores = self.scores(query, key) * self.scale
        if mask is not None:
            scores = scores.masked_fill(~mask.unsqueeze(-1), float("-inf"))
        attn = self.dropout(self.softmax(scores))
        x = torch.einsum("ijbh,jbhd->ibhd", attn, value)
        mixed: Tensor = self.output(x.reshape(length, batch_size, -1))
        return mixed
