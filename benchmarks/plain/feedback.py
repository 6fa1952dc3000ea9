"""
The feedback transformer as one would first write it down: a list of memories, stacked anew at every step.

Parameter names are those of `labml_nn.transformers.feedback`. The tables of distances have 4,096 rows, as those
of the implementation that people use; `kv_from` puts ours into the last ones.
"""

import copy
import math

import torch
from torch import Tensor, nn

from labml_nn.transformers import feedback


class Projection(nn.Module):
    """A linear map, cut into heads."""

    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.linear = nn.Linear(d_model, d_model, bias=False)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.linear(x)
        return projected.view(*x.shape[:-1], self.heads, -1)


class FeedbackAttention(nn.Module):
    """One query against `key, value: [seq_len, batch_size, heads, d_k]`, as far back as the tables reach."""

    def __init__(self, heads: int, d_model: int, positions: int = 4096):
        super().__init__()
        d_k = d_model // heads
        self.query = Projection(d_model, heads)
        self.output = nn.Linear(d_model, d_model)
        self.key_pos_embeddings = nn.Parameter(torch.zeros(positions, heads, d_k))
        self.key_pos_bias = nn.Parameter(torch.zeros(positions, heads))
        self.query_pos_bias = nn.Parameter(torch.zeros(heads, d_k))
        self.scale = 1 / math.sqrt(d_k)

    def forward(self, *, query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        n = len(key)
        query = self.query(query)
        scores = torch.einsum("bhd,jbhd->jbh", query + self.query_pos_bias, key)
        scores = scores + torch.einsum("bhd,jhd->jbh", query, self.key_pos_embeddings[-n:])
        scores = scores + self.key_pos_bias[-n:].unsqueeze(1)
        attn = (scores * self.scale).softmax(dim=0)
        x = torch.einsum("jbh,jbhd->bhd", attn, value)
        result: Tensor = self.output(x.flatten(-2))
        return result


class FeedbackTransformerLayer(nn.Module):
    """Attention to the memory where there is one, then a feed-forward network; both normalised first."""

    def __init__(self, d_model: int, attn: FeedbackAttention, feed_forward: nn.Module):
        super().__init__()
        self.attn = attn
        self.feed_forward = feed_forward
        self.norm_self_attn = nn.LayerNorm(d_model)
        self.norm_ff = nn.LayerNorm(d_model)

    def forward(self, x: Tensor, key: Tensor | None, value: Tensor | None) -> Tensor:
        if key is not None and value is not None:
            x = x + self.attn(query=self.norm_self_attn(x), key=key, value=value)
        thought: Tensor = self.feed_forward(self.norm_ff(x))
        return x + thought


class FeedbackTransformerKV(nn.Module):
    """The model of Fan et al. 2020 with one key and one value of each memory for all layers."""

    def __init__(self, layer: FeedbackTransformerLayer, n_layers: int, d_model: int, heads: int):
        super().__init__()
        self.layers = nn.ModuleList([copy.deepcopy(layer) for _ in range(n_layers)])
        self.norm = nn.LayerNorm(d_model)
        self.weights = nn.Parameter(torch.ones(n_layers + 1))
        self.key = Projection(d_model, heads)
        self.value = Projection(d_model, heads)

    def forward(self, x_seq: Tensor) -> Tensor:
        keys: list[Tensor] = []
        values: list[Tensor] = []
        results = []
        for x in x_seq:
            key = torch.stack(keys) if keys else None
            value = torch.stack(values) if values else None
            outputs = [x]
            for layer in self.layers:
                x = layer(x, key, value)
                outputs.append(x)
            memory = torch.einsum("lbd,l->bd", torch.stack(outputs), self.weights.softmax(dim=0))
            keys.append(self.key(memory))
            values.append(self.value(memory))
            results.append(x)
        normed: Tensor = self.norm(torch.stack(results))
        return normed


def kv_from(ours: feedback.FeedbackTransformerKV, positions: int = 4096) -> FeedbackTransformerKV:
    """The same weights. With `positions`, tables of that length; the feed-forward network is a copy of ours."""
    first = ours.all_layers[0]
    attn = FeedbackAttention(first.attn.heads, ours.d_model, positions)
    layer = FeedbackTransformerLayer(ours.d_model, attn, copy.deepcopy(first.feed_forward))
    plain = FeedbackTransformerKV(layer, ours.n_layers, ours.d_model, first.attn.heads)
    state = dict(ours.state_dict())
    for name, table in state.items():
        if "key_pos" in name and len(table) <= positions:
            farther = table[:1].expand(positions - len(table), *table.shape[1:])
            state[name] = torch.cat([farther, table])
    plain.load_state_dict(state)
    return plain.to(ours.weights.device, ours.weights.dtype)
