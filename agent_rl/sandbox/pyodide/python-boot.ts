/** Modules that are in the snapshot, so that a run imports them for nothing. */
const preloaded =
  'json,re,math,random,itertools,collections,functools,heapq,bisect,string,datetime,typing,fractions,decimal,io,traceback,linecache,ast,copy,operator,statistics,textwrap,time,dataclasses,enum,abc,contextlib,numbers,codecs,types,inspect,hashlib,array,struct,weakref,csv,pprint,queue,calendar,cmath,difflib,unittest,threading,tempfile,shutil,zipfile,argparse,logging,doctest,timeit,uuid,secrets,asyncio,os,sys,base64,binascii,atexit';

/** Exit codes that no program can give: those of Python are below 256. */
export const memoryErrorCode = 256;

/**
 * The harness, run once when the snapshot is made. It keeps what it needs in closures, so that a program
 * that redefines `print`, `len` or `json.dumps` changes its own life only. A program can still find and
 * change the harness: nothing in here may ever hold what the program must not know.
 *
 * Results of calls leave as text made from the exact built-in base types (see `core/python-value.ts`):
 * no method of a value the program made is ever called.
 */
export const pythonBoot = String.raw`
import ${preloaded}
import sys, builtins
def __sandbox_make():
    _compile, _exec, _print, _print_exception = compile, exec, print, traceback.print_exception
    _type, _isinstance, _len, _callable, _id, _format_only = type, isinstance, len, callable, id, traceback.format_exception_only
    _int, _float, _str, _bool, _bytes, _bytearray, _complex = int, float, str, bool, bytes, bytearray, complex
    _list, _tuple, _dict, _set, _frozenset, _range = list, tuple, dict, set, frozenset, range
    _Module, _SystemExit, _BaseException, _KeyboardInterrupt, _MemoryError, _ValueError = types.ModuleType, SystemExit, BaseException, KeyboardInterrupt, MemoryError, ValueError
    _quote, _b64, _unb64, _loads = json.encoder.encode_basestring_ascii, binascii.b2a_base64, binascii.a2b_base64, json.loads
    _modules, _cache, _seed, _exitfuncs = sys.modules, linecache.cache, random.seed, atexit._run_exitfuncs
    _stdout, _stderr, _sys, _digits = sys.stdout, sys.stderr, sys, sys.set_int_max_str_digits
    _name_of = _type.__dict__['__name__'].__get__
    _max_depth, _max_chars = 100, 4 * 1024 * 1024

    def flush():
        for stream in (_sys.stdout, _sys.stderr, _stdout, _stderr):
            try: stream.flush()
            except _BaseException: pass

    def report(error, skip):
        trace = error.__traceback__
        for _ in _range(skip):
            if trace is not None: trace = trace.tb_next
        try: _print_exception(_type(error), error, trace, file=_stderr)
        except _BaseException:
            # The program broke what the traceback module needs.
            try: _stderr.write(_name_of(_type(error)) + ': ' + _str(error) + '\n')
            except _BaseException: pass

    def exit_code(error):
        code = error.code
        if code is None: return 0
        if _isinstance(code, _int): return code & 255
        try: _print(code, file=_stderr)
        except _BaseException: pass
        return 1

    def failed(error, skip):
        if _isinstance(error, _SystemExit): return exit_code(error)
        report(error, skip)
        return ${memoryErrorCode} if _isinstance(error, _MemoryError) else 1

    def start(source, name):
        module = _Module(name)
        _modules[name] = module
        names = module.__dict__
        names['__builtins__'] = builtins
        names['__file__'] = 'main.py'
        _cache['main.py'] = (_len(source), None, source.splitlines(True), 'main.py')
        return names

    def finish():
        try: _exitfuncs()
        except _BaseException as error: report(error, 1)
        flush()

    def run(source, seed):
        _seed(seed)
        code = 0
        try:
            names = start(source, '__main__')
            _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), names)
        except _BaseException as error:
            code = failed(error, 1)
        finish()
        return code

    def number_text(value):
        _digits(0)
        return _int.__repr__(value)

    def encode(value, out, seen):
        # 'out' grows by pieces of JSON text; 'seen' holds the containers around the value.
        kind = _type(value)
        if value is None: out.append('null')
        elif kind is _bool: out.append('true' if value else 'false')
        elif _isinstance(value, _int):
            text = number_text(value)
            out.append(text if _len(text) < 16 else '{"$int":"' + text + '"}')
        elif _isinstance(value, _float):
            text = _float.__repr__(value)
            out.append('{"$float":"' + text + '"}')
        elif _isinstance(value, _complex):
            out.append('{"$complex":["' + _float.__repr__(_complex.real.__get__(value)) + '","' + _float.__repr__(_complex.imag.__get__(value)) + '"]}')
        elif _isinstance(value, _str): out.append(_quote(_str.__str__(value)))
        elif _isinstance(value, _bytes): out.append('{"$bytes":"' + _b64(_bytes.__getitem__(value, slice_all), newline=False).decode() + '"}')
        elif _isinstance(value, _bytearray): out.append('{"$bytearray":"' + _b64(_bytes(_bytearray.__getitem__(value, slice_all)), newline=False).decode() + '"}')
        else: encode_container(value, out, seen)
        if _len(out) > 400000: raise _ValueError('returned a value that is too large')

    slice_all = slice(None)

    def encode_container(value, out, seen):
        if _id(value) in seen: raise _ValueError('returned a value that contains itself')
        if _len(seen) >= _max_depth: raise _ValueError('returned a value nested too deeply')
        inner = seen | {_id(value)}
        if _isinstance(value, _list): encode_items(_list.__iter__(value), '[', ']', out, inner)
        elif _isinstance(value, _tuple): encode_items(_tuple.__iter__(value), '{"$tuple":[', ']}', out, inner)
        elif _isinstance(value, _set): encode_items(_set.__iter__(value), '{"$set":[', ']}', out, inner)
        elif _isinstance(value, _frozenset): encode_items(_frozenset.__iter__(value), '{"$frozenset":[', ']}', out, inner)
        elif _isinstance(value, _dict): encode_dict(value, out, inner)
        else: raise _ValueError('returned a value of type ' + _name_of(_type(value)) + ', which is not plain data')

    def encode_items(items, head, tail, out, inner):
        out.append(head)
        first = True
        for item in items:
            if not first: out.append(',')
            first = False
            encode(item, out, inner)
        out.append(tail)

    def encode_dict(value, out, inner):
        out.append('{"$dict":[')
        first = True
        for key, item in _dict.items(value):
            out.append('[' if first else ',[')
            first = False
            encode(key, out, inner)
            out.append(',')
            encode(item, out, inner)
            out.append(']')
        out.append(']}')

    def decode(value):
        kind = _type(value)
        if kind is _list: return [decode(item) for item in value]
        if kind is not _dict: return value
        if _len(value) == 1:
            (tag, content), = value.items()
            if tag == '$int':
                _digits(0)
                return _int(content)
            if tag == '$float': return _float(content)
            if tag == '$complex': return _complex(_float(content[0]), _float(content[1]))
            if tag == '$bytes': return _unb64(content)
            if tag == '$bytearray': return _bytearray(_unb64(content))
            if tag == '$tuple': return _tuple([decode(item) for item in content])
            if tag == '$set': return _set([decode(item) for item in content])
            if tag == '$frozenset': return _frozenset([decode(item) for item in content])
            if tag == '$dict': return {decode(key): decode(item) for key, item in content}
        return {key: decode(item) for key, item in value.items()}

    def one_call(function, arguments):
        out = []
        try:
            encode(function(*arguments), out, _frozenset())
            text = ''.join(out)
            if _len(text) > _max_chars: raise _ValueError('returned a value that is too large')
            return '{"ok":true,"value":' + text + '}'
        except _KeyboardInterrupt: raise
        except _BaseException as error:
            report(error, 1)
            return problem(describe(error))

    def describe(error):
        try: return _str(_format_only(_type(error), error)[-1]).strip()[:400]
        except _BaseException: return 'raised an exception that cannot be shown'

    def problem(text): return '{"ok":false,"problem":' + _quote(text) + '}'

    def calls(source, entry, arguments_text, seed):
        arguments = [decode(item) for item in _loads(arguments_text)]
        _seed(seed)
        results = []
        code = 0
        try:
            names = start(source, 'solution')
            _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), names)
            function = _dict.get(names, entry)
            if _callable(function):
                for item in arguments: results.append(one_call(function, item))
            else:
                missing = problem('NameError: the program defines no function named ' + entry)
                results = [missing for _ in arguments]
        except _BaseException as error:
            code = failed(error, 1)
        finish()
        return _str(code) + '\n[' + ','.join(results) + ']'

    return run, calls
__sandbox_run, __sandbox_calls = __sandbox_make()
`;
