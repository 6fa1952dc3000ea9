"""
The delta rule position by position, each with its own read, outer product and read.

Parameter names are those of `labml_nn.transformers.fast_weights`, so a state of ours loads as it is.
"""

import torch
from torch import Tensor, nn


class Projection(nn.Module):
    """A linear map without bias, cut into heads."""

    def __init__(self, d_model: int, heads: int, width: int):
        super().__init__()
        self.linear = nn.Linear(d_model, heads * width, bias=False)
        self.heads = heads

    def forward(self, x: Tensor) -> Tensor:
        projected: Tensor = self.linear(x)
        return projected.view(*x.shape[:-1], self.heads, -1)


def dpfp(k: Tensor, nu: int, eps: float) -> Tensor:
    """Products of shifted entries of relu([k, -k]), divided by their sum."""
    r = torch.relu(torch.cat([k, -k], dim=-1))
    shifted = torch.cat([torch.roll(r, i, dims=-1) for i in range(1, nu + 1)], dim=-1)
    phi = torch.cat([r] * nu, dim=-1) * shifted
    return phi / (phi.sum(dim=-1, keepdim=True) + eps)


class FastWeightsAttention(nn.Module):
    """`x: [seq_len, batch_size, d_model]` to the same shape; `step` takes the state [batch, heads, d_v, d_phi]."""

    def __init__(self, heads: int, d_model: int, nu: int = 1, eps: float = 1e-6):
        super().__init__()
        d_k = d_model // heads
        self.query = Projection(d_model, heads, d_k)
        self.key = Projection(d_model, heads, d_k)
        self.value = Projection(d_model, heads, d_k)
        self.gate = Projection(d_model, heads, 1)
        self.output = nn.Linear(d_model, d_model)
        self.nu, self.eps = nu, eps

    def step(self, x: Tensor, weights: Tensor | None = None) -> tuple[Tensor, Tensor]:
        query = dpfp(self.query(x), self.nu, self.eps)
        key = dpfp(self.key(x), self.nu, self.eps)
        value, beta = self.value(x), torch.sigmoid(self.gate(x))
        if weights is None:
            weights = key.new_zeros(*key.shape[1:3], value.shape[-1], key.shape[-1])
        outputs = []
        for t in range(x.shape[0]):
            recalled = torch.einsum("bhvk,bhk->bhv", weights, key[t])
            error = beta[t] * (value[t] - recalled)
            weights = weights + torch.einsum("bhv,bhk->bhvk", error, key[t])
            outputs.append(torch.einsum("bhvk,bhk->bhv", weights, query[t]))
        return self.output(torch.stack(outputs).flatten(2)), weights

    def forward(self, x: Tensor) -> Tensor:
        return self.step(x)[0]
