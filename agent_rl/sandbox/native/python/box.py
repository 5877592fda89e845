"""One sandboxed process, as the supervisor sees it: its pipes and how it ended."""

import array
import json
import os
import socket

from walls.jail import REPORT
from loop import READ, Reader, Writer

# Results and verdicts come as notes; all others are a few words, and what a program may add to them is not read.
_NOTES_MOST = {'calls': 8 << 20, 'asserts': 8 << 20}
_OTHER_NOTES_MOST = 64 << 10
# The first two, which a process writes before its program is there; see `entries.py`.
READY, BEGUN = b'{"ready":true}\n', b'{"begun":true}\n'


class Box:
    """Starts a process by way of the zygote. `on_data` and `on_end` are called as it speaks and once it has ended.

    `setup` has `entry`, `limits`, `on_data`, `on_end` and, for a process joined to another, `channel`, a descriptor.
    """

    def __init__(self, place, name, setup):
        loop, zygote, limits = place.loop, place.zygote, setup['limits']
        self.name = name
        self._loop, self._zygote = loop, zygote
        self._on_end = setup['on_end']
        self._on_data = setup['on_data']
        self.ended = None
        # Whether the process stands behind its walls, and whether it has its program.
        self.ready = self.begun = False
        self._paused = False
        job_in, job = os.pipe()
        stdin_in, stdin = os.pipe()
        out, out_in = os.pipe()
        err, err_in = os.pipe()
        # No pipe: by /proc a program could open its other end and read what was noted of it.
        notes, notes_in = (end.detach() for end in socket.socketpair())
        report, report_in = os.pipe()
        channel = [setup['channel']] if 'channel' in setup else []
        given = [job_in, stdin_in, out_in, err_in, notes_in, *channel, report_in]
        self.job, self.stdin = Writer(loop, job), Writer(loop, stdin)
        caps = {'keep': limits['output_kept'], 'most': limits['output_most'], 'on_data': setup['on_data']}
        self.out, self.err = Reader(loop, out, **caps), Reader(loop, err, **caps)
        most = _NOTES_MOST.get(setup['entry'], _OTHER_NOTES_MOST)
        self.notes = Reader(loop, notes, keep=most, most=most, on_data=self._read_notes)
        self._report, self._reported = report, b''
        loop.watch(report, READ, self._read_report)
        header = {'do': 'spawn', 'name': name, 'entry': setup['entry'], 'limits': limits}
        zygote.sendmsg(
            [json.dumps(header).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', given))]
        )
        for descriptor in given:
            os.close(descriptor)

    def _read_notes(self):
        # Looked for as they come: a session's notes are taken after each program.
        self.ready = self.ready or self.notes.kept.startswith(READY)
        self.begun = self.begun or self.notes.kept.startswith(READY + BEGUN)
        self._on_data()

    @property
    def flooded(self):
        return any(reader.count > reader.most for reader in (self.out, self.err, self.notes))

    def kill(self):
        self._signal('kill')

    def pause(self):
        """Its threads run no further until `resume`."""
        self._paused = True
        self._signal('pause')

    def resume(self):
        if self._paused:
            self._paused = False
            self._signal('resume')

    def _signal(self, what):
        if self.ended is None:
            self._zygote.send(json.dumps({'do': what, 'name': self.name}).encode())

    def end(self, message):
        """The zygote says that the process has ended, or could not be started."""
        if self._report is not None:
            self._read_report()
        if self.ended is None:
            self._end(message)

    def _read_report(self):
        # From the first process of a namespace, which knows how the program itself ended. Once the program has left
        # nothing behind, what remains is to clear the namespace away, and that need not be waited for.
        self._loop.forget(self._report)
        self._reported = os.read(self._report, REPORT.size)
        os.close(self._report)
        self._report = None
        if len(self._reported) == REPORT.size and REPORT.unpack(self._reported)[-1]:
            self._end({})

    def _end(self, message):
        for reader in (self.out, self.err, self.notes):
            reader.drain()
            reader.close()
        self.job.abandon()
        self.stdin.abandon()
        self.ended = {
            'status': message.get('status'),
            'disk_full': message.get('over_quota', False),
            'over_quota': message.get('over_quota', False),
            'over_tasks': message.get('over_tasks', False),
            'cpu_s': message.get('cpu_s', 0),
            'peak_kib': message.get('peak_kib', 0),
            'failed': message.get('failed'),
        }
        if len(self._reported) == REPORT.size:
            status, full, cpu_s, peak_kib, _ = REPORT.unpack(self._reported)
            self.ended.update(status=status, disk_full=full, cpu_s=cpu_s, peak_kib=peak_kib)
        self._on_end()
