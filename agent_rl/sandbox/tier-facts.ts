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

/** What each backend holds back from a program and what not, in words for people. */
export const tierFacts: Readonly<Record<SandboxTier, TierFacts>> = {
  'native:ns': {
    stops: [...everyTier, 'learning which files and processes the machine has'],
    doesNotStop: [
      'faults of the Linux kernel in the system calls it allows',
      'side channels: timing, caches, load of the machine, locks on files of the libraries',
    ],
  },
  'native:lite': {
    stops: everyTier,
    doesNotStop: [
      'faults of the Linux kernel in the system calls it allows',
      'side channels: timing, caches, load of the machine, locks on files of the libraries',
      'asking whether a path exists, how large and how old it is, and where a symbolic link leads',
      'writing more than its folder may hold until that is seen, which is looked for 20 times a second',
      'without root, taking the threads that other runs could start until that is seen, as often',
      'holding up to 0.4 GiB on the disk, while it runs, in files it has removed but not closed',
    ],
  },
  remote: {
    stops: ['what the server stops'],
    doesNotStop: ['what the server does not stop', 'whoever can read or change the connection'],
  },
  pyodide: {
    stops: [...everyTier, 'system calls: a program has none'],
    doesNotStop: [
      'faults of V8 in WebAssembly: Node calls neither its realms nor its permission flags a boundary',
      'side channels: timing, caches, load of the machine',
    ],
  },
};

const mebibyte = 2 ** 20;

/** Resident MiB of what is there once and of one running program; see design.md for how they were measured. */
const sizes: Readonly<Record<SandboxTier, { once: number; each: number }>> = {
  'native:ns': { once: 60, each: 40 },
  'native:lite': { once: 60, each: 21 },
  pyodide: { once: 0, each: 230 },
  remote: { once: 0, each: 0 },
};

/** Resident bytes on this machine of so many sandboxes at once, without what programs ask for themselves. */
export const tierMemory = (tier: SandboxTier, sandboxes: number): number =>
  (sizes[tier].once + sizes[tier].each * sandboxes) * mebibyte;
