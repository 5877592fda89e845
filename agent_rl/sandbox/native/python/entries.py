"""What a sandboxed process does once it is shut in, by the kind of its job."""

import base64
import io
import json
import os
import random
import signal
import sys
import time

from harness import asserts, program, solution
from harness.channel import Channel
from harness.session import Session

# Kept, since the program may replace them.
_write, _exit, _read, _setitimer = os.write, os._exit, os.read, signal.setitimer
_dumps, _loads, _now = json.dumps, json.loads, time.monotonic
# When the program is interrupted.
_deadline = [float('inf')]

SETUP_FAILED = 125
_NOTES, _CHANNEL, _JOB = 3, 4, 5
_MOST_JOB_BYTES = 1 << 30


def enter(entry, limits):
    """Does not return."""
    # Said before anything of the run is here, so a program can neither forge it nor take it back.
    _note('{"ready":true}')
    _open_streams()
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    code = 1
    try:
        code = _ENTRIES[entry](limits)
    except BaseException as error:
        code = program.failed(error, 0)
    program.flush()
    _leave(code)


def _run(limits):
    job = _timed_job(limits)
    return program.run(job['code'], job['seed'])


def _calls(limits):
    job = _timed_job(limits)
    return program.calls(job['code'], job['entry'], job['args'], job['seed'], _note)


def _solution(limits):
    return solution.serve(_timed_job(limits)['code'], Channel(_CHANNEL))


def _asserts(_limits):
    asserts.judge(_job()['tests'], Channel(_CHANNEL), _note)
    return 0


def _session(_limits):
    # From the supervisor, which has looked at their size.
    jobs = Channel(_JOB, most_bytes=_MOST_JOB_BYTES)
    session = None
    while True:
        try:
            job = _loads(jobs.receive())
        except EOFError:
            return 0
        if session is None:
            _make_repeatable(job['seed'])
            session = Session(job['seed'])
        sys.stdin = sys.__stdin__ = io.TextIOWrapper(
            io.BytesIO(base64.b64decode(job['stdin'])), encoding='utf-8', errors='surrogateescape'
        )
        _be_interrupted_after(job['wall_s'])
        code = session.run(job['code'])
        _setitimer(signal.ITIMER_REAL, 0)
        _note_if_late()
        _note(_dumps({'done': code}))


_ENTRIES = {'run': _run, 'calls': _calls, 'solution': _solution, 'asserts': _asserts, 'session': _session}


def _timed_job(limits):
    job = _job()
    # From here on its time runs by the supervisor's clock, too.
    _note('{"begun":true}')
    _be_interrupted_after(limits['wall_s'])
    return job


def _job():
    pieces = []
    while True:
        piece = _read(_JOB, 1 << 18)
        if not piece:
            break
        pieces.append(piece)
    os.close(_JOB)
    job = _loads(b''.join(pieces))
    _write_files(job.get('files') or {})
    if 'seed' in job:
        _make_repeatable(job['seed'])
    return job


def _write_files(files):
    for path, content in files.items():
        folder = os.path.dirname(path)
        if folder:
            os.makedirs(folder, exist_ok=True)
        with open(path, 'wb') as file:
            file.write(base64.b64decode(content))


def _make_repeatable(seed):
    # Randomness that a program asks the system for, as secrets and uuid do.
    source = random.Random('entropy %d' % seed)
    os.urandom = random._urandom = lambda count: source.getrandbits(8 * count).to_bytes(count, 'little')


def _open_streams():
    program.use_streams(
        open(0, 'r', encoding='utf-8', errors='surrogateescape', closefd=False),
        open(1, 'w', encoding='utf-8', errors='surrogateescape', closefd=False),
        open(2, 'w', encoding='utf-8', errors='backslashreplace', closefd=False, buffering=1),
    )


def _be_interrupted_after(seconds):
    # Shows the program the line it was at; one that goes on is killed from outside.
    _deadline[0] = _now() + seconds
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    _setitimer(signal.ITIMER_REAL, seconds)


def _note_if_late():
    # By this process's own clock: on a busy machine the supervisor may look long after a program has ended.
    if _now() >= _deadline[0]:
        _note('{"interrupted":true}')


def _note(text):
    rest = text.encode('utf-8', 'replace') + b'\n'
    while rest:
        rest = rest[_write(_NOTES, rest):]


def _leave(code):
    _note_if_late()
    if code == program.MEMORY_ERROR:
        _note('{"memory":true}')
        code = 1
    _exit(code & 255)
