"""What the supervisor does for one request: a run or calls, tests beside a solution, or a session."""

import base64
import socket
import time

from box import Box

# Until the program is there: what takes this long is no doing of its own.
_START_S = 30.0
# After its deadline a program is interrupted and may show where it was; then it is killed.
_GRACE_S = 1.0
# How the note begins with which a session's program ends.
_DONE = b'{"done":'


class Deadline:
    """A program's time by the supervisor's clock, which the program cannot reach as it can its own alarm.

    `on_late` is called once when the time is over, `stop` when the grace after it is over, too.
    """

    def __init__(self, loop, wall_s, stop, on_late=lambda: None):
        self._loop, self._wall_s, self._stop, self._on_late = loop, wall_s, stop, on_late
        self._begun = self.late = False
        self._timer = loop.after(_START_S, stop)

    def begin(self):
        """The program starts, if it has not yet."""
        if not self._begun:
            self._begun = True
            self._set(self._wall_s, self._run_out)

    def cancel(self):
        self._timer.cancelled = True

    def _run_out(self):
        self.late = True
        self._on_late()
        self._set(_GRACE_S, self._stop)

    def _set(self, seconds, callback):
        self._timer.cancelled = True
        self._timer = self._loop.after(seconds, callback)


class Execution:
    """One request and the processes it takes. Replies once, when all of them have ended."""

    def __init__(self, place, request):
        self._place = place
        self._id = request['id']
        self._limits = request['limits']
        self._boxes = []
        self.why = None
        self._started = time.monotonic()
        self._deadline = Deadline(place.loop, self._limits['wall_s'], lambda: self.stop('timeout'), self._close_notes)

    def stop(self, why):
        """Ends the processes; the first reason counts."""
        self.why = self.why or why
        for box in self._boxes:
            box.kill()

    def _open(self, entry, **more):
        setup = {'entry': entry, 'limits': self._limits, 'on_data': self._look, 'on_end': self._ended, **more}
        box = self._place.open_box(setup)
        self._boxes.append(box)
        return box

    def _look(self):
        if self._boxes[0].begun:
            self._deadline.begin()
        if self.why is None and any(box.flooded for box in self._boxes):
            self.stop('output_limit')

    def _close_notes(self):
        # A result or a verdict that comes late counts for nothing, whatever the program did to its interrupt.
        for box in self._boxes:
            box.notes.keep_no_more()

    def _ended(self):
        # What was drained at the end may have been too much.
        self._look()
        if all(box.ended is not None for box in self._boxes):
            self._deadline.cancel()
            self._place.reply(self._id, self._answer())
            self._place.finished(self._id)

    def _answer(self):
        return {**reported(self._boxes[0], self.why, self._started), 'late': self._deadline.late}


class RunExecution(Execution):
    """A program, or calls of its function."""

    def __init__(self, place, request):
        super().__init__(place, request)
        box = self._open(request['entry'])
        box.job.write(request['job'].encode())
        box.job.close()
        box.stdin.write(base64.b64decode(request['stdin']))
        box.stdin.close()


class JudgeExecution(Execution):
    """A solution and its tests, in two processes joined by a channel.

    The solution is handed over once the tests are ready: what it does cannot be taken for a failure of theirs to start.
    """

    def __init__(self, place, request):
        super().__init__(place, request)
        self._job = request['job'].encode()
        one, other = socket.socketpair()
        self._solution = self._open('solution', channel=one.detach())
        self._tests = self._open('asserts', channel=other.detach())
        self._solution.stdin.close()
        self._tests.job.write(request['tests'].encode())
        self._tests.job.close()
        self._tests.stdin.close()

    def _look(self):
        if self._job is not None and self._tests.ready:
            self._solution.job.write(self._job)
            self._solution.job.close()
            self._job = None
        super()._look()

    def _ended(self):
        # Without its tests a solution has nothing left to do.
        if self._tests.ended is not None and self._solution.ended is None and self.why is None:
            self._place.loop.after(0, self._release)
        super()._ended()

    def _release(self):
        if self._solution.ended is None:
            self._solution.kill()

    def _answer(self):
        return {**super()._answer(), 'tests': reported(self._tests, None, self._started)}


class SessionExecution:
    """A process that runs one program after another; each has a request of its own."""

    def __init__(self, place, name, limits):
        self._place, self._name = place, name
        self._running = None
        self._why = None
        self._box = place.open_box(
            {'entry': 'session', 'limits': limits, 'on_data': self._look, 'on_end': self._ended}
        )
        self._box.stdin.close()

    def run(self, request):
        """Starts the next program. To be called when none runs."""
        self._running = request['id']
        self._started = time.monotonic()
        self._deadline = Deadline(self._place.loop, request['limits']['wall_s'], lambda: self.stop('timeout'))
        if self._box.ready:
            self._deadline.begin()
        body = request['job'].encode()
        self._box.resume()
        self._box.job.write(len(body).to_bytes(4, 'big') + body)

    def stop(self, why):
        self._why = self._why or why
        self._box.kill()

    def _look(self):
        if self._running is not None and self._box.ready:
            self._deadline.begin()
        if self._running is not None and not self._box.flooded and self._is_done():
            for reader in (self._box.out, self._box.err):
                reader.drain()
            if not self._box.flooded:
                # Threads, or a program that only says it is done, do not run on outside of a request.
                self._box.pause()
                self._tell(alive=True)
        if self._box.flooded:
            self.stop('output_limit')

    def _is_done(self):
        kept = self._box.notes.kept
        return kept.endswith(b'}\n') and kept.startswith(_DONE, kept.rfind(b'\n', 0, len(kept) - 1) + 1)

    def _ended(self):
        if self._box.flooded:
            self.stop('output_limit')
        if self._running is not None:
            self._tell(alive=False)
        self._place.session_ended(self._name)

    def _tell(self, alive):
        request, self._running = self._running, None
        self._deadline.cancel()
        report = reported(self._box, self._why, self._started)
        self._place.reply(request, {**report, 'late': self._deadline.late, 'alive': alive})


def reported(box, why, started):
    """What came of a process, for the reply."""
    out, out_bytes = box.out.take()
    err, err_bytes = box.err.take()
    notes, _ = box.notes.take()
    return {
        'why': why,
        'stdout': base64.b64encode(out).decode(),
        'stdoutBytes': out_bytes,
        'stderr': base64.b64encode(err).decode(),
        'stderrBytes': err_bytes,
        'notes': notes.decode('utf-8', 'replace'),
        'wallMs': (time.monotonic() - started) * 1000,
        'end': box.ended,
    }
