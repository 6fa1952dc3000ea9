"""
---
title: Words
summary: What Pygments has for the words of Python that it knows; every other word is a name.
---
# Words

Asking Pygments means compiling all of its rules first. So its answers for single words are written down here, by
`tools/write_words.py`, and a test asks it again.
"""

from __future__ import annotations

from pygments.token import string_to_tokentype

_KNOWN = {
    "Keyword": (
        "as assert async await break class continue def del elif else except finally for global if lambda "
        "nonlocal pass raise return try while with yield "
    ),
    "Keyword.Constant": "False None True",
    "Keyword.Namespace": "from import",
    "Name.Builtin": (
        "__import__ abs aiter all any bin bool breakpoint bytearray bytes callable chr classmethod compile "
        "complex delattr dict dir divmod enumerate eval filter float format frozendict frozenset getattr "
        "globals hasattr hash hex id input int isinstance issubclass iter len list locals map max memoryview "
        "min next object oct open ord pow print property range repr reversed round sentinel set setattr slice "
        "sorted staticmethod str sum super tuple type vars zip "
    ),
    "Name.Builtin.Pseudo": "Ellipsis NotImplemented cls self",
    "Name.Exception": (
        "ArithmeticError AssertionError AttributeError BaseException BlockingIOError BrokenPipeError "
        "BufferError BytesWarning ChildProcessError ConnectionAbortedError ConnectionError "
        "ConnectionRefusedError ConnectionResetError DeprecationWarning EOFError EncodingWarning "
        "EnvironmentError Exception FileExistsError FileNotFoundError FloatingPointError FutureWarning "
        "GeneratorExit IOError ImportError ImportWarning IndentationError IndexError InterruptedError "
        "IsADirectoryError KeyError KeyboardInterrupt LookupError MemoryError ModuleNotFoundError NameError "
        "NotADirectoryError NotImplementedError OSError OverflowError PendingDeprecationWarning "
        "PermissionError ProcessLookupError RecursionError ReferenceError ResourceWarning RuntimeError "
        "RuntimeWarning StopAsyncIteration StopIteration SyntaxError SyntaxWarning SystemError SystemExit "
        "TabError TimeoutError TypeError UnboundLocalError UnicodeDecodeError UnicodeEncodeError UnicodeError "
        "UnicodeTranslateError UnicodeWarning UserWarning VMSError ValueError Warning WindowsError "
        "ZeroDivisionError "
    ),
    "Name.Function.Magic": (
        "__abs__ __add__ __aenter__ __aexit__ __aiter__ __and__ __anext__ __await__ __bool__ __bytes__ "
        "__call__ __complex__ __contains__ __del__ __delattr__ __delete__ __delitem__ __dir__ __divmod__ "
        "__enter__ __eq__ __exit__ __float__ __floordiv__ __format__ __ge__ __get__ __getattr__ "
        "__getattribute__ __getitem__ __gt__ __hash__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ "
        "__imod__ __imul__ __index__ __init__ __instancecheck__ __int__ __invert__ __ior__ __ipow__ "
        "__irshift__ __isub__ __iter__ __itruediv__ __ixor__ __le__ __len__ __length_hint__ __lshift__ __lt__ "
        "__matmul__ __missing__ __mod__ __mul__ __ne__ __neg__ __new__ __next__ __or__ __pos__ __pow__ "
        "__prepare__ __radd__ __rand__ __rdivmod__ __repr__ __reversed__ __rfloordiv__ __rlshift__ "
        "__rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__ __rrshift__ __rshift__ __rsub__ "
        "__rtruediv__ __rxor__ __set__ __setattr__ __setitem__ __str__ __sub__ __subclasscheck__ __truediv__ "
        "__xor__ "
    ),
    "Name.Variable.Magic": (
        "__annotations__ __bases__ __class__ __closure__ __code__ __defaults__ __dict__ __doc__ __file__ "
        "__func__ __globals__ __kwdefaults__ __module__ __mro__ __name__ __objclass__ __qualname__ __self__ "
        "__slots__ __weakref__ "
    ),
    "Operator.Word": "and in is not or",
}

KINDS = {word: string_to_tokentype(kind) for kind, words in _KNOWN.items() for word in words.split()}
"""The type of token that each word is between a `;` and a space."""
