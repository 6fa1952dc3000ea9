"""AFT-local as one would first write it down: a full table of biases, one maximum for all keys."""

import torch
from torch import Tensor, nn

from labml_nn.transformers import aft


class AFTLocal(nn.Module):
    """Equation 2 of Zhai et al. 2021, with a bias of zero outside the window."""

    def __init__(self, d_model: int, seq_len: int, local_window_size: int, bias: bool = True) -> None:
        super().__init__()
        self.query = nn.Linear(d_model, d_model, bias=bias)
        self.key = nn.Linear(d_model, d_model, bias=bias)
        self.value = nn.Linear(d_model, d_model, bias=bias)
        self.output = nn.Linear(d_model, d_model)
        self.pos_bias = nn.Parameter(torch.zeros(seq_len, seq_len))
        place = torch.arange(seq_len)
        inside = (place[:, None] - place).abs() < local_window_size
        self.register_buffer("local_mask", inside, persistent=False)

    def forward(self, *, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None) -> Tensor:
        query, key, value = self.query(query), self.key(key), self.value(value)
        table = self.pos_bias * self.get_buffer("local_mask")
        table = table[: len(query), : len(key), None]
        if mask is not None:
            table = table.masked_fill(~mask, -torch.inf)
        exp_bias = (table - table.amax(dim=1, keepdim=True)).exp()
        exp_key = (key - key.amax(dim=0, keepdim=True)).exp()
        numerator = torch.einsum("ijb,jbd->ibd", exp_bias, exp_key * value)
        denominator = torch.einsum("ijb,jbd->ibd", exp_bias, exp_key)
        y: Tensor = self.output(torch.sigmoid(query) * numerator / denominator)
        return y


def local_from(ours: aft.AFTLocal) -> AFTLocal:
    """The same weights, the band of biases spread out into a table."""
    d_model, seq_len = ours.d_model, ours.seq_len
    plain = AFTLocal(d_model, seq_len, ours.window, bias=ours.query.bias is not None)
    state = dict(ours.state_dict())
    state["pos_bias"] = ours.get_bias(seq_len, seq_len)[0].detach()
    plain.load_state_dict(state)
    return plain.to(ours.pos_bias.device, ours.pos_bias.dtype)
