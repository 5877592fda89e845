"""The system calls a sandboxed program may make, as a filter for the kernel.

Calls that work on the program's own memory, files and threads are allowed. Calls that are known and dangerous fail with
EPERM; all others, including calls of future kernels, do not exist (ENOSYS). Another machine's calling convention, such as
32-bit code on a 64-bit kernel, kills the program.
"""

import errno
import struct

from walls.kernel import (
    NEW_NAMESPACE_CGROUP, NEW_NAMESPACE_IPC, NEW_NAMESPACE_MOUNT, NEW_NAMESPACE_NET, NEW_NAMESPACE_PID,
    NEW_NAMESPACE_USER, NEW_NAMESPACE_UTS,
)

ALLOWED = '''
    read write open close stat fstat lstat poll lseek mmap mprotect munmap brk rt_sigaction rt_sigprocmask rt_sigreturn
    pread64 pwrite64 readv writev access pipe select sched_yield mremap msync madvise dup dup2 pause nanosleep getitimer
    alarm setitimer getpid sendfile shutdown getsockname getpeername exit wait4 uname flock fsync fdatasync truncate ftruncate getdents getcwd chdir fchdir rename mkdir rmdir
    creat link unlink symlink readlink umask gettimeofday getrlimit getrusage sysinfo times getuid getgid geteuid getegid
    setpgid getppid getpgrp setsid getgroups getresuid getresgid getpgid getsid rt_sigpending rt_sigtimedwait
    rt_sigsuspend sigaltstack statfs fstatfs getpriority sched_getparam sched_getscheduler sched_get_priority_max
    sched_get_priority_min arch_prctl setrlimit gettid readahead time futex sched_getaffinity epoll_create getdents64
    set_tid_address restart_syscall fadvise64 timer_create timer_settime timer_gettime timer_getoverrun timer_delete
    clock_gettime clock_getres clock_nanosleep exit_group epoll_wait epoll_ctl waitid openat mkdirat newfstatat unlinkat renameat linkat symlinkat readlinkat faccessat pselect6 ppoll
    set_robust_list get_robust_list splice tee sync_file_range epoll_pwait signalfd timerfd_create eventfd fallocate
    timerfd_settime timerfd_gettime signalfd4 eventfd2 epoll_create1 dup3 pipe2 preadv pwritev getcpu
    renameat2 getrandom membarrier copy_file_range preadv2 pwritev2 statx rseq close_range openat2 faccessat2
    epoll_pwait2
'''.split()

# Modes and times of files. Harmless where all files are the program's own, not where they are the user's.
ATTRIBUTES = 'chmod fchmod fchmodat utime utimes futimesat utimensat'.split()

REFUSED = '''
    socket connect bind listen accept accept4 execve execveat ptrace process_vm_readv process_vm_writev kcmp pidfd_open
    pidfd_getfd pidfd_send_signal mount umount2 pivot_root chroot unshare setns bpf perf_event_open userfaultfd keyctl
    add_key request_key io_uring_setup io_uring_enter io_uring_register memfd_create memfd_secret open_by_handle_at
    name_to_handle_at init_module finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff sethostname
    setdomainname settimeofday clock_settime adjtimex clock_adjtime syslog acct quotactl personality modify_ldt ioperm
    iopl vhangup setuid setgid setreuid setregid setresuid setresgid setgroups setfsuid setfsgid capset mknod mknodat
    chown fchown lchown fchownat fanotify_init fanotify_mark move_pages migrate_pages mbind set_mempolicy get_mempolicy
    vmsplice fsopen fsconfig fsmount fspick move_mount open_tree mount_setattr landlock_create_ruleset landlock_add_rule
    landlock_restrict_self seccomp shmget shmat shmctl shmdt semget semop semctl semtimedop msgget msgsnd msgrcv msgctl
    mq_open mq_unlink setpriority sched_setscheduler sched_setparam sched_setattr tkill process_madvise fork vfork
    inotify_init inotify_init1 inotify_add_watch inotify_rm_watch setsockopt getsockopt sendmsg recvmsg sendmmsg recvmmsg
'''.split()

# What a copy of a file tries and can do without.
UNSUPPORTED = '''
    getxattr lgetxattr fgetxattr listxattr llistxattr flistxattr setxattr lsetxattr fsetxattr removexattr lremovexattr
    fremovexattr
'''.split()

_MACHINE_CODES = {'x86_64': 0xC000003E, 'aarch64': 0xC00000B7}
# Numbers from here on are x86's other convention, x32.
_FIRST_X32 = 0x40000000

_ALLOW, _KILL = 0x7FFF0000, 0x80000000
_FAIL = 0x00050000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _JUMP, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x05, 0x54, 0x06
_AT_NUMBER, _AT_MACHINE = 0, 4

_CLONE_THREAD = 0x10000
_NAMESPACES = (
    NEW_NAMESPACE_MOUNT | NEW_NAMESPACE_UTS | NEW_NAMESPACE_IPC | NEW_NAMESPACE_USER | NEW_NAMESPACE_PID
    | NEW_NAMESPACE_NET | NEW_NAMESPACE_CGROUP
)
# TCGETS, TIOCGWINSZ, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX
_TERMINAL_QUESTIONS = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
# Descriptor, status flags and locks. Not F_SETOWN and F_SETSIG, by which the kernel signals whom the program names.
_DESCRIPTOR_COMMANDS = (0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030, 1032)
# PR_GET_DUMPABLE, PR_SET_NAME, PR_GET_NAME, PR_SET_NO_NEW_PRIVS, PR_SET_VMA
_PROCESS_QUESTIONS = (3, 15, 16, 38, 0x53564D41)
_LOCAL_SOCKET, _STREAM, _SOCKET_KIND = 1, 1, 0xF
# MSG_PEEK, MSG_TRUNC, MSG_DONTWAIT, MSG_WAITALL, MSG_NOSIGNAL. Not MSG_OOB, whose byte the kernel holds beside the buffer.
_MESSAGE_FLAGS = 0x2 | 0x20 | 0x40 | 0x100 | 0x4000
# O_ACCMODE, of which 0 is reading, and O_TRUNC
_ACCESS, _TRUNCATE = 0x3, 0x200


def build_filter(table, machine, *, pid, own_files, truncation_guarded=True):
    """The filter for a process with this id, which may signal and limit itself only.

    `own_files` says that every file it can reach is its own, so that modes and times may be changed, and
    `truncation_guarded` that something else keeps it from emptying files it may not write.
    """
    rules = _rules(table, pid)
    if not truncation_guarded:
        rules.update(_without_truncation(table))
    for names, verdict in (
        (ALLOWED + (ATTRIBUTES if own_files else []), _ALLOW),
        (REFUSED + ([] if own_files else ATTRIBUTES), _FAIL | errno.EPERM),
        (UNSUPPORTED, _FAIL | errno.ENOTSUP),
    ):
        for name in names:
            if name in table:
                rules.setdefault(table[name], _give(verdict))
    code = [(_LOAD, 0, 0, _AT_MACHINE), (_EQUAL, 1, 0, _MACHINE_CODES[machine]), *_give(_KILL), (_LOAD, 0, 0, _AT_NUMBER)]
    if machine == 'x86_64':
        code += [(_AT_LEAST, 0, 1, _FIRST_X32), *_give(_KILL)]
    code += _search(_intervals(rules, _give(_FAIL | errno.ENOSYS)))
    return b''.join(struct.pack('HBBI', *instruction) for instruction in code)


def _rules(table, pid):
    # Calls that depend on their arguments. A call this machine lacks needs no rule.
    rules = {
        # Without CLONE_THREAD it is a fork, and memory limits hold per process.
        'clone': [
            (_LOAD, 0, 0, _argument(0)), (_ANY_BIT, 2, 0, _NAMESPACES), (_ANY_BIT, 0, 1, _CLONE_THREAD),
            *_give(_ALLOW), *_give(_FAIL | errno.EPERM),
        ],
        # Its flags are out of a filter's sight. The C library then takes clone.
        'clone3': _give(_FAIL | errno.ENOSYS),
        'ioctl': _one_of(1, _TERMINAL_QUESTIONS, errno.ENOTTY),
        'fcntl': _one_of(1, _DESCRIPTOR_COMMANDS, errno.EPERM),
        'prctl': _one_of(0, _PROCESS_QUESTIONS, errno.EPERM),
        # A pair of datagram sockets could send to any other socket by name.
        'socketpair': [
            (_LOAD, 0, 0, _argument(0)), (_EQUAL, 0, 4, _LOCAL_SOCKET), (_LOAD, 0, 0, _argument(1)),
            (_AND, 0, 0, _SOCKET_KIND), (_EQUAL, 0, 1, _STREAM), *_give(_ALLOW), *_give(_FAIL | errno.EPERM),
        ],
    }
    # Of a pair of sockets a program needs bytes that come and go. Options make its buffers larger than the memory it may
    # take, run filters of its own in the kernel and name the process at the other end; messages with ancillary data hold
    # descriptors that no limit counts.
    for name in ('sendto', 'recvfrom'):
        rules[name] = [(_LOAD, 0, 0, _argument(3)), (_ANY_BIT, 0, 1, 0xFFFFFFFF ^ _MESSAGE_FLAGS), *_give(_FAIL | errno.EPERM), *_give(_ALLOW)]
    for name in ('kill', 'tgkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo'):
        rules[name] = _one_of(0, (pid,), errno.EPERM)
    for name in ('prlimit64', 'sched_setaffinity'):
        rules[name] = _one_of(0, (0, pid), errno.EPERM)
    return {table[name]: body for name, body in rules.items() if name in table}


def _without_truncation(table):
    # A file that is opened for reading can be emptied by that. Descriptors open for writing may be cut.
    rules = {name: _unless(place, _ACCESS | _TRUNCATE, _TRUNCATE) for name, place in (('open', 1), ('openat', 2))}
    # The flags of the second are out of a filter's sight.
    rules.update({'truncate': _give(_FAIL | errno.EPERM), 'openat2': _give(_FAIL | errno.ENOSYS)})
    return {table[name]: body for name, body in rules.items() if name in table}


def _argument(index):
    # The lower half of an argument's eight bytes; both machines are little-endian.
    return 16 + 8 * index


# Instructions of the kernel's packet filter machine: operation, jump if true, jump if false, value. Bodies end in returns.


def _give(verdict):
    return [(_RETURN, 0, 0, verdict)]


def _one_of(argument, values, error):
    # Allowed when an argument is one of the values.
    tests = [(_EQUAL, len(values) - place, 0, value) for place, value in enumerate(values)]
    return [(_LOAD, 0, 0, _argument(argument)), *tests, *_give(_FAIL | error), *_give(_ALLOW)]


def _unless(argument, mask, value):
    # Allowed unless these bits of an argument have this value.
    return [(_LOAD, 0, 0, _argument(argument)), (_AND, 0, 0, mask), (_EQUAL, 0, 1, value), *_give(_FAIL | errno.EPERM), *_give(_ALLOW)]


def _intervals(rules, otherwise):
    # (first number, body), each up to the next one's first number.
    found = [(0, otherwise)]
    for number in sorted(rules):
        for first, body in ((number, rules[number]), (number + 1, otherwise)):
            if found[-1][0] == first:
                found.pop()
            if not found or found[-1][1] != body:
                found.append((first, body))
    return found


def _search(intervals):
    # By halving: for each new filter the kernel runs it once per system call there is.
    if len(intervals) == 1:
        return intervals[0][1]
    middle = len(intervals) // 2
    below, above = _search(intervals[:middle]), _search(intervals[middle:])
    # A conditional jump reaches 255 instructions.
    if len(below) < 256:
        return [(_AT_LEAST, len(below), 0, intervals[middle][0]), *below, *above]
    return [(_AT_LEAST, 0, 1, intervals[middle][0]), (_JUMP, 0, 0, len(below)), *below, *above]
