"""What the axes of recorded shapes are called, and how much of a page is claimed."""

from __future__ import annotations

import pytest

from .claiming import Judged, judged

SOURCE = r'''
from typing import NamedTuple

import numpy as np


def claimed(x):
    """
    * `x: [seq_len, batch_size, d_model]`

    >>> _ = claimed(np.ones((7, 2, 15)))
    """
    a = x.swapaxes(0, 1)
    # `b: [2 * seq_len, batch_size, d_model]`
    b = np.concatenate([x, x])
    c = x[:, :1]
    d = np.ones((7, 4))
    return a


def ambiguous(x):
    """
    * `x: [rows, columns]`

    >>> ambiguous(np.ones((3, 3)))
    """
    e = x + 1
    # `f: [columns]`
    f = x[0]


def decided(x):
    """
    * `x: [rows, columns]`

    >>> decided(np.ones((3, 3)))
    >>> decided(np.ones((2, 3)))
    """
    g = x + 1


def broadcast(x, mask):
    """
    * `x: [rows, columns]`
    * `mask: [rows or 1, columns or 1]`

    >>> broadcast(np.ones((7, 3)), np.ones((7, 1)))
    >>> broadcast(np.ones((7, 3)), np.ones((1, 1)))
    """


class Layer:
    """
    >>> layer = Layer(5)
    >>> _ = layer.grow(np.ones((7, 5, 4, 11)), 4)
    """

    def __init__(self, d_model):
        self.d_model = d_model
        self.eleven = self.also_eleven = 11

    def grow(self, x, depth):
        h = x + 1
        depth_again = [depth]
        return h


def several(x):
    """
    * `x: [..., d_model]`

    >>> several(np.ones((2, 5)))
    >>> several(np.ones((7, 5)))
    >>> several(np.ones((7, 2, 5)))
    """
    # `i: [..., d_model]`
    i = x + 1
    j = x + 1


def leading(x):
    """
    * `x: [seq_len, ...]`

    >>> leading(np.ones((2, 5)))
    >>> leading(np.ones((7, 3, 5)))
    """
    k = x + 1


def without(x):
    """
    >>> without(np.ones((2, 5)))
    >>> without(np.ones((7, 5)))
    """
    m = x + 1


def chunks(x):
    """
    * `x: [n]`

    >>> chunks(np.ones(10))
    >>> chunks(np.ones(11))
    """
    for size in (4, 4, 2):
        # `part: [size]`
        part = x[:size]
        o = part[:, None]


def refused(x):
    """
    * `x: [n]`

    >>> refused(np.ones(7))
    >>> refused(np.ones((7, 2)))
    Traceback (most recent call last):
    ValueError: two axes
    """
    p = x + 1
    if x.ndim > 1:
        raise ValueError("two axes")


class State(NamedTuple):
    """The past."""

    # `key: [seq_len, d_k]`
    key: np.ndarray
    # `value: [seq_len, d_v]`
    value: np.ndarray
    # `seen: [seq_len]`
    seen: np.ndarray


def remember(state):
    """
    * `state.key: [n, d_k]`
    * `return.value: [n, d_k]`

    >>> state = State(np.ones((7, 5)), np.ones((7, 3)), np.ones(5))
    >>> _ = remember(state)
    """
    return state


def public(x: np.ndarray, mask: "np.ndarray | None" = None, n: int = 1) -> np.ndarray:
    """
    * `x: [n, n]`

    >>> _ = public(np.ones((1, 1)))
    """
    # `y: [n, n]`
    y = x
    z = x
    w = 1
    return y


def _private(x: np.ndarray) -> np.ndarray:
    return x
'''


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return judged(tmp_path_factory.mktemp("names"), SOURCE)


def test_names_that_claims_have_bound_are_used_in_the_whole_call(page: Judged) -> None:
    assert page.arguments("claimed") == {"x": "seq_len batch_size d_model"}
    assert page.axes("a = ") == {"a": "batch_size seq_len d_model"}
    assert page.result("claimed") == "batch_size seq_len d_model"


def test_a_claim_names_its_own_axes_as_it_is_typed(page: Judged) -> None:
    assert page.axes("b = ") == {"b": "2 * seq_len batch_size d_model"}


def test_one_and_numbers_without_a_name_stay_numbers(page: Judged) -> None:
    assert page.axes("c = ") == {"c": "seq_len 1 d_model"}
    assert page.axes("d = ") == {"d": "seq_len 4"}


def test_a_number_with_two_names_has_none_unless_a_claim_says_which(page: Judged) -> None:
    assert page.axes("e = ") == {"e": "3 3"}
    assert page.axes("f = ") == {"f": "columns"}


def test_another_call_can_decide_which_name_it_is(page: Judged) -> None:
    assert page.axes("g = ") == {"g": "rows columns"}


def test_integers_of_the_frame_and_of_self_name_axes_if_there_is_only_one(page: Judged) -> None:
    assert page.axes("h = ") == {"h": "7 d_model depth 11"}


def test_what_differs_between_calls_and_has_no_name_is_marked_so(page: Judged) -> None:
    assert page.axes("m = ") == {"m": "? 5"}
    assert [shape.sizes for shape in page.shapes("m = ")] == [((2, 5), (7, 5))]


def test_axes_that_three_dots_stand_for_are_three_dots_where_they_differ(page: Judged) -> None:
    assert page.arguments("several") == {"x": "... d_model"}
    assert page.axes("i = ") == {"i": "... d_model"}
    assert page.arguments("leading") == {"x": "seq_len ..."}


def test_an_axis_that_is_either_of_two_is_told_so_where_calls_differ(page: Judged) -> None:
    assert page.arguments("broadcast") == {"x": "rows columns", "mask": "rows or 1 columns or 1"}


def test_of_shapes_with_different_numbers_of_axes_the_common_end_is_named(page: Judged) -> None:
    assert page.axes("j = ") == {"j": "... d_model"}
    assert page.axes("k = ") == {"k": "... 5"}


def test_in_a_loop_names_have_the_numbers_of_that_round(page: Judged) -> None:
    assert page.axes("part = ") == {"part": "size"}
    assert page.axes("o = ") == {"o": "size 1"}


def test_what_only_a_refused_call_had_is_not_told(page: Judged) -> None:
    assert page.axes("p = ") == {"p": "n"}
    assert page.arguments("refused") == {"x": "n"}
    assert [shape.sizes for shape in page.shapes("p = ")] == [((7,),)]


def test_fields_of_a_named_tuple_are_held_against_every_one_that_was_seen(page: Judged) -> None:
    assert page.verdicts("State") == {
        "key: [seq_len, d_k]": "proven",
        "value: [seq_len, d_v]": "proven",
        "seen: [seq_len]": "false",
    }


def test_members_of_a_named_tuple_are_claimed_by_their_names(page: Judged) -> None:
    assert page.verdicts("remember") == {"state.key: [n, d_k]": "proven", "return.value: [n, d_k]": "false"}


def test_coverage_lists_public_tensors_without_a_claim(page: Judged) -> None:
    missing = page.coverage.missing
    assert [one for one in missing if one.startswith(("public", "_private"))] == [
        "public: mask",
        "public: return",
    ]
    assert "without: x" in missing


def test_coverage_counts_the_assignments_of_tensors_that_have_a_claim(page: Judged) -> None:
    # Of the letters a to p without l and n, y and z, and `part`: b, f, i, y and `part`.
    assert (page.coverage.claimed, page.coverage.assignments) == (5, 17)
