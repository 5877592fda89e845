"""The pristine fork server: every run is its child, and a copy of its template.

It is given headers and descriptors only. Programs, inputs, outputs and tests pass it by in pipes, so none of them is in
the memory that a later run inherits.
"""

import array
import json
import os
import select
import signal
import socket
import time

from walls import kernel
import template

_MOST_DESCRIPTORS = 16
_HEADER_BYTES = 65536
_WATCH_S = 0.05


def serve(link, jail):
    """Serves the supervisor at the other end of `link` until it is gone."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if os.fork() == 0:
        for unused in (link, ours):
            unused.close()
        kernel.die_with_parent()
        template.serve(its, jail)
    its.close()
    Zygote(link, ours, jail).serve()


class _Run:
    def __init__(self, header, pid, given):
        self.name, self.limits, self.pid = header['name'], header['limits'], pid
        self.user, self.work = given['user'], given.get('work')
        self.descriptor = os.pidfd_open(pid)
        self.over_quota = self.over_tasks = False


class Zygote:
    def __init__(self, link, template_link, jail):
        self._link, self._template, self._jail = link, template_link, jail
        self._runs = {}
        self._by_descriptor = {}
        self._poll = select.poll()
        self._poll.register(link, select.POLLIN)
        self._watched_at = 0.0

    def serve(self):
        while True:
            watching = self._jail.level == 'lite' and self._runs
            for descriptor, _ in self._poll.poll(_WATCH_S * 1000 if watching else None):
                if descriptor == self._link.fileno():
                    if not self._receive():
                        return
                elif descriptor in self._by_descriptor:
                    self._finish(self._by_descriptor[descriptor])
            if watching:
                self._watch()

    def _receive(self):
        message, ancillary, _, _ = self._link.recvmsg(_HEADER_BYTES, socket.CMSG_SPACE(4 * _MOST_DESCRIPTORS))
        if not message:
            return False
        descriptors = array.array('i')
        for level, kind, data in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                descriptors.frombytes(data[: len(data) - len(data) % 4])
        header = json.loads(message)
        if header['do'] == 'spawn':
            self._spawn(header, list(descriptors))
        else:
            self._signal(header['name'], self._jail.signals[header['do']])
        return True

    def _spawn(self, header, descriptors):
        given = {}
        try:
            given = self._jail.prepare({run.user for run in self._runs.values()})
            pid = template.ask(self._template, {'entry': header['entry'], 'limits': header['limits'], **given}, descriptors)
            run = _Run(header, pid, given)
            self._runs[run.name] = run
            self._by_descriptor[run.descriptor] = run
            self._poll.register(run.descriptor, select.POLLIN)
        except OSError as error:
            if 'work' in given:
                self._jail.clear(given['work'])
            self._send({'name': header['name'], 'failed': str(error)})
        for descriptor in descriptors:
            os.close(descriptor)

    def _signal(self, name, number):
        run = self._runs.get(name)
        if run is not None:
            try:
                signal.pidfd_send_signal(run.descriptor, number)
            except ProcessLookupError:
                # It ended by itself; its descriptor says so in a moment.
                pass

    def _finish(self, run):
        self._poll.unregister(run.descriptor)
        del self._by_descriptor[run.descriptor], self._runs[run.name]
        _, status, used = os.wait4(run.pid, 0)
        os.close(run.descriptor)
        # One that wrote and ended between two looks.
        run.over_quota = run.over_quota or self._jail.over_quota(run.work, run.limits)
        self._send({
            'name': run.name,
            'status': status,
            'over_quota': run.over_quota,
            'over_tasks': run.over_tasks,
            'cpu_s': used.ru_utime + used.ru_stime,
            'peak_kib': used.ru_maxrss,
        })
        self._jail.clear(run.work)

    def _watch(self):
        # Without its own mount a run has no quota, and without its own user no limit of tasks: watch, and kill.
        now = time.monotonic()
        if now - self._watched_at < _WATCH_S:
            return
        for run in list(self._runs.values()):
            if not run.over_tasks and not run.over_quota:
                run.over_tasks = self._jail.over_tasks(run.pid, run.limits)
                run.over_quota = self._jail.over_quota(run.work, run.limits)
                if run.over_tasks or run.over_quota:
                    self._signal(run.name, signal.SIGKILL)
        self._watched_at = time.monotonic()

    def _send(self, message):
        self._link.send(json.dumps(message).encode())
