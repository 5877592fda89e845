/** Numbers of system calls: x86_64, then aarch64 where it has the call. */
const numbers = {
  acct: [163, 89],
  add_key: [248, 217],
  bpf: [321, 280],
  capset: [126, 91],
  chroot: [161, 51],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  epoll_create1: [291, 20],
  eventfd2: [290, 19],
  execveat: [322, 281],
  fanotify_init: [300, 262],
  finit_module: [313, 273],
  fsopen: [430, 430],
  init_module: [175, 105],
  inotify_init1: [294, 26],
  io_setup: [206, 0],
  io_uring_setup: [425, 425],
  ioperm: [173],
  iopl: [172],
  ioprio_set: [251, 30],
  kcmp: [312, 272],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  mlockall: [151, 230],
  modify_ldt: [154],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_pages: [279, 239],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  msgctl: [71, 187],
  msgget: [68, 186],
  name_to_handle_at: [303, 264],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pivot_root: [155, 41],
  prctl: [157, 167],
  prlimit64: [302, 261],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  quotactl: [179, 60],
  reboot: [169, 142],
  request_key: [249, 218],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setscheduler: [144, 119],
  seccomp: [317, 277],
  semctl: [66, 191],
  semget: [64, 190],
  setgid: [106, 144],
  setgroups: [116, 159],
  sethostname: [170, 161],
  setns: [308, 268],
  setpriority: [141, 140],
  setresuid: [117, 147],
  setuid: [105, 146],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmget: [29, 194],
  splice: [275, 76],
  swapon: [167, 224],
  syslog: [103, 116],
  tee: [276, 77],
  tgkill: [234, 131],
  timerfd_create: [283, 85],
  tkill: [200, 130],
  umount2: [166, 39],
  unshare: [272, 97],
  userfaultfd: [323, 282],
  vmsplice: [278, 75],
} as const;

const numbersOf = (place: 0 | 1): string =>
  JSON.stringify(
    Object.fromEntries(
      Object.entries(numbers).flatMap(([name, all]: [string, readonly number[]]) =>
        all[place] === undefined ? [] : [[name, all[place]]],
      ),
    ),
  );

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
    'x86_64': ${numbersOf(0)},
    'aarch64': ${numbersOf(1)},
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
