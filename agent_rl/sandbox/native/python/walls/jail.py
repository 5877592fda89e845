"""The two levels: how a run is put behind its walls. A jail is made once, in the zygote, for many runs."""

import errno
import os
import platform
import re
import signal
import struct
import tempfile

from walls import kernel, landlock, root_folder, seccomp, work_folder
from walls.limits import address_space, apply_limits, count_tasks
from walls.syscall_table import numbers
from walls.visible_paths import DEVICES, visible_paths

_FIRST_USER, _USERS = 64000, 1000
# For what a user without root starts later, other runs included.
_SPARE_TASKS = 1024
_WRITABLE_DEVICE = '/dev/null'
_MOST_FILE_MIB, _MOST_DESCRIPTORS = 16, 32
_AWAITED = {signal.SIGCHLD, signal.SIGRTMIN}
# What the reaper reports of a run that ended: wait status, disk full, processor seconds, peak KiB, and whether it left nothing
# behind that could still speak.
REPORT = struct.Struct('=i?dq?')


class Unavailable(Exception):
    """This machine does not offer the level."""


class Jail:
    """What both levels share."""

    def __init__(self, hidden):
        self._as_root = os.getuid() == 0
        self._paths = visible_paths(hidden)
        self._abi = landlock.version()
        self._machine = platform.machine()
        self._table = numbers()
        self._spawned = 0
        self._inherited = address_space()
        # The kernel counts the tasks of a user together, this trainer's own among them.
        self._other_tasks = 0 if self._as_root else count_tasks(os.getuid()) + _SPARE_TASKS

    def describe(self):
        """For the record: the walls that stand."""
        return {
            'landlock': self._abi,
            'seccomp': True,
            'user': 'own' if self._as_root else 'same',
            'tasks': 'shared' if self._other_tasks else 'own',
        }

    def next_user(self, taken):
        """As root each run has its own user, not in `taken`, so that runs share no limit of a user."""
        if not self._as_root:
            return os.getuid()
        if len(taken) >= _USERS:
            raise OSError(errno.EAGAIN, 'all %d users for runs are in use' % _USERS)
        user = None
        while user is None or user in taken:
            self._spawned += 1
            user = _FIRST_USER + self._spawned % _USERS
        return user

    def _become(self, user):
        if self._as_root:
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)

    def _limit(self, limits):
        tasks = limits['tasks'] + self._other_tasks
        apply_limits({**limits, 'tasks': tasks, 'inherited': self._inherited})

    def _lock(self, work, *, own_files):
        kernel.control_process(kernel.PR_SET_NO_NEW_PRIVS, 1)
        kernel.control_process(kernel.PR_SET_DUMPABLE, 0)
        if self._abi:
            read = [*self._paths, *DEVICES, '/etc/passwd'] if own_files else [*self._paths, *DEVICES]
            landlock.confine(read, [work, _WRITABLE_DEVICE], self._abi)
        kernel.install_filter(self._filter(own_files))

    def _filter(self, own_files):
        return seccomp.build_filter(
            self._table, self._machine, pid=os.getpid(), own_files=own_files,
            truncation_guarded=self._abi >= landlock.GUARDS_TRUNCATION,
        )


class NamespaceJail(Jail):
    """Level `ns`: namespaces and a root of its own; each run has its own process namespace and a memory disk."""

    level = 'ns'
    # To the first process of the namespace. Real-time signals are queued, so of two none is lost, and they take turns.
    signals = {'kill': signal.SIGKILL, 'pause': signal.SIGRTMIN, 'resume': signal.SIGRTMIN}
    namespaces = kernel.NEW_NAMESPACE_PID | kernel.NEW_NAMESPACE_MOUNT | kernel.NEW_NAMESPACE_IPC

    def __init__(self, hidden):
        super().__init__(hidden)
        # The root to come has none.
        self._proc = os.open('/proc', os.O_PATH)
        self._group = os.getgid()
        root_folder.enter_namespaces(self._paths, self._proc, self._as_root)
        if self._as_root:
            kernel.drop_bounding_set()
        elif self._counts_by_namespace():
            self.namespaces |= kernel.NEW_NAMESPACE_USER
            self._other_tasks = 0
        # A run is always the second process of its namespace, so one filter serves all.
        self._built = seccomp.build_filter(self._table, self._machine, pid=2, own_files=True)

    def _counts_by_namespace(self):
        # Tasks of one user are counted by user namespace since Linux 5.14, so with one of its own a run takes no other's.
        if tuple(int(part) for part in re.findall(r'\d+', platform.release())[:2]) < (5, 14):
            return False
        trial = os.fork()
        if trial == 0:
            try:
                user = os.getuid()
                kernel.unshare(kernel.NEW_NAMESPACE_USER)
                root_folder.keep_user(self._proc, user, self._group)
                os._exit(0)
            finally:
                os._exit(1)
        return os.waitpid(trial, 0)[1] == 0

    def prepare(self, taken):
        """What a run needs to be given; `taken` are the users of those that run. Raises OSError."""
        return {'user': self.next_user(taken)}

    def lock(self, limits, work):
        """Shuts this process in, for good."""
        self._limit(limits)
        self._lock(work, own_files=True)

    def over_quota(self, _work, _limits):
        """The memory disk has a size of its own."""
        return False

    def over_tasks(self, _pid, _limits):
        """The kernel refuses more."""
        return False

    def clear(self, _work):
        """The memory disk is gone with its namespace."""

    def _filter(self, own_files):
        return self._built

    def enter(self, request, report, body):
        """Runs `body(work_folder)` in a jail of its own, whose first process this is. Does not return."""
        kernel.die_with_parent()
        user, limits = request['user'], request['limits']
        group = user if self._as_root else self._group
        if self.namespaces & kernel.NEW_NAMESPACE_USER:
            root_folder.keep_user(self._proc, user, group)
        size = 'size=%dm,mode=700,nr_inodes=%d,uid=%d,gid=%d'
        kernel.mount(
            'tmpfs', root_folder.WORK_FOLDER, 'tmpfs', flags=kernel.MOUNT_NO_SUID | kernel.MOUNT_NO_DEV,
            data=size % (limits['disk_mib'], limits['entries'], user, group),
        )
        self._become(user)
        kernel.drop_capabilities()
        # The change of user undid the first.
        kernel.die_with_parent()
        # Before there is a child: the kernel drops what the first process of a namespace neither blocks nor handles, and a
        # session's first program may be done, and to be paused, before this process runs again.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _AWAITED)
        child = os.fork()
        if child == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            body(root_folder.WORK_FOLDER)
        _reap(child, report)


def _reap(child, report):
    kernel.close_descriptors(0, report - 1)
    kernel.close_descriptors(report + 1)
    paused = False
    while True:
        pid, status, used = os.wait4(-1, os.WNOHANG)
        if pid == child:
            disk = os.statvfs(root_folder.WORK_FOLDER)
            full = disk.f_bavail == 0 or disk.f_favail == 0
            used_s = used.ru_utime + used.ru_stime
            os.write(report, REPORT.pack(status, full, used_s, used.ru_maxrss, not _has_children()))
            os._exit(0)
        if pid == 0 and signal.sigwait(_AWAITED) == signal.SIGRTMIN:
            paused = not paused
            os.kill(child, signal.SIGSTOP if paused else signal.SIGCONT)


def _has_children():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
        return True
    except ChildProcessError:
        return False


class LiteJail(Jail):
    """Level `lite`: no namespaces, so Landlock and seccomp are the walls; a folder of the disk, watched."""

    level = 'lite'
    signals = {'kill': signal.SIGKILL, 'pause': signal.SIGSTOP, 'resume': signal.SIGCONT}
    namespaces = 0

    def __init__(self, hidden, base):
        super().__init__(hidden)
        if not self._abi:
            raise Unavailable('level lite needs Landlock, which this kernel does not offer (5.13 or later)')
        self._base = base
        if self._as_root:
            kernel.drop_bounding_set()

    def prepare(self, taken):
        """What a run needs to be given: a folder too. Raises OSError."""
        user = self.next_user(taken)
        work = tempfile.mkdtemp(prefix='run-', dir=self._base)
        if self._as_root:
            os.chown(work, user, user)
        return {'user': user, 'work': work, 'parent': os.getpid()}

    def enter(self, request, _report, body):
        """Runs `body(work_folder)` in this process. Does not return."""
        self._become(request['user'])
        if self._as_root:
            kernel.drop_capabilities()
        kernel.die_with_parent()
        if os.getppid() == request['parent']:
            body(request['work'])

    def lock(self, limits, work):
        """Shuts this process in, for good."""
        # A file that has been removed while it is open is on the disk and in no folder, so these bound what can be held.
        self._limit({
            **limits,
            'file_mib': min(limits['file_mib'], _MOST_FILE_MIB),
            'descriptors': min(limits['descriptors'], _MOST_DESCRIPTORS),
        })
        self._lock(work, own_files=False)

    def over_quota(self, work, limits):
        return work_folder.usage(work, limits['disk_mib'] << 20, limits['entries'])

    def over_tasks(self, pid, limits):
        """Whether it has more threads than allowed: the kernel counts the threads of all runs of a user together."""
        try:
            return not self._as_root and len(os.listdir('/proc/%d/task' % pid)) > limits['tasks']
        except FileNotFoundError:
            return False

    def clear(self, work):
        work_folder.remove_tree(work)
