"""Limits of one sandboxed process."""

import os
import resource

_MEBIBYTE = 1 << 20
# Address space that is reserved but not used: libraries still to be loaded, an arena of the C library.
_RESERVED = 128 * _MEBIBYTE


def address_space():
    """Bytes of address space that this process takes. Needs /proc."""
    with open('/proc/self/statm') as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def apply_limits(limits):
    """Sets the kernel's limits of this process, for good.

    `limits`: memory_mib, cpu_s, file_mib, tasks, descriptors, and `inherited`, bytes of address space taken already.
    """
    memory = limits['memory_mib'] * _MEBIBYTE
    for kind, most in (
        # Only this one holds for shared mappings too.
        (resource.RLIMIT_AS, limits['inherited'] + memory + _RESERVED),
        (resource.RLIMIT_DATA, memory),
        (resource.RLIMIT_FSIZE, limits['file_mib'] * _MEBIBYTE),
        (resource.RLIMIT_NOFILE, limits['descriptors']),
        (resource.RLIMIT_NPROC, limits['tasks']),
        (resource.RLIMIT_STACK, 8 * _MEBIBYTE),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_MEMLOCK, 0),
        (resource.RLIMIT_MSGQUEUE, 0),
        (resource.RLIMIT_SIGPENDING, 64),
    ):
        _lower(kind, most)
    # A second more than the soft limit, whose signal a program may catch.
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    most = limits['cpu_s'] + 1
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (min(limits['cpu_s'], most), most))


def count_tasks(user):
    """Threads of all processes of a user."""
    count = 0
    for name in os.listdir('/proc'):
        try:
            if name.isdigit() and os.stat('/proc/' + name).st_uid == user:
                count += len(os.listdir('/proc/%s/task' % name))
        except OSError:
            # It ended while we counted.
            continue
    return count


def _lower(kind, most):
    _, hard = resource.getrlimit(kind)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(kind, (most, most))
