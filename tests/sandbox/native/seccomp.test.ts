import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import { runFilter } from '#tests/support/packet-filter.ts';
import { evaluatePython, hasNativePython } from '#tests/support/python.ts';

type Table = Readonly<Record<string, number>>;

const python = join(packageRoot(), 'agent_rl', 'sandbox', 'native', 'python', 'walls');
const tableOf = (machine: string): Table =>
  JSON.parse(readFileSync(join(python, `syscalls-${machine}.json`), 'utf8')) as Table;

/**
 * `gcc -nostdinc -isystem HEADERS -dM -E` of <asm/unistd.h> from Debian 12's linux-libc-dev 6.1 and
 * linux-libc-dev-arm64-cross 6.1.4. Some names of 64-bit ARM stand for another one.
 */
function numbersOfHeaders(machine: string): Table {
  const file = join(packageRoot(), 'tests', 'fixtures', 'syscalls', `${machine}.h.txt`);
  const lines = [...readFileSync(file, 'utf8').matchAll(/#define (\w+) (\S+)/g)];
  const defined = new Map(lines.map(([, name, value]) => [name, value]));
  const numberOf = (value = ''): number =>
    /^\d+$/.test(value) ? Number(value) : numberOf(defined.get(value));
  return Object.fromEntries(
    [...defined.keys()]
      .filter((name) => name?.startsWith('__NR_'))
      .map((name = '') => [name.slice('__NR_'.length), numberOf(name)]),
  );
}

const allowed = 0x7fff0000;
const killed = 0x80000000;
const failed = (errno: number): number => 0x50000 | errno;
const [EPERM, ENOTTY, ENOSYS, ENOTSUP] = [1, 25, 38, 95];
const ownPid = 4711;
const codes = { x86_64: 0xc000003e, aarch64: 0xc00000b7 } as const;

test.each(['x86_64', 'aarch64'])(
  "The system call table of %s contains all numbers of the kernel's headers",
  (machine) => expect(tableOf(machine)).toEqual(numbersOfHeaders(machine)),
);

const native = hasNativePython ? describe : describe.skip;

/** What an expression of the module of the filter comes to. */
const ofSeccomp = (expression: string): unknown =>
  evaluatePython(`from walls import seccomp, syscall_table\nprint(json.dumps(${expression}))`);
const filterOf = (machine: string, more = ''): Buffer => {
  const made = `seccomp.build_filter(syscall_table.numbers('${machine}'), '${machine}', pid=${ownPid}${more}).hex()`;
  return Buffer.from(ofSeccomp(made) as string, 'hex');
};

native.each(['x86_64', 'aarch64'] as const)('The filter of system calls on %s', (machine) => {
  const table = tableOf(machine);
  const filter = filterOf(machine, ', own_files=True');
  const verdict = (name: string, args: readonly number[] = [], program = filter): number => {
    const number = table[name];
    if (number === undefined) throw new Error(`${machine} has no ${name}.`);
    return runFilter(program, { number, machine: codes[machine], args });
  };

  test('is short enough for the kernel', () => {
    expect(filter.length / 8).toBeLessThanOrEqual(4096);
  });

  test.each(['read', 'openat', 'mmap', 'exit_group'])('allows %s', (name) =>
    expect(verdict(name)).toBe(allowed),
  );

  test.each(
    (
      'socket connect execve execveat ptrace process_vm_readv mount unshare setns bpf io_uring_setup userfaultfd ' +
      'keyctl memfd_create open_by_handle_at pidfd_open perf_event_open shmget mq_open setuid capset mknodat chroot personality ' +
      'landlock_create_ruleset seccomp inotify_init1 inotify_add_watch setsockopt getsockopt sendmsg recvmsg sendmmsg recvmmsg'
    ).split(' '),
  )('refuses %s', (name) => expect(verdict(name)).toBe(failed(EPERM)));

  test.each(['clone3', 'process_mrelease', 'futex_waitv', 'io_setup', 'mlock', 'syncfs'])(
    'does not know %s',
    (name) => expect(verdict(name)).toBe(failed(ENOSYS)),
  );

  test('does not know a call of a later kernel', () => {
    expect(runFilter(filter, { number: 9999, machine: codes[machine] })).toBe(failed(ENOSYS));
  });

  test.each([0x40000003, 0x40000028, 0, 0xc000003e ^ 1])(
    'kills a call in the convention of machine %i',
    (other) => expect(runFilter(filter, { number: 1, machine: other })).toBe(killed),
  );

  test('allows new threads and nothing else of clone', () => {
    const thread = 0x3d0f00;
    expect(verdict('clone', [thread])).toBe(allowed);
    expect(verdict('clone', [17])).toBe(failed(EPERM));
    for (const namespace of [0x20000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(verdict('clone', [thread | namespace])).toBe(failed(EPERM));
    }
  });

  test.each(['kill', 'tgkill', 'rt_sigqueueinfo'])(
    'allows %s only for the process itself',
    (name) => {
      expect(verdict(name, [ownPid, 9])).toBe(allowed);
      for (const other of [0, 1, -1, -ownPid, ownPid + 1]) {
        expect(verdict(name, [other, 9])).toBe(failed(EPERM));
      }
    },
  );

  test('allows limits only for the process itself', () => {
    expect(verdict('prlimit64', [0])).toBe(allowed);
    expect(verdict('prlimit64', [ownPid])).toBe(allowed);
    expect(verdict('prlimit64', [1])).toBe(failed(EPERM));
    expect(verdict('sched_setaffinity', [1])).toBe(failed(EPERM));
  });

  test('allows terminal queries and no other control of devices', () => {
    const [TCGETS, TIOCSTI, TIOCLINUX] = [0x5401, 0x5412, 0x541c];
    expect(verdict('ioctl', [1, TCGETS])).toBe(allowed);
    expect(verdict('ioctl', [1, TIOCSTI])).toBe(failed(ENOTTY));
    expect(verdict('ioctl', [1, TIOCLINUX])).toBe(failed(ENOTTY));
  });

  test('refuses to let descriptors signal other processes', () => {
    const [F_GETFL, F_SETOWN, F_SETSIG, F_SETPIPE_SZ, F_NOTIFY] = [3, 8, 10, 1031, 1026];
    expect(verdict('fcntl', [1, F_GETFL])).toBe(allowed);
    for (const command of [F_SETOWN, F_SETSIG, F_SETPIPE_SZ, F_NOTIFY]) {
      expect(verdict('fcntl', [1, command])).toBe(failed(EPERM));
    }
  });

  test('allows local pairs of stream sockets only', () => {
    const [unix, inet, stream, datagram, packets, closeOnExec] = [1, 2, 1, 2, 5, 0x80000];
    expect(verdict('socketpair', [unix, stream])).toBe(allowed);
    expect(verdict('socketpair', [unix, stream | closeOnExec])).toBe(allowed);
    expect(verdict('socketpair', [unix, datagram])).toBe(failed(EPERM));
    expect(verdict('socketpair', [unix, packets])).toBe(failed(EPERM));
    expect(verdict('socketpair', [inet, stream])).toBe(failed(EPERM));
  });

  test.each(['sendto', 'recvfrom'])('allows %s for plain bytes only', (name) => {
    const [MSG_OOB, MSG_PEEK, MSG_DONTWAIT, MSG_NOSIGNAL, MSG_ZEROCOPY] = [
      1, 2, 0x40, 0x4000, 0x4000000,
    ];
    for (const flags of [0, MSG_PEEK, MSG_DONTWAIT | MSG_NOSIGNAL]) {
      expect(verdict(name, [3, 0, 1, flags])).toBe(allowed);
    }
    for (const flags of [MSG_OOB, MSG_OOB | MSG_DONTWAIT, MSG_ZEROCOPY, 0x80000000]) {
      expect(verdict(name, [3, 0, 1, flags])).toBe(failed(EPERM));
    }
  });

  test('allows changing file modes only in a file system of its own', () => {
    const shared = filterOf(machine, ', own_files=False');
    expect(verdict('fchmodat')).toBe(allowed);
    for (const name of ['fchmodat', 'fchmod', 'utimensat']) {
      expect(verdict(name, [], shared)).toBe(failed(EPERM));
    }
    expect(verdict('getxattr', [], shared)).toBe(failed(ENOTSUP));
  });

  test('refuses to truncate a file that is opened for reading, unless Landlock guards it', () => {
    const [O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_TRUNC] = [0, 1, 2, 0x40, 0x200];
    const unguarded = filterOf(machine, ', own_files=False, truncation_guarded=False');
    const opened = (flags: number): number => verdict('openat', [-100, 0, flags], unguarded);
    expect(opened(O_RDONLY | O_TRUNC)).toBe(failed(EPERM));
    expect(opened(O_RDONLY | O_CREAT | O_TRUNC)).toBe(failed(EPERM));
    for (const flags of [O_RDONLY, O_WRONLY | O_CREAT | O_TRUNC, O_RDWR | O_TRUNC, O_RDWR]) {
      expect(opened(flags)).toBe(allowed);
    }
    expect(verdict('truncate', [], unguarded)).toBe(failed(EPERM));
    expect(verdict('openat2', [], unguarded)).toBe(failed(ENOSYS));
    expect(verdict('ftruncate', [], unguarded)).toBe(allowed);
    expect(verdict('openat', [-100, 0, O_RDONLY | O_TRUNC])).toBe(allowed);
  });

  test('decides every call as the lists say, and knows no other', () => {
    const own = '[seccomp.ALLOWED + seccomp.ATTRIBUTES, seccomp.REFUSED, seccomp.UNSUPPORTED]';
    const lists = ofSeccomp(own) as string[][];
    const verdicts = [allowed, failed(EPERM), failed(ENOTSUP)];
    const byArguments = new Set(
      (
        'clone ioctl fcntl prctl socketpair sendto recvfrom kill tgkill rt_sigqueueinfo ' +
        'rt_tgsigqueueinfo prlimit64 sched_setaffinity'
      ).split(' '),
    );
    for (const name of Object.keys(table).filter((each) => !byArguments.has(each))) {
      const list = lists.findIndex((names) => names.includes(name));
      expect([name, verdict(name)]).toEqual([name, verdicts[list] ?? failed(ENOSYS)]);
    }
  });

  test('names only calls that some machine has', () => {
    const names = ofSeccomp(
      'seccomp.ALLOWED + seccomp.REFUSED + seccomp.ATTRIBUTES + seccomp.UNSUPPORTED',
    ) as string[];
    const known = { ...tableOf('x86_64'), ...tableOf('aarch64') };
    expect(names.filter((name) => known[name] === undefined)).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });
});

native('The filter of system calls', () => {
  test('kills the second convention of x86-64 kernels, x32', () => {
    const call = { number: 0x40000000 + 1, machine: codes.x86_64 };
    expect(runFilter(filterOf('x86_64', ', own_files=True'), call)).toBe(killed);
  });
});
