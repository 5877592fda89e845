"""The process that runs a program: shuts itself in, and only then reads what it is to run."""

import fcntl
import os
import sys

import entries
from walls import kernel

# Where an entry finds its descriptors: standard input, output and error, notes to the supervisor, a channel to another
# sandbox, and the job itself.
NOTES, CHANNEL, JOB = 3, 4, 5
# What this Python was started with holds for libraries that a program loads, too: the order of sums, and so the last digits,
# would depend on the number of threads.
_THREADS = {name: value for name, value in os.environ.items() if name.endswith('_NUM_THREADS')}
_ENVIRONMENT = {'PATH': '/usr/bin:/bin', 'LANG': 'C.UTF-8', 'TZ': 'UTC', 'PYTHONHASHSEED': '0', **_THREADS}


def run_child(jail, header, descriptors, work):
    """Does not return. `descriptors`: job, standard input, output, error, notes and, if there is one, a channel."""
    try:
        os.setsid()
        os.umask(0o077)
        os.chdir(work)
        os.environ.clear()
        os.environ.update({**_ENVIRONMENT, 'HOME': work, 'TMPDIR': work})
        _arrange(descriptors)
        jail.lock(header['limits'], work)
        sys.path.insert(0, work)
        sys.argv = ['main.py']
    except BaseException as error:
        os.write(2, ('the walls could not be put up: %r\n' % error).encode())
        os._exit(entries.SETUP_FAILED)
    # Everything is shut: only now does anything of the run enter this process.
    entries.enter(header['entry'], header['limits'])


def _arrange(descriptors):
    job, *rest = descriptors
    high = [fcntl.fcntl(descriptor, fcntl.F_DUPFD, 100) for descriptor in (*rest, job)]
    targets = [*range(len(rest)), JOB]
    for descriptor, target in zip(high, targets):
        os.dup2(descriptor, target)
    if len(rest) <= CHANNEL:
        kernel.close_descriptors(len(rest), JOB - 1)
    kernel.close_descriptors(JOB + 1)
