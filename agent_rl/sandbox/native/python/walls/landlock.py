"""Landlock: what of the file system, the network and other processes this process may touch from now on.

Landlock guards opening, making, renaming and removing files. It does not guard `stat`, `chdir`, `chmod` or times, which
seccomp or a root of its own must.
"""

import ctypes
import os
import stat
import struct

from walls.kernel import syscall

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_FILE = 1 << 4, 1 << 5, 1 << 7, 1 << 8
_MAKE_FIFO, _MAKE_LINK, _REFER, _TRUNCATE = 1 << 10, 1 << 12, 1 << 13, 1 << 14
_OF_FILES = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE
_READ = _READ_FILE | _READ_DIR
_WORK = (
    _READ | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_FILE
    | _MAKE_FIFO | _MAKE_LINK | _REFER | _TRUNCATE
)
# The version from which a file that may not be written cannot be emptied either.
GUARDS_TRUNCATION = 3
_BIND_TCP_AND_CONNECT_TCP = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3
_VERSION_FLAG, _PATH_BENEATH = 1, 1


def version():
    """Version of the kernel's interface; 0 when it is not available."""
    try:
        return syscall('landlock_create_ruleset', None, ctypes.c_size_t(0), _VERSION_FLAG)
    except OSError:
        return 0


def confine(read, work, abi):
    """Allows from now on only reading in the paths of `read` and working in the paths of `work`. Raises OSError.

    The process must have no_new_privs. Paths that do not exist are left out, as nothing is there to be seen.
    """
    known = _known_rights(abi)
    ruleset = _ruleset(known, abi)
    try:
        for paths, rights in ((read, _READ), (work, _WORK)):
            for path in paths:
                _allow(ruleset, path, rights & known)
        syscall('landlock_restrict_self', ruleset, 0)
    finally:
        os.close(ruleset)


def _known_rights(abi):
    highest = 13 + (abi >= 2) + (abi >= 3) + (abi >= 5)
    return (1 << highest) - 1


def _ruleset(known, abi):
    attributes = struct.pack('QQQ', known, _BIND_TCP_AND_CONNECT_TCP, _ABSTRACT_SOCKETS_AND_SIGNALS)
    size = 8 if abi < 4 else 16 if abi < 6 else 24
    return syscall('landlock_create_ruleset', attributes, ctypes.c_size_t(size), 0)


def _allow(ruleset, path, rights):
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
            rights &= _OF_FILES
        syscall('landlock_add_rule', ruleset, _PATH_BENEATH, struct.pack('=Qi', rights, descriptor), 0)
    finally:
        os.close(descriptor)
