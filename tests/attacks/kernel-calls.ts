import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageRoot } from '../../agent_rl/core/package-root.ts';

/** The calls that attacks make. */
const names = (
  'acct add_key bpf capset chroot clock_settime clone clone3 epoll_create1 eventfd2 execveat fanotify_init ' +
  'finit_module fsopen init_module inotify_init1 io_setup io_uring_setup ioperm iopl ioprio_set kcmp kexec_load ' +
  'keyctl memfd_create memfd_secret migrate_pages mlockall modify_ldt mount mount_setattr move_pages mq_open ' +
  'mq_unlink msgctl msgget name_to_handle_at open_by_handle_at open_tree perf_event_open personality pidfd_getfd ' +
  'pidfd_open pidfd_send_signal pivot_root prctl prlimit64 process_madvise process_mrelease process_vm_readv ' +
  'process_vm_writev ptrace quotactl reboot request_key sched_setaffinity sched_setattr sched_setscheduler ' +
  'seccomp semctl semget setgid setgroups sethostname setns setpriority setresuid setuid shmat shmctl shmget ' +
  'splice swapon syslog tee tgkill timerfd_create tkill umount2 unshare userfaultfd vmsplice'
).split(' ');

/** Numbers of the calls as JSON, from the table of the native sandbox, which has the numbers of the kernel's headers. */
function numbersOf(machine: 'x86_64' | 'aarch64'): string {
  const walls = join(packageRoot(), 'agent_rl', 'sandbox', 'native', 'python', 'walls');
  const table = JSON.parse(readFileSync(join(walls, `syscalls-${machine}.json`), 'utf8')) as object;
  return JSON.stringify(
    Object.fromEntries(Object.entries(table).filter(([name]) => names.includes(name))),
  );
}

/**
 * Python's way past its own library to the kernel.
 *
 * `call(name, *arguments)` gives what the kernel answers, below 0 an error's number. `attack(name, *arguments)` prints
 * LEAK unless the answer is EPERM, ENOSYS or one of `refusals`: any other shows that the kernel looked at the request.
 * In WebAssembly no kernel is there to be called, which reads as ENOSYS.
 */
export const kernelCalls = `
import ctypes, errno, os, platform, sys
NUMBERS = {
    'x86_64': ${numbersOf('x86_64')},
    'aarch64': ${numbersOf('aarch64')},
}
if sys.platform == 'emscripten':
    def call(name, *arguments): return -errno.ENOSYS
else:
    LIBC = ctypes.CDLL(None, use_errno=True)
    LIBC.syscall.restype = ctypes.c_long
    HERE = NUMBERS[platform.machine()]
    def call(name, *arguments):
        if name not in HERE: return -errno.ENOSYS
        ctypes.set_errno(0)
        given = [ctypes.c_long(item) if isinstance(item, int) else item for item in arguments]
        answer = LIBC.syscall(ctypes.c_long(HERE[name]), *given)
        return answer if answer >= 0 else -ctypes.get_errno()
def attack(name, *arguments, refusals=()):
    answer = call(name, *arguments)
    if answer >= 0 or -answer not in (errno.EPERM, errno.ENOSYS, *refusals): print('LEAK', name, answer)
    return answer
`.trimStart();
