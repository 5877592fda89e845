"""What may pass between the solution and its tests besides plain values.

An object of a class that the solution defines stays where it was made; the tests hold a handle. Iterators, ranges and a
few kinds of numbers and dates are made anew on the other side from their exact built-in types, so that nothing a
subclass overrides travels. A type itself passes by its name if it is one of plain data.

Everything is copied, arguments too: what a solution does to its argument stays on its side. Were changes sent back, a
solution that empties its argument would make `f(x) == sorted(x)` true, and one that puts an object of its own into it
would be asked what the tests expect.
"""

import collections
import datetime
import decimal
import fractions
import itertools

from .values import encode, name_of_type, quote

_type, _list, _str, _iter, _len = type, list, str, iter, len
_ValueError, _dict_get = ValueError, dict.get
_Decimal, _Fraction, _deque, _islice = decimal.Decimal, fractions.Fraction, collections.deque, itertools.islice
_deque_iter = collections.deque.__iter__
_decimal_text, _date_text, _datetime_text = decimal.Decimal.__str__, datetime.date.isoformat, datetime.datetime.isoformat
_date, _datetime = datetime.date, datetime.datetime

_iterators = {
    type(made)
    for made in (
        (item for item in ()), map(str, ()), filter(None, ()), zip(), enumerate(()), reversed([]), iter([]), iter(()),
        iter({}), iter(set()), iter(''), iter(range(0)), itertools.chain(), itertools.combinations((), 0),
        itertools.permutations(()), itertools.product(), itertools.islice((), 0), itertools.takewhile(bool, ()),
        itertools.dropwhile(bool, ()), itertools.accumulate(()), itertools.count(), itertools.cycle(()),
    )
}
_plain_types = {
    made.__name__: made
    for made in (
        bool, int, float, complex, str, bytes, bytearray, list, tuple, set, frozenset, dict, range, object, type(None)
    )
}
_views = {type({}.keys()), type({}.values()), type({}.items())}

# An endless iterator is cut here, and the tests see that it is.
MOST_ITEMS = 100_000


def encode_shared(value, foreign):
    """JSON text of what may pass besides plain values and objects of the solution, or None."""
    kind = _type(value)
    inner = lambda item: encode(item, foreign)
    if kind in _iterators:
        items = _list(_islice(value, MOST_ITEMS + 1))
        if _len(items) > MOST_ITEMS:
            raise _ValueError('returned an iterator of more than 100000 items')
        return '{"$iterator":' + inner(items) + '}'
    if kind in _views:
        return '{"$view":' + inner(_list(value)) + '}'
    if kind is _type:
        name = name_of_type(value)
        return '{"$type":' + quote(name) + '}' if _dict_get(_plain_types, name) is value else None
    if kind is range:
        return '{"$range":[' + ','.join(_str(part) for part in (value.start, value.stop, value.step)) + ']}'
    if kind is _deque:
        return '{"$deque":' + inner(_list(_deque_iter(value))) + '}'
    if kind is _Decimal:
        return '{"$decimal":' + encode(_decimal_text(value)) + '}'
    if kind is _Fraction:
        return '{"$fraction":' + inner([value.numerator, value.denominator]) + '}'
    if kind is _datetime and value.tzinfo is None:
        return '{"$datetime":' + encode(_datetime_text(value)) + '}'
    if kind is _date:
        return '{"$date":' + encode(_date_text(value)) + '}'
    return None


def decode_shared(tag, content, decode):
    """The reverse; `decode` is for what is inside. Raises ValueError for another tag."""
    if tag == '$iterator':
        return _iter(decode(content))
    if tag == '$view':
        return decode(content)
    if tag == '$type':
        return _plain_types[content]
    if tag == '$range':
        return range(*content)
    if tag == '$deque':
        return _deque(decode(content))
    if tag == '$decimal':
        return _Decimal(content)
    if tag == '$fraction':
        return _Fraction(*decode(content))
    if tag == '$datetime':
        return _datetime.fromisoformat(content)
    if tag == '$date':
        return _date.fromisoformat(content)
    raise _ValueError('a value of an unknown kind, ' + tag)
