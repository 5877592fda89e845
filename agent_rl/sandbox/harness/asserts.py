"""Runs hidden tests against a solution in another sandbox, which it reaches by messages only.

The solution decides what its functions return and raise, and nothing else. Names are bound only where the tests use
them and only where they hide no built-in, so a solution that defines `sorted`, `len` or `math` of its own changes
nothing here. A handle is not a value: comparing it, counting it or asking whether it is true raises.
"""

import builtins
import json
import random
import sys
import types

from .program import describe
from .shared_objects import decode_shared, encode_shared
from .values import decode, encode, quote

# Raised in a test these would end a loop or the program quietly instead of failing the test.
_CONTROL = {'StopIteration', 'StopAsyncIteration', 'GeneratorExit'}


class SolutionRaised(Exception):
    """The solution raised something that is not an exception of Python's own."""

    __module__ = 'builtins'


class SolutionEnded(BaseException):
    """The other sandbox is gone. No `except Exception` of a test takes it for what the solution raised."""

    __module__ = 'builtins'


def judge(tests, channel, emit):
    """Runs the tests; `emit` is given JSON text: once a problem that ends all, or one verdict per statement.

    `tests` is what `AssertTests` of `core/sandbox.ts` describes.
    """
    peer = _Peer(channel, tests.get('classes'))
    statements = tests['statements']
    # The tests draw the same numbers every time, from a seed that the solution cannot know.
    random.seed('\n'.join([tests.get('setup') or '', *statements]).encode('utf-8', 'surrogatepass'))
    try:
        names = _names_for(tests, peer)
        exec(compile(tests.get('setup') or '', 'setup.py', 'exec', dont_inherit=True), names)
    except BaseException as error:
        emit('{"problem":' + quote(describe(error)) + '}')
        return
    for place, statement in enumerate(statements):
        emit('{"index":' + str(place) + ',' + _verdict(statement, names, peer) + '}')


def _verdict(statement, names, peer):
    problem = None
    try:
        exec(compile(statement, 'tests.py', 'exec', dont_inherit=True), names)
    except BaseException as error:
        problem = describe(error)
    if peer.ended:
        # Whatever the test made of it: a solution that is gone has passed nothing.
        problem = describe(peer.lost())
    return '"passed":true' if problem is None else '"passed":false,"problem":' + quote(problem)


def _names_for(tests, peer):
    offered = peer.hello()
    required = tests.get('names')
    used = _names_in(tests) - set(dir(builtins)) if required is None else set(required)
    if tests.get('entry'):
        used.add(tests['entry'])
    # A built-in that the solution should have written must not stand in for it when it is missing.
    names = {
        '__name__': 'tests',
        '__builtins__': {name: value for name, value in vars(builtins).items() if name not in used},
    }
    bound = peer.bind([(name, kind) for name, kind in offered if name in used and not name.startswith('__')])
    names.update(bound)
    if tests.get('entry') in bound:
        names['candidate'] = bound[tests['entry']]
    sys.modules['solution'] = types.ModuleType('solution')
    vars(sys.modules['solution']).update(bound)
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
    return used


class _Peer:
    """The solution, as the tests may use it.

    What it sends may be forged, so everything is checked here. Only a call of one of `classes` (by default the names that
    begin with a capital) may leave a handle: if a function could, it would return an object whose `startswith` says yes
    to everything.
    """

    def __init__(self, channel, classes):
        self._channel = channel
        self._classes = classes
        self._handles = set()
        self.ended = False

    def hello(self):
        """Name and kind of everything that the solution defines. Raises SolutionRaised when it did not load."""
        said = decode(self._received())
        if 'problem' in said:
            raise SolutionRaised('the solution did not load: ' + str(said['problem'])[:400])
        return said['names']

    def bind(self, offered):
        """What the tests find under these names; nothing under one that is neither callable nor plain data."""
        bound = {}
        for name, kind in offered:
            try:
                bound[name] = self.ask({'do': 'value', 'name': name}) if kind == 'value' else self._callable(name)
            except Exception:
                # The test that uses it says so, by a NameError.
                continue
        return bound

    def _callable(self, name):
        is_class = name[:1].isupper() if self._classes is None else name in self._classes
        if is_class:
            return _class_named(self, name)

        def call(*arguments, **options):
            return self.call({'do': 'call', 'name': name}, arguments, options)

        call.__name__ = name
        return call

    def call(self, message, arguments, options, makes_object=False):
        return self.ask({
            **message,
            'arguments': [self.plain(item) for item in arguments],
            'options': {name: self.plain(item) for name, item in options.items()},
        }, makes_object)

    def ask(self, message, makes_object=False):
        try:
            self._channel.send(json.dumps(message))
        except OSError:
            raise self.lost()
        answer = self._received()
        try:
            kind, value = answer['raised'] if 'raised' in answer else (None, answer['value'])
        except (KeyError, TypeError, ValueError):
            # No answer, so it may be another one's.
            raise self.lost()
        if kind is not None:
            raise _exception(kind, value)
        if makes_object and type(value) is dict and '$object' in value:
            self._handles.add(int(value['$object'][0]))
        return self._value(value)

    def _received(self):
        if self.ended:
            raise self.lost()
        try:
            return json.loads(self._channel.receive())
        except (EOFError, OSError, ValueError, RecursionError):
            # Also what is not a message: from here on questions and answers need not belong together.
            raise self.lost()

    def lost(self):
        """What is raised from now on."""
        self.ended = True
        return SolutionEnded('the solution ended early')

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
            place = int(content[0])
            if place not in self._handles:
                raise ValueError('returned an object; only a class that the tests name may make one')
            return Handle(self, place)
        return decode_shared(tag, content, self._value)


def _exception(kind, text):
    known = getattr(builtins, str(kind), None)
    usable = isinstance(known, type) and issubclass(known, Exception) and kind not in _CONTROL
    try:
        return known(text) if usable else SolutionRaised(str(kind) + ': ' + str(text))
    except TypeError:
        # A few exceptions need more than a message.
        return SolutionRaised(str(kind) + ': ' + str(text))


def _attribute(peer, owner, name):
    if name.startswith('__'):
        raise AttributeError(name)
    target = {**owner, 'name': name}
    if peer.ask({'do': 'kind', **target}) == 'method':
        return lambda *arguments, **options: peer.call({'do': 'method', **target}, arguments, options)
    return peer.ask({'do': 'get', **target})


def _class_named(peer, name):
    # Its instance holds nothing of its own that could hide an attribute of the solution's class.
    class Class:
        __slots__ = ()
        __name__ = name

        def __call__(self, *arguments, **options):
            return peer.call({'do': 'call', 'name': name}, arguments, options, makes_object=True)

        def __getattr__(self, attribute):
            return _attribute(peer, {'class': name}, attribute)

        def __setattr__(self, attribute, value):
            peer.ask({'do': 'set', 'class': name, 'name': attribute, 'value': peer.plain(value)})

        def __repr__(self):
            return '<a class of the solution>'

    return Class()


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
        place = object.__getattribute__(self, '_place')
        return _attribute(object.__getattribute__(self, '_peer'), {'object': place}, name)

    def __setattr__(self, name, value):
        peer = object.__getattribute__(self, '_peer')
        place = object.__getattribute__(self, '_place')
        peer.ask({'do': 'set', 'object': place, 'name': name, 'value': peer.plain(value)})

    def __repr__(self):
        return '<an object of the solution>'

    def __str__(self):
        return '<an object of the solution>'
