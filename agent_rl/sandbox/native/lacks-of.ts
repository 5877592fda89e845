import type { SandboxIncident } from '../incident.ts';
import type { Hello } from './protocol.ts';

/** What this machine does not give that the level has elsewhere. */
export function lacksOf({ level, fixedAddresses, walls }: Hello): readonly SandboxIncident[] {
  const addresses = {
    kind: 'addresses',
    message:
      'addresses of objects differ from run to run, since this container forbids to fix them',
  } as const;
  const threads = {
    kind: 'threads',
    message:
      'a program can take the threads that others would start, since here the kernel counts those of all programs together',
  } as const;
  return [
    ...(fixedAddresses ? [] : [addresses]),
    // Level lite never has it without root, as `agent-rl sandbox doctor` says, and counts from outside.
    ...(level === 'ns' && walls.tasks === 'shared' ? [threads] : []),
  ];
}
