"""One sandboxed process, as the supervisor sees it: its pipes and how it ended."""

import array
import json
import os
import socket

from jail import REPORT
from loop import Reader, Writer

_NOTES_MOST = 8 << 20


class Box:
    """Starts a process by way of the zygote. `on_data` and `on_end` are called as it speaks and once it has ended.

    `setup` has `entry`, `limits`, `on_data`, `on_end` and, for a process joined to another, `channel`, a descriptor.
    """

    def __init__(self, place, name, setup):
        loop, zygote, limits = place.loop, place.zygote, setup['limits']
        self.name = name
        self._zygote = zygote
        self._on_end = setup['on_end']
        self.ended = None
        job_in, job = os.pipe()
        stdin_in, stdin = os.pipe()
        out, out_in = os.pipe()
        err, err_in = os.pipe()
        notes, notes_in = os.pipe()
        report, report_in = os.pipe()
        channel = [setup['channel']] if 'channel' in setup else []
        given = [job_in, stdin_in, out_in, err_in, notes_in, *channel, report_in]
        self.job, self.stdin = Writer(loop, job), Writer(loop, stdin)
        caps = {'keep': limits['output_kept'], 'most': limits['output_most'], 'on_data': setup['on_data']}
        self.out, self.err = Reader(loop, out, **caps), Reader(loop, err, **caps)
        self.notes = Reader(loop, notes, **{**caps, 'keep': _NOTES_MOST, 'most': _NOTES_MOST})
        self._report = report
        header = {'do': 'spawn', 'name': name, 'entry': setup['entry'], 'limits': limits}
        zygote.sendmsg(
            [json.dumps(header).encode()], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', given))]
        )
        for descriptor in given:
            os.close(descriptor)

    @property
    def flooded(self):
        return any(reader.count > reader.most for reader in (self.out, self.err, self.notes))

    def kill(self):
        if self.ended is None:
            self._zygote.send(json.dumps({'do': 'kill', 'name': self.name}).encode())

    def end(self, message):
        """The zygote says that the process has ended, or could not be started."""
        for reader in (self.out, self.err, self.notes):
            reader.drain()
            reader.close()
        self.job.abandon()
        self.stdin.abandon()
        report = os.read(self._report, REPORT.size)
        os.close(self._report)
        self.ended = {
            'status': message.get('status'),
            'disk_full': message.get('over_quota', False),
            'over_quota': message.get('over_quota', False),
            'cpu_s': message.get('cpu_s', 0),
            'peak_kib': message.get('peak_kib', 0),
            'failed': message.get('failed'),
        }
        if len(report) == REPORT.size:
            # From the first process of a namespace, which knows how the program itself ended.
            status, full, cpu_s, peak_kib = REPORT.unpack(report)
            self.ended.update(status=status, disk_full=full, cpu_s=cpu_s, peak_kib=peak_kib)
        self._on_end()
