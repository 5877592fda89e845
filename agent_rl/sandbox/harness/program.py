"""Runs a program as Python would, or makes calls of one of its functions."""

import atexit
import builtins
import linecache
import random
import sys
import threading
import traceback
import types

from .values import encode, parse, quote, type_name

_compile, _exec, _print, _getattr, _callable = compile, exec, print, getattr, callable
_type, _isinstance, _len, _str, _int, _range, _iter = type, isinstance, len, str, int, range, iter
_SystemExit, _BaseException, _KeyboardInterrupt = SystemExit, BaseException, KeyboardInterrupt
_MemoryError, _Module = MemoryError, types.ModuleType
_print_exception, _format_only = traceback.print_exception, traceback.format_exception_only
_modules, _lines, _seed, _run_exit_functions = sys.modules, linecache.cache, random.seed, atexit._run_exitfuncs
_join_threads, _thread_count = getattr(threading, '_shutdown', lambda: None), threading.active_count
_sys, _dict_get = sys, dict.get

# The streams before the program could swap them.
_streams = [sys.stdout, sys.stderr]

# Tells apart what `failed` says from the exit codes a program can give, which are below 256.
MEMORY_ERROR = 256


class MissingEntry(Exception):
    """The program defines no such function."""


def use_streams(stdin, stdout, stderr):
    """Makes these the streams of the program."""
    _sys.stdin = _sys.__stdin__ = stdin
    _sys.stdout = _sys.__stdout__ = _streams[0] = stdout
    _sys.stderr = _sys.__stderr__ = _streams[1] = stderr


def run(source, seed):
    """Runs the program as `__main__`. Its exit code, or MEMORY_ERROR."""
    _seed(seed)
    source = plain(source)
    code = 0
    try:
        names = start(source, '__main__')
        _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), names)
    except _BaseException as error:
        code = failed(error, 1)
    finish()
    return code


def calls(source, entry, arguments_text, seed, emit):
    """Runs the program, then calls its function `entry` once per list of arguments; see `run` for what it gives.

    `emit` is given the JSON text of each call's result, `{"ok": true, "value": ...}` or `{"ok": false, "problem": ...}`.
    """
    arguments = parse(arguments_text)
    _seed(seed)
    source = plain(source)
    code = 0
    try:
        names = start(source, 'solution')
        _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), names)
        for item in arguments:
            emit(_one_call(names, entry, item))
    except _BaseException as error:
        code = failed(error, 1)
    finish()
    return code


def plain(source):
    """A program without the byte order mark that Python leaves out of a file."""
    return source[1:] if source[:1] == '\ufeff' else source


def start(source, name):
    """A fresh module of that name for the program; its names."""
    module = _Module(name)
    _modules[name] = module
    names = module.__dict__
    names['__builtins__'] = builtins
    names['__file__'] = 'main.py'
    _lines['main.py'] = (_len(source), None, source.splitlines(True), 'main.py')
    return names


def failed(error, skip):
    """Shows what the program raised, without its `skip` outermost frames, and gives the exit code Python would."""
    if _isinstance(error, _SystemExit):
        return _exit_code(error)
    report(error, skip)
    return MEMORY_ERROR if _isinstance(error, _MemoryError) else 1


def report(error, skip):
    """Prints the traceback on the real standard error, however broken the program left the interpreter."""
    trace = error.__traceback__
    for _ in _range(skip):
        if trace is not None:
            trace = trace.tb_next
    stderr = _streams[1]
    try:
        _print_exception(_type(error), error, trace, file=stderr)
    except _BaseException:
        # The program broke what the traceback module needs.
        try:
            stderr.write(type_name(error) + ': ' + _str(error) + '\n')
        except _BaseException:
            pass


def describe(error):
    """The last line of the traceback."""
    try:
        return _str(_format_only(_type(error), error)[-1]).strip()[:400]
    except _BaseException:
        return 'raised an exception that cannot be shown'


def finish():
    """What Python does at the end of a program: threads, exit functions, buffers."""
    try:
        if _thread_count() > 1:
            _join_threads()
    except _BaseException as error:
        report(error, 1)
    try:
        _run_exit_functions()
    except _BaseException as error:
        report(error, 1)
    flush()


def flush():
    """Writes out what the program's and the real streams hold back."""
    for stream in (_sys.stdout, _sys.stderr, *_streams):
        try:
            stream.flush()
        except _BaseException:
            pass


def entry_of(names, entry):
    """The function `entry` of a program, or the method `Class.method` of a fresh instance.

    Raises MissingEntry when the program defines no such thing, and what making the instance raises.
    """
    first, _, method = entry.partition('.')
    found = _dict_get(names, first)
    if method and _callable(found):
        found = _getattr(found(), method, None)
    if not _callable(found):
        raise MissingEntry('NameError: the program defines no function named ' + entry)
    return found


def problem(text):
    """JSON text of a call that failed."""
    return '{"ok":false,"problem":' + quote(text) + '}'


def _one_call(names, entry, arguments):
    try:
        return '{"ok":true,"value":' + encode(entry_of(names, entry)(*arguments)) + '}'
    except _KeyboardInterrupt:
        raise
    except MissingEntry as error:
        return problem(_str(error))
    except _BaseException as error:
        report(error, 1)
        return problem(describe(error))


def _exit_code(error):
    code = error.code
    if code is None:
        return 0
    if _isinstance(code, _int):
        return code & 255
    try:
        _print(code, file=_streams[1])
    except _BaseException:
        pass
    return 1
