import type { SandboxIncident } from '../incident.ts';
import type { Hello } from './protocol.ts';

/** What a level protects elsewhere and cannot protect on this machine. */
export const missingProtections = ({ level, fixedAddresses, walls }: Hello): SandboxIncident[] => [
  ...(fixedAddresses ? [] : [addresses]),
  // Level lite never has it without root, as `agent-rl sandbox doctor` says, and counts from outside.
  ...(level === 'ns' && walls.tasks === 'shared' ? [threads] : []),
];

const addresses = {
  kind: 'addresses',
  message: 'addresses of objects differ from run to run, since this container forbids fixing them',
} as const;

const threads = {
  kind: 'threads',
  message:
    'a program can take the threads that others would start, since this kernel counts the threads of all programs together',
} as const;
