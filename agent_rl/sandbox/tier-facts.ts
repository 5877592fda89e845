import type { SandboxTier } from './choose-backend.ts';

export interface TierFacts {
  stops: readonly string[];
  doesNotStop: readonly string[];
}

const everyTier = [
  'reading or changing files of the machine',
  'network and local sockets',
  'starting or signalling processes',
  'running longer, taking more memory, printing or writing more than the limits allow',
  "finding another run's code, input, output or tests",
];

/** What each backend stops a program from doing and what it does not stop, for display. */
export const tierFacts: Readonly<Record<SandboxTier, TierFacts>> = {
  'native:ns': {
    stops: [...everyTier, 'learning which files and processes the machine has'],
    doesNotStop: [
      'bugs of the Linux kernel in the system calls that the sandbox allows',
      'side channels: timing, caches, machine load, file locks in the libraries',
    ],
  },
  'native:lite': {
    stops: everyTier,
    doesNotStop: [
      'bugs of the Linux kernel in the system calls that the sandbox allows',
      'side channels: timing, caches, machine load, file locks in the libraries',
      'finding out whether a path exists, its size and age, and where a symbolic link points',
      'exceeding the folder quota for up to 50 ms, because the quota is checked 20 times a second',
      'without root, taking threads from other runs for up to 50 ms, because threads are counted 20 times a second',
      'keeping up to 0.4 GiB of disk occupied while it runs, by deleting files that it still holds open',
    ],
  },
  remote: {
    stops: ['what the server stops'],
    doesNotStop: [
      'what the server does not stop',
      'anyone who can read or change the traffic to the server',
    ],
  },
  pyodide: {
    stops: [...everyTier, 'system calls of any kind'],
    doesNotStop: [
      "bugs in V8's WebAssembly: after one, only realms and permission flags remain, which Node.js does not consider a security boundary",
      'side channels: timing, caches, machine load',
    ],
  },
};

const mebibyte = 2 ** 20;

/** Resident MiB: once per sandbox, and for each running program. design.md says how they were measured. */
const sizes: Readonly<Record<SandboxTier, { once: number; each: number }>> = {
  'native:ns': { once: 60, each: 40 },
  'native:lite': { once: 60, each: 21 },
  pyodide: { once: 0, each: 230 },
  remote: { once: 0, each: 0 },
};

/** Resident bytes of this many running programs on this machine, without the memory that the programs allocate. */
export const tierMemory = (tier: SandboxTier, sandboxes: number): number =>
  (sizes[tier].once + sizes[tier].each * sandboxes) * mebibyte;
