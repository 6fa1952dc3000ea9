"""What becomes of claims: functions of a page whose examples really ran, each with claims of one kind."""

from __future__ import annotations

from pathlib import Path

import pytest

from .claiming import Judged, judged, numbers

SOURCE = r'''
import numpy as np


def right(x, heads):
    """
    * `x: [seq_len, batch_size, d_model]`
    * `return: [seq_len, heads, batch_size * d_k]`

    >>> _ = right(np.ones((7, 2, 15)), heads=3)
    """
    # `y: [seq_len, batch_size, heads, d_k]`
    y = x.reshape(*x.shape[:2], heads, -1)
    # `y: [seq_len, heads, batch_size * d_k]`
    y = y.swapaxes(1, 2).reshape(x.shape[0], heads, -1)
    return y


def wrong_number(x):
    """
    >>> wrong_number(np.ones((7, 2)))
    """
    # `y: [14, 3]`
    y = x.ravel()[:, None]


def wrong_name(query, key):
    """
    * `query: [seq_len_q, d_k]`
    * `key: [seq_len_k, d_k]`

    >>> wrong_name(np.ones((7, 5)), np.ones((11, 5)))
    """
    # `scores: [seq_len_k, seq_len_q]`
    scores = query @ key.T


def wrong_rank(x):
    """
    * `x: [seq_len, batch_size]`

    >>> wrong_rank(np.ones((7, 2, 15)))
    """


def wrong_result(x):
    """
    * `x: [n, m]`
    * `return: [n, m]`

    >>> _ = wrong_result(np.ones((7, 2)))
    """
    return x.T


def integer_argument(x, d_model):
    """
    * `x: [seq_len, d_model]`

    >>> integer_argument(np.ones((7, 15)), d_model=16)
    """


def integer_variable(x):
    """
    >>> integer_variable(np.ones((7, 15)))
    """
    seq_len, d_model = x.shape
    # `y: [d_model, seq_len]`
    y = x + 1


class Layer:
    """
    * `weight: [d_out, d_in]`
    * `self.bias: [d_in]`
    * `d_out: []`

    >>> layer = Layer(np.ones((3, 5)), 3)
    >>> _ = layer.right(np.ones((7, 5)))
    >>> _ = layer.wrong(np.ones((7, 5)))
    """

    def __init__(self, weight, d_out):
        self.weight = weight
        self.bias = np.zeros(d_out)
        self.d_out, self.d_in = weight.shape

    def right(self, x):
        """
        * `x: [n, d_in]`
        * `return: [n, d_out]`
        """
        return x @ self.weight.T

    def wrong(self, x):
        """
        * `x: [n, d_out]`
        """


def one_is_one(x):
    """
    * `x: [n, 1]`

    >>> one_is_one(np.ones((7, 1)))
    >>> one_is_one(np.ones((7, 2)))
    """


def any_axes(x):
    """
    * `x: [..., d_model]`
    * `return: [batch_size, ..., d_model]`

    >>> _ = any_axes(np.ones((2, 7, 3, 15)))
    >>> _ = any_axes(np.ones((2, 15)))
    """
    return x + 1


def too_few_axes(x):
    """
    * `x: [a, ..., b]`

    >>> too_few_axes(np.ones(3))
    """


def solved(x):
    """
    * `x: [2 * s - 1]`

    >>> solved(np.ones(13))
    """
    # `y: [s + 1]`
    y = np.ones(8)
    # `z: [s]`
    z = np.ones(8)


def unsolvable(x):
    """
    * `x: [2 * s - 1]`

    >>> unsolvable(np.ones(12))
    """


def unknown_product(x):
    """
    * `x: [heads * d_k]`

    >>> unknown_product(np.ones(15))
    """
    # `y: [heads, d_k]`
    y = np.ones((3, 5))
    # `z: [d_k, heads]`
    z = np.ones((3, 5))


def impossible_product(x):
    """
    * `x: [2 * a * b]`

    >>> impossible_product(np.ones(15))
    """


def alternatives(x, mask=None):
    """
    * `x: [n, m]`
    * `mask: [n, n]`
    * `mask: [1, n]`
    * `mask: [n, 1]`

    >>> alternatives(np.ones((7, 2)))
    >>> alternatives(np.ones((7, 2)), np.ones((7, 7)))
    >>> alternatives(np.ones((7, 2)), np.ones((1, 7)))
    """


def no_alternative(x, mask):
    """
    * `x: [n, m]`
    * `mask: [n, n]`
    * `mask: [1, n]`

    >>> no_alternative(np.ones((7, 2)), np.ones((7, 5)))
    """


def either(x, mask):
    """
    * `x: [n, m]`
    * `mask: [n or 1, m or 1]`

    >>> either(np.ones((7, 2)), np.ones((7, 1)))
    >>> either(np.ones((7, 2)), np.ones((1, 2)))
    """
    # `seen: [n or 1, m or 1]`
    seen = mask > 0


def neither(x, mask):
    """
    * `x: [n, m]`
    * `mask: [n or 1, m]`

    >>> neither(np.ones((7, 2)), np.ones((3, 2)))
    """


def undecided(mask, x):
    """
    * `mask: [a, b]`
    * `mask: [b, a]`
    * `x: [a]`

    >>> undecided(np.ones((7, 2)), np.ones(2))
    """


def flattened(x):
    """
    * `x: [n, m]`

    >>> flattened(np.ones((7, 2)))
    """
    # `x: [n * m]`
    x = x.ravel()
    # `x: [n * m, 1]`
    x = x[:, None]


def written_twice(x):
    """
    * `x: [n, m]`

    >>> written_twice(np.ones((7, 2)))
    """
    # `y: [n, m]`
    y = x + 1
    y = y.T


def rebound(x, seq_len):
    """
    * `x: [seq_len, m]`
    * `return: [seq_len, m]`

    >>> _ = rebound(np.ones((7, 2)), seq_len=7)
    """
    # `x: [seq_len, m]`
    x = np.pad(x, ((0, 1), (0, 0)))
    seq_len = len(x)
    # `y: [seq_len, m]`
    y = x + 1
    # `old: [seq_len, m]`
    old = x[:-1]
    return y


def shrinking(x, sizes):
    """
    * `x: [n, m]`

    >>> shrinking(np.ones((9, 2)), [4, 2, 2])
    """
    for size in sizes:
        # * `part: [k, m]`
        # * `scores: [k, k]`
        part = x[:size]
        scores = part @ part.T
        # `wrong: [n, k]`
        wrong = scores


def loop_number(x):
    """
    >>> loop_number(np.ones((9, 2)))
    """
    for n in (3, 5, 3):
        # `part: [n, 2]`
        part = x[:n]
        # `wrong: [n]`
        wrong = np.ones(5)


def after_loop(x):
    """
    >>> after_loop(np.ones((9, 2)))
    """
    for size in (4, 2):
        # `part: [k, m]`
        part = x[:size]
    # `last: [k, 1]`
    last = part[:, :1]
    # `other: [k, 1]`
    other = x[:, :1]


def arms(x):
    """
    >>> arms(np.ones((9, 2)))
    """
    for size in (4, 2, 4, 3):
        if size > 2:
            # `large: [k]`
            large = np.ones(size)
        else:
            # `small: [k]`
            small = np.ones(size)


def outside(x):
    """
    * `x: [n]`

    >>> outside(np.ones(7))
    """
    while len(x) > 4:
        # `x: [n]`
        x = x[:-2]


def refused(x):
    """
    * `x: [n, m]`

    >>> refused(np.ones((7, 2)))
    >>> refused(np.ones(7))
    Traceback (most recent call last):
    ValueError: one axis
    """
    if x.ndim == 1:
        raise ValueError("one axis")


def never(x):
    """
    * `x: [n, m]`
    """


def part_ran(x):
    """
    >>> part_ran(np.ones(7))
    """
    if len(x) > 9:
        # `y: [n]`
        y = x


def pair(x):
    """
    * `return: [n, m]`

    >>> _ = pair(np.ones((7, 2)))
    """
    return x, [x.T]


def several(x):
    """
    * `x: [n]`

    >>> several([1, 2, 3])
    """
    # `total: []`
    total = sum(x)
    # `y: [n]`
    y = "not a shape"


def beside_return(x):
    """
    * `x: [n, m]`

    >>> _ = beside_return(np.ones((7, 2)))
    """
    # `return: [n, n]`
    return x.T


def strangers(x):
    """
    * `y: [n]`
    * `querry: [n]`

    >>> strangers(np.ones(7))
    """
    # `x: [n]`
    y = x


def inner(x):
    """
    >>> inner(np.ones(7))
    """
    values = dict(
        # `values: [n]`
        x=x,
    )
    first, *rest = (
        # `first: [n, 1]`
        x[:, None],
        x,
    )
'''


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Judged:
    return judged(tmp_path_factory.mktemp("claims"), SOURCE)


def only_fault(page: Judged, scope: str) -> str:
    faults = page.faults(scope)
    assert len(faults) == 1, faults
    return faults[0]


def test_claims_that_are_true_in_a_call_are_proven(page: Judged) -> None:
    assert set(page.verdicts("right").values()) == {"proven"}
    assert len(page.verdicts("right")) == 4
    assert page.faults("right") == []


def test_a_wrong_number_is_false_and_both_shapes_are_told(page: Judged) -> None:
    assert page.verdicts("wrong_number") == {"y: [14, 3]": "false"}
    assert list(numbers(only_fault(page, "wrong_number"))) == [[14, 3], [14, 1]]


def test_names_mean_one_number_in_the_whole_call(page: Judged) -> None:
    fault = only_fault(page, "wrong_name")
    assert list(numbers(fault)) == [[11, 7], [7, 11]]
    assert "seq_len_k = 11" in fault
    assert "seq_len_q = 7" in fault


def test_only_the_claim_that_does_not_fit_the_earlier_ones_is_false(page: Judged) -> None:
    assert page.verdicts("wrong_name") == {
        "query: [seq_len_q, d_k]": "proven",
        "key: [seq_len_k, d_k]": "proven",
        "scores: [seq_len_k, seq_len_q]": "false",
    }


@pytest.mark.parametrize(
    ("scope", "recorded"),
    [("wrong_rank", [7, 2, 15]), ("wrong_result", [2, 7]), ("too_few_axes", [3]), ("unsolvable", [12])],
)
def test_what_cannot_be_is_false(page: Judged, scope: str, recorded: list[int]) -> None:
    fault = only_fault(page, scope)
    assert fault.startswith("claim-false ")
    assert recorded in list(numbers(fault))


def test_an_axis_may_be_either_of_two(page: Judged) -> None:
    assert set(page.verdicts("either").values()) == {"proven"}
    fault = only_fault(page, "neither")
    assert "says [7 or 1, 2], but the recorded shape is [3, 2]" in fault


def test_a_fault_says_which_example_made_the_call(page: Judged) -> None:
    line = 1 + next(n for n, text in enumerate(page.page.lines) if ">>> wrong_number" in text)
    assert f"in the example of line {line}" in only_fault(page, "wrong_number")


@pytest.mark.parametrize(
    ("scope", "known"), [("integer_argument", "d_model = 16"), ("integer_variable", "seq_len = 7")]
)
def test_an_integer_of_the_frame_is_the_axis_of_its_name(page: Judged, scope: str, known: str) -> None:
    assert known in only_fault(page, scope)


def test_integers_of_self_count_as_well(page: Judged) -> None:
    assert set(page.verdicts("Layer.right").values()) == {"proven"}
    assert "self.d_out = 3" in only_fault(page, "Layer.wrong")


def test_a_class_claims_arguments_of_init_and_attributes(page: Judged) -> None:
    assert page.verdicts("Layer") == {
        "weight: [d_out, d_in]": "proven",
        "self.bias: [d_in]": "false",
        "d_out: []": "proven",
    }


def test_one_is_one(page: Judged) -> None:
    assert list(numbers(only_fault(page, "one_is_one"))) == [[7, 2]]


def test_three_dots_are_any_number_of_axes(page: Judged) -> None:
    assert set(page.verdicts("any_axes").values()) == {"proven"}


def test_arithmetic_is_solved_for_the_name_that_is_missing(page: Judged) -> None:
    assert page.verdicts("solved") == {"x: [2 * s - 1]": "proven", "y: [s + 1]": "proven", "z: [s]": "false"}
    assert "s = 7" in only_fault(page, "solved")


def test_arithmetic_with_several_names_waits_until_they_are_known(page: Judged) -> None:
    assert page.verdicts("unknown_product") == {
        "x: [heads * d_k]": "proven",
        "y: [heads, d_k]": "proven",
        "z: [d_k, heads]": "false",
    }


def test_arithmetic_that_no_numbers_make_true_is_false(page: Judged) -> None:
    assert page.verdicts("impossible_product") == {"x: [2 * a * b]": "false"}


def test_of_alternatives_those_are_proven_that_an_example_took(page: Judged) -> None:
    assert page.faults("alternatives") == []
    assert page.verdicts("alternatives") == {
        "x: [n, m]": "proven",
        "mask: [n, n]": "proven",
        "mask: [1, n]": "proven",
        "mask: [n, 1]": "unchecked",
    }


def test_if_no_alternative_is_true_one_message_says_so(page: Judged) -> None:
    assert [7, 5] in list(numbers(only_fault(page, "no_alternative")))


def test_a_later_claim_can_decide_between_alternatives(page: Judged) -> None:
    assert page.faults("undecided") == []
    assert page.verdicts("undecided") == {
        "mask: [a, b]": "unchecked",
        "mask: [b, a]": "proven",
        "x: [a]": "proven",
    }


def test_each_claim_speaks_of_the_value_that_its_own_statement_gave(page: Judged) -> None:
    assert set(page.verdicts("flattened").values()) == {"proven"}


def test_a_comment_speaks_of_every_value_that_the_code_beside_it_gives_to_the_name(page: Judged) -> None:
    assert [2, 7] in list(numbers(only_fault(page, "written_twice")))


def test_an_integer_that_changes_is_taken_as_it_is_at_that_moment(page: Judged) -> None:
    assert page.verdicts("rebound") == {
        "x: [seq_len, m]": "proven",
        "return: [seq_len, m]": "proven",
        "y: [seq_len, m]": "proven",
        "old: [seq_len, m]": "false",
    }


def test_a_loop_binds_its_names_anew_each_time(page: Judged) -> None:
    verdicts = page.verdicts("shrinking")
    assert verdicts["part: [k, m]"] == verdicts["scores: [k, k]"] == "proven"


def test_a_name_from_before_the_loop_keeps_its_number_in_it(page: Judged) -> None:
    assert page.verdicts("shrinking")["wrong: [n, k]"] == "false"
    assert "n = 9" in only_fault(page, "shrinking")
    assert page.verdicts("outside") == {"x: [n]": "false"}


def test_within_one_round_the_variable_of_a_loop_is_one_number(page: Judged) -> None:
    assert page.verdicts("loop_number") == {"part: [n, 2]": "proven", "wrong: [n]": "false"}


def test_after_a_loop_its_names_have_one_of_their_numbers(page: Judged) -> None:
    assert page.verdicts("after_loop") == {
        "part: [k, m]": "proven",
        "last: [k, 1]": "proven",
        "other: [k, 1]": "false",
    }


def test_rounds_that_took_different_ways_are_not_confused(page: Judged) -> None:
    assert page.verdicts("arms") == {"large: [k]": "proven", "small: [k]": "proven"}


def test_a_call_that_was_refused_proves_and_disproves_nothing(page: Judged) -> None:
    assert page.verdicts("refused") == {"x: [n, m]": "proven"}


def test_what_no_example_ran_is_unchecked(page: Judged) -> None:
    assert page.verdicts("never") == {"x: [n, m]": "unchecked"}
    assert page.verdicts("part_ran") == {"y: [n]": "unchecked"}


def test_of_a_tuple_the_first_tensor_is_meant(page: Judged) -> None:
    assert page.verdicts("pair") == {"return: [n, m]": "proven"}


def test_numbers_and_lists_of_numbers_have_shapes_and_texts_have_none(page: Judged) -> None:
    assert page.verdicts("several") == {"x: [n]": "proven", "total: []": "proven", "y: [n]": "unchecked"}


def test_a_comment_beside_a_return_speaks_of_the_result(page: Judged) -> None:
    assert list(numbers(only_fault(page, "beside_return"))) == [[7, 7], [2, 7]]


def test_a_claim_of_what_is_not_there_is_a_fault(page: Judged) -> None:
    faults = page.faults("strangers")
    assert [fault.split(" ")[0] for fault in faults] == ["claim-unknown"] * 3
    assert set(page.verdicts("strangers").values()) == {"unchecked"}


def test_a_comment_within_brackets_speaks_of_the_whole_statement(page: Judged) -> None:
    assert page.verdicts("inner") == {"values: [n]": "unchecked", "first: [n, 1]": "proven"}


def test_without_a_record_everything_is_unchecked_and_only_texts_are_looked_at(tmp_path: Path) -> None:
    found = judged(tmp_path, SOURCE, run=False)
    assert {str(one.verdict) for one in found.checked.claims} == {"unchecked"}
    assert {one.code for one in found.checked.diagnostics} == {"claim-unknown"}
    assert found.checked.shapes == {}


def test_a_number_whose_last_values_a_long_call_does_not_tell_makes_no_claim_false(tmp_path: Path) -> None:
    many = "\n".join(f"        a{number} = i" for number in range(60))
    source = (
        "import numpy as np\n\n\ndef f(x):\n"
        '    """\n    * `return: [n, 2]`\n\n    >>> [f(x).shape for x in (1, 2)]\n    [(6, 2), (6, 2)]\n    """\n'
        f"    n = 10\n    for i in range(4):\n{many}\n        n = n - 1\n    return np.zeros((n, 2))\n"
    )
    found = judged(tmp_path, source)
    assert found.record is not None
    assert all(example.passed for example in found.record.examples)
    assert found.faults("f") == []
