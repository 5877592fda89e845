"""What of the machine a sandboxed program can see: Python's own library and the system's shared libraries."""

import os
import sys
import sysconfig

_LIBRARIES = ('/lib', '/lib64', '/usr/lib', '/usr/lib64')
_SHARED_PREFIXES = ('/usr', '/usr/local')
_DATA = ('/usr/share/zoneinfo', '/etc/ld.so.cache')
DEVICES = ('/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom')


def visible_paths(hidden):
    """Existing files and folders to be seen, none inside another, without the folders `hidden` that lie in them.

    A folder of `hidden` that contains a visible one, such as a project around its virtual environment, hides the rest
    of itself only.
    """
    wanted = [os.path.realpath(path) for path in (*_LIBRARIES, *_DATA, *_python_folders())]
    outermost = _outermost(path for path in wanted if os.path.exists(path))
    hidden = [os.path.realpath(path) for path in hidden]
    return [part for path in outermost for part in _without(path, hidden)]


def _python_folders():
    # Where our own modules are, which every run inherits in memory.
    program = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    own = (program, os.path.dirname(os.path.dirname(program)))
    paths = sysconfig.get_paths()
    folders = [paths['stdlib'], paths['platstdlib'], *(path for path in sys.path if path not in own)]
    if sys.base_prefix not in _SHARED_PREFIXES:
        # A Python with a prefix of its own brings shared libraries there.
        folders.append(sysconfig.get_config_var('LIBDIR') or '')
    return [path for path in folders if os.path.isabs(path)]


def _outermost(paths):
    kept = []
    for path in sorted(set(paths), key=len):
        if not any(_inside(path, folder) for folder in kept):
            kept.append(path)
    return kept


def _inside(path, folder):
    return path == folder or path.startswith(folder.rstrip('/') + '/')


def _without(path, hidden):
    # The path itself, or its parts when a hidden folder lies in it.
    if path in hidden and os.path.isdir(path):
        return []
    if not any(_inside(folder, path) for folder in hidden):
        return [path]
    parts = []
    for entry in sorted(os.listdir(path)):
        inner = os.path.join(path, entry)
        if not os.path.islink(inner):
            parts.extend(_without(inner, hidden))
    return parts
