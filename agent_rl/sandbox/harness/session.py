"""A session: programs that share their variables, one after another."""

import linecache
import random

from .program import failed, flush, plain, start

_compile, _exec, _BaseException, _len = compile, exec, BaseException, len
_lines = linecache.cache


class Session:
    """The variables of a rollout's programs. Call `run` once per program."""

    def __init__(self, seed):
        random.seed(seed)
        self._names = start('', '__main__')

    def run(self, source):
        """Runs one program with the variables the earlier ones left. Its exit code, or MEMORY_ERROR."""
        source = plain(source)
        _lines['main.py'] = (_len(source), None, source.splitlines(True), 'main.py')
        code = 0
        try:
            _exec(_compile(source, 'main.py', 'exec', dont_inherit=True), self._names)
        except _BaseException as error:
            code = failed(error, 1)
        flush()
        return code
