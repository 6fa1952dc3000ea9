"""
---
title: Looking without touching
summary: The attributes of an object, whatever its author made of access to them.
---
# Looking without touching

The recorder looks at strangers' objects while their code runs. To ask one for an attribute may run a property or a
`__getattr__`, which may print, raise or change something. So dictionaries and slots are read directly, and what
would have to be computed counts as absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import GetSetDescriptorType, MappingProxyType, MemberDescriptorType
from typing import Any

_TABLES = ("_parameters", "_buffers", "_modules")

ABSENT: Any = object()
"""No value."""


def attributes(thing: object) -> Mapping[str, Any]:
    """What an object holds, asked of Python and not of it."""
    try:
        found = object.__getattribute__(thing, "__dict__")
    except Exception:
        return {}
    return found if isinstance(found, (dict, MappingProxyType)) else {}


def member(thing: object, name: str) -> Any:
    """
    An attribute, or `ABSENT`, without running anything: neither a property, nor a `__getattr__`. Those of neural
    modules lie where torch puts them.
    """
    kind = type(thing)
    own = attributes(thing)
    if name in own:
        return own[name]
    for table in _TABLES:
        held = own.get(table)
        if isinstance(held, dict) and name in held:
            return held[name]
    for base in (*(type.__dict__["__mro__"].__get__(thing) if issubclass(kind, type) else ()), *kind.__mro__):
        found = base.__dict__.get(name, ABSENT)
        if found is not ABSENT:
            if isinstance(found, (MemberDescriptorType, GetSetDescriptorType)):
                return found.__get__(thing, kind)
            return ABSENT if hasattr(type(found), "__get__") else found
    return ABSENT
