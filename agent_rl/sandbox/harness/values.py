"""Plain values as JSON text, in the form that `core/python-value.ts` describes.

Text is made from the exact built-in base types: no method of a value the program made is ever called, so an `int` with
a friendly `__eq__` leaves as the bare number.
"""

import binascii
import json
import sys

_type, _isinstance, _len, _id, _slice_all = type, isinstance, len, id, slice(None)
_int, _float, _str, _bool, _complex = int, float, str, bool, complex
_bytes, _bytearray, _list, _tuple = bytes, bytearray, list, tuple
_dict, _set, _frozenset, _ValueError = dict, set, frozenset, ValueError
_quote, _loads = json.encoder.encode_basestring_ascii, json.loads
_b64, _unb64 = binascii.b2a_base64, binascii.a2b_base64
name_of_type = type.__dict__['__name__'].__get__
# Absent from the first releases of 3.9 and 3.10, which have no such limit.
_lift_digit_limit = getattr(sys, 'set_int_max_str_digits', lambda digits: None)

MOST_DEPTH = 100
MOST_PIECES = 400_000
MOST_CHARS = 4 * 1024 * 1024


def encode(value, foreign=None):
    """JSON text of `value`. `foreign(value)` may give the text of what is not a plain value, or None.

    Raises ValueError for what cannot leave: too large, too deep, containing itself, of another type.
    """
    out = []
    _encode(value, out, _frozenset(), foreign)
    text = ''.join(out)
    if _len(text) > MOST_CHARS:
        raise _ValueError('returned a value that is too large')
    return text


def decode(value, foreign=None):
    """The value that parsed JSON stands for. `foreign(tag, content)` makes what is not a plain value."""
    kind = _type(value)
    if kind is _list:
        return [decode(item, foreign) for item in value]
    if kind is not _dict:
        return value
    if _len(value) == 1:
        ((tag, content),) = _dict.items(value)
        if tag[:1] == '$':
            return _decode_tagged(tag, content, foreign)
    return {key: decode(item, foreign) for key, item in _dict.items(value)}


def parse(text, foreign=None):
    """The value that JSON text stands for."""
    return decode(_loads(text), foreign)


def quote(text):
    """JSON text of a string."""
    return _quote(text)


def type_name(value):
    """The name of the value's type, whatever the type says of itself."""
    return name_of_type(_type(value))


def _encode(value, out, seen, foreign):
    # `out` grows by pieces of JSON text; `seen` holds the containers around the value.
    if value is None:
        out.append('null')
    elif _type(value) is _bool:
        out.append('true' if value else 'false')
    elif _isinstance(value, _int):
        text = _digits(value)
        out.append(text if _len(text) < 16 else '{"$int":"' + text + '"}')
    elif _isinstance(value, _float):
        out.append('{"$float":"' + _float.__repr__(value) + '"}')
    elif _isinstance(value, _complex):
        real, imaginary = _complex.real.__get__(value), _complex.imag.__get__(value)
        out.append('{"$complex":["' + _float.__repr__(real) + '","' + _float.__repr__(imaginary) + '"]}')
    elif _isinstance(value, _str):
        out.append(_quote(_str.__str__(value)))
    elif _isinstance(value, _bytes):
        out.append('{"$bytes":"' + _base64(_bytes.__getitem__(value, _slice_all)) + '"}')
    elif _isinstance(value, _bytearray):
        out.append('{"$bytearray":"' + _base64(_bytearray.__getitem__(value, _slice_all)) + '"}')
    else:
        _encode_container(value, out, seen, foreign)
    if _len(out) > MOST_PIECES:
        raise _ValueError('returned a value that is too large')


def _encode_container(value, out, seen, foreign):
    if _id(value) in seen:
        raise _ValueError('returned a value that contains itself')
    if _len(seen) >= MOST_DEPTH:
        raise _ValueError('returned a value nested too deeply')
    inner = seen | {_id(value)}
    if _isinstance(value, _list):
        _encode_items(_list.__iter__(value), ('[', ']'), out, inner, foreign)
    elif _isinstance(value, _tuple):
        _encode_items(_tuple.__iter__(value), ('{"$tuple":[', ']}'), out, inner, foreign)
    elif _isinstance(value, _set):
        _encode_items(_set.__iter__(value), ('{"$set":[', ']}'), out, inner, foreign)
    elif _isinstance(value, _frozenset):
        _encode_items(_frozenset.__iter__(value), ('{"$frozenset":[', ']}'), out, inner, foreign)
    elif _isinstance(value, _dict):
        _encode_dict(value, out, inner, foreign)
    else:
        text = foreign(value) if foreign else None
        if text is None:
            raise _ValueError('returned a value of type ' + type_name(value) + ', which is not plain data')
        out.append(text)


def _encode_items(items, brackets, out, seen, foreign):
    out.append(brackets[0])
    first = True
    for item in items:
        if not first:
            out.append(',')
        first = False
        _encode(item, out, seen, foreign)
    out.append(brackets[1])


def _encode_dict(value, out, seen, foreign):
    out.append('{"$dict":[')
    first = True
    for key, item in _dict.items(value):
        out.append('[' if first else ',[')
        first = False
        _encode(key, out, seen, foreign)
        out.append(',')
        _encode(item, out, seen, foreign)
        out.append(']')
    out.append(']}')


def _decode_tagged(tag, content, foreign):
    if tag == '$int':
        _lift_digit_limit(0)
        return _int(content)
    if tag == '$float':
        return _float(content)
    if tag == '$complex':
        return _complex(_float(content[0]), _float(content[1]))
    if tag == '$bytes':
        return _unb64(content)
    if tag == '$bytearray':
        return _bytearray(_unb64(content))
    if tag == '$tuple':
        return _tuple([decode(item, foreign) for item in content])
    if tag == '$set':
        return _set([decode(item, foreign) for item in content])
    if tag == '$frozenset':
        return _frozenset([decode(item, foreign) for item in content])
    if tag == '$dict':
        return {decode(key, foreign): decode(item, foreign) for key, item in content}
    if foreign:
        return foreign(tag, content)
    return {tag: decode(content)}


def _digits(value):
    _lift_digit_limit(0)
    return _int.__repr__(value)


def _base64(value):
    return _b64(_bytes(value), newline=False).decode()
