"""Speaks with Node in lines of JSON, owns pipes and deadlines, and has the zygote start what is to run.

It forks nothing after its start: what it holds of programs and tests is in no process that runs one.
"""

import json
import os
import sys

from box import Box
from executions import JudgeExecution, RunExecution, SessionExecution
from loop import READ, Loop, Writer

_CHUNK = 1 << 20


class Supervisor:
    """`requests` and `replies` are descriptors; `zygote` is a socket; `at_end` is called once Node is gone."""

    def __init__(self, requests, replies, zygote, at_end):
        self.loop, self.zygote = Loop(), zygote
        self._at_end = at_end
        self._requests, self._replies = requests, Writer(self.loop, replies)
        self._unread = bytearray()
        self._boxes, self._running, self._sessions = {}, {}, {}
        self._names = 0
        self.loop.watch(requests, READ, self._read)
        self.loop.watch(zygote.fileno(), READ, self._hear)

    def run(self):
        """Never returns: the process ends with its requests or its zygote."""
        self.loop.run()

    def open_box(self, setup):
        self._names += 1
        box = self._boxes[self._names] = Box(self, self._names, setup)
        return box

    def reply(self, request, answer):
        self._replies.write((json.dumps({'id': request, **answer}) + '\n').encode())

    def finished(self, request):
        self._running.pop(request, None)

    def session_ended(self, name):
        self._sessions.pop(name, None)

    def _read(self):
        data = os.read(self._requests, _CHUNK)
        if not data:
            self._at_end()
            os._exit(0)
        searched = len(self._unread)
        self._unread += data
        while True:
            end = self._unread.find(b'\n', searched)
            if end < 0:
                return
            line = bytes(self._unread[:end])
            del self._unread[: end + 1]
            searched = 0
            self._start(json.loads(line))

    def _start(self, request):
        do = request['do']
        if do == 'run':
            self._running[request['id']] = RunExecution(self, request)
        elif do == 'judge':
            self._running[request['id']] = JudgeExecution(self, request)
        elif do == 'session':
            self._run_in_session(request)
        elif do == 'close' and request['session'] in self._sessions:
            self._sessions[request['session']].stop('closed')
        elif do == 'cancel' and request['id'] in self._running:
            self._running[request['id']].stop('cancelled')

    def _run_in_session(self, request):
        name = request['session']
        if name not in self._sessions:
            if not request['first']:
                # It ended by itself between two programs.
                return self.reply(request['id'], {'gone': True})
            self._sessions[name] = SessionExecution(self, name, request['limits'])
        self._sessions[name].run(request)

    def _hear(self):
        message = self.zygote.recv(_CHUNK)
        if not message:
            sys.stderr.write('the zygote ended\n')
            os._exit(1)
        report = json.loads(message)
        self._boxes.pop(report['name']).end(report)
