"""Serves a solution to its tests, which run in another sandbox: calls come in, values go out.

Only an object of a class that the solution defines, made by calling that class, may stay behind as a handle. Everything
else must be a value that can be written down: an object with a friendly `__eq__` or `__bool__` never reaches the tests.
"""

import json

from .program import describe, failed, flush, plain, start
from .shared_objects import decode_shared, encode_shared
from .values import decode, encode, quote, type_name

_compile, _exec, _type, _isinstance, _callable, _id = compile, exec, type, isinstance, callable, id
_getattr, _setattr, _list, _dict_items, _dict_get, _str, _len = getattr, setattr, list, dict.items, dict.get, str, len
_loads, _BaseException, _Exception, _EOFError = json.loads, BaseException, Exception, EOFError
_Class = type


def serve(source, channel):
    """Runs the program, says which names it defines and answers until the tests are over. The exit code."""
    source = plain(source)
    code = 0
    try:
        names = start(source, 'solution')
        _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), names)
    except _BaseException as error:
        code = failed(error, 1)
        flush()
        channel.send('{"problem":' + quote(describe(error)) + '}')
        return code
    service = _Service(names)
    try:
        channel.send('{"names":' + encode(_defined(names)) + '}')
        while True:
            request = _next(channel)
            if request is None:
                break
            answer = service.answer(request)
            flush()
            channel.send(answer)
    except _BaseException as error:
        # SystemExit and the like, which end a program wherever they are raised.
        code = failed(error, 3)
    flush()
    return code


def _next(channel):
    # None when the tests are over.
    try:
        return _loads(channel.receive())
    except _EOFError:
        return None


def _defined(names):
    # Name and kind of what a test may ask for.
    kinds = []
    for name, value in _list(_dict_items(names)):
        if name[:2] != '__' and _type(name) is _str:
            kinds.append([name, 'class' if _isinstance(value, _Class) else 'function' if _callable(value) else 'value'])
    return kinds


class _Service:
    def __init__(self, names):
        self._names = names
        self._objects = []
        self._places = {}

    def answer(self, message):
        """JSON text of what a request came to."""
        try:
            return '{"value":' + encode(self._do(message), self._foreign) + '}'
        except _Exception as error:
            return '{"raised":[' + quote(type_name(error)) + ',' + quote(_text_of(error)) + ']}'

    def _do(self, message):
        operation = message['do']
        if operation == 'value':
            return _dict_get(self._names, message['name'])
        if operation == 'call':
            function = _dict_get(self._names, message['name'])
            made = function(*self._arguments(message), **self._options(message))
            if _isinstance(function, _Class) and _type(made) is function:
                self._keep(made)
            return made
        owner = self._owner(message)
        name = message['name']
        if operation == 'kind':
            return 'method' if _callable(_getattr(owner, name)) else 'value'
        if operation == 'get':
            return _getattr(owner, name)
        if operation == 'set':
            _setattr(owner, name, self._decode(message['value']))
            return None
        return _getattr(owner, name)(*self._arguments(message), **self._options(message))

    def _owner(self, message):
        name = _dict_get(message, 'class')
        return self._objects[message['object']] if name is None else _dict_get(self._names, name)

    def _keep(self, made):
        if _id(made) not in self._places:
            self._places[_id(made)] = _len(self._objects)
            self._objects.append(made)

    def _arguments(self, message):
        return [self._decode(item) for item in message['arguments']]

    def _options(self, message):
        return {name: self._decode(item) for name, item in _dict_items(message['options'])}

    def _decode(self, value):
        return decode(value, self._made)

    def _made(self, tag, content):
        if tag == '$object':
            return self._objects[content[0]]
        return decode_shared(tag, content, self._decode)

    def _foreign(self, value):
        place = self._places.get(_id(value))
        if place is not None and self._objects[place] is value:
            return '{"$object":[' + _str(place) + ',' + quote(type_name(value)) + ']}'
        return encode_shared(value, self._foreign)


def _text_of(error):
    try:
        return _str(error)[:400]
    except _BaseException:
        return ''
