"""Runs hidden tests against a solution in another sandbox, which it reaches by messages only.

The solution decides what its functions return and raise, and nothing else. Names are bound only where the tests use
them and only where they hide no built-in, so a solution that defines `sorted`, `len` or `math` of its own changes
nothing here. A handle is no value: comparing it, counting it or asking whether it is true raises.
"""

import builtins
import json
import types

from .program import describe
from .shared_objects import decode_shared, encode_shared
from .values import decode, encode, quote

# Raised in a test these would end a loop or the program quietly instead of failing the test.
_CONTROL = {'StopIteration', 'StopAsyncIteration', 'GeneratorExit'}


class SolutionRaised(Exception):
    """The solution raised something that is no exception of Python's own."""


def judge(tests, channel, emit):
    """Runs the tests; `emit` is given JSON text: once a problem that ends all, or one verdict per statement.

    `tests` has `setup`, `statements` and, if the solution must define certain names and no others count, `names`;
    `entry` is bound to `candidate` too.
    """
    try:
        hello = decode(json.loads(channel.receive()))
        if 'problem' in hello:
            emit('{"problem":' + quote('the solution did not load: ' + str(hello['problem'])) + '}')
            return
        peer = _Peer(channel)
        names = _bound_names(tests, hello['names'], peer)
        exec(compile(tests.get('setup') or '', 'setup.py', 'exec', dont_inherit=True), names)
    except BaseException as error:
        emit('{"problem":' + quote(_explained(error)) + '}')
        return
    for place, statement in enumerate(tests['statements']):
        emit('{"index":' + str(place) + ',' + _verdict(statement, names, peer) + '}')


def _verdict(statement, names, peer):
    try:
        exec(compile(statement, 'tests.py', 'exec', dont_inherit=True), names)
        if peer.lost is not None:
            # A test may expect the solution to raise, not to vanish.
            raise peer.lost
        return '"passed":true'
    except BaseException as error:
        return '"passed":false,"problem":' + quote(_explained(error))


def _explained(error):
    return 'the solution ended early' if isinstance(error, (EOFError, OSError)) else describe(error)


def _bound_names(tests, offered, peer):
    names = {'__name__': 'tests', '__builtins__': builtins}
    required = tests.get('names')
    used = set(required) if required is not None else _names_in(tests)
    module = types.ModuleType('solution')
    for name, kind in offered:
        if name not in used:
            continue
        if kind == 'value':
            try:
                names[name] = peer.ask({'do': 'value', 'name': name})
            except Exception:
                # No plain value, so nothing the tests may hold.
                continue
        else:
            names[name] = peer.function(name)
        setattr(module, name, names[name])
    entry = tests.get('entry')
    if entry in names:
        names['candidate'] = names[entry]
    return names


def _names_in(tests):
    used = set()
    waiting = [
        compile(source, 'tests.py', 'exec', dont_inherit=True)
        for source in [tests.get('setup') or '', *tests['statements']]
    ]
    while waiting:
        code = waiting.pop()
        used.update(code.co_names)
        waiting.extend(constant for constant in code.co_consts if isinstance(constant, types.CodeType))
    if tests.get('entry'):
        used.add(tests['entry'])
    return used - set(dir(builtins))


class _Peer:
    """The solution, as the tests may use it."""

    def __init__(self, channel):
        self._channel = channel
        # Why the solution can be asked no more; requests and answers would not belong together.
        self.lost = None

    def function(self, name):
        def call(*arguments, **options):
            return self.call({'do': 'call', 'name': name}, arguments, options)

        call.__name__ = name
        return call

    def call(self, message, arguments, options):
        return self.ask({
            **message,
            'arguments': [self.plain(item) for item in arguments],
            'options': {name: self.plain(item) for name, item in options.items()},
        })

    def ask(self, message):
        if self.lost is not None:
            raise EOFError('the other sandbox ended')
        try:
            self._channel.send(json.dumps(message))
            answer = json.loads(self._channel.receive())
            kind, content = answer['raised'] if 'raised' in answer else (None, answer['value'])
        except BaseException as error:
            self.lost = error
            raise
        if kind is not None:
            raise _exception(kind, content)
        return self._value(content)

    def plain(self, value):
        return json.loads(encode(value, self._foreign))

    def _foreign(self, value):
        if type(value) is Handle:
            return '{"$object":[' + str(object.__getattribute__(value, '_place')) + ',""]}'
        return encode_shared(value, self._foreign)

    def _value(self, value):
        return decode(value, self._made)

    def _made(self, tag, content):
        if tag == '$object':
            return Handle(self, int(content[0]))
        return decode_shared(tag, content, self._value)


def _exception(kind, text):
    known = getattr(builtins, str(kind), None)
    usable = isinstance(known, type) and issubclass(known, Exception) and kind not in _CONTROL
    try:
        return known(text) if usable else SolutionRaised(str(kind) + ': ' + str(text))
    except TypeError:
        # A few exceptions need more than a message.
        return SolutionRaised(str(kind) + ': ' + str(text))


def _refuse(self, *_):
    raise TypeError('an object of the solution is not a value')


class Handle:
    """An object of the solution. Its attributes can be read, set and called; as a value it is refused."""

    __slots__ = ('_peer', '_place')

    def __init__(self, peer, place):
        object.__setattr__(self, '_peer', peer)
        object.__setattr__(self, '_place', place)

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __len__ = __iter__ = __contains__ = _refuse
    __int__ = __float__ = __complex__ = __index__ = __round__ = __next__ = __getitem__ = __call__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __enter__ = __exit__ = _refuse
    __hash__ = None

    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        peer = object.__getattribute__(self, '_peer')
        target = {'object': object.__getattribute__(self, '_place'), 'name': name}
        if peer.ask({'do': 'kind', **target}) == 'method':
            return lambda *arguments, **options: peer.call({'do': 'method', **target}, arguments, options)
        return peer.ask({'do': 'get', **target})

    def __setattr__(self, name, value):
        peer = object.__getattribute__(self, '_peer')
        place = object.__getattribute__(self, '_place')
        peer.ask({'do': 'set', 'object': place, 'name': name, 'value': peer.plain(value)})

    def __repr__(self):
        return '<an object of the solution>'

    def __str__(self):
        return '<an object of the solution>'
