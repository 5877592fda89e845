import type { Policy } from '../core/plugins/policy.ts';

/** The policy of a job that samples nothing. */
export function silentPolicy(job: string): Policy {
  const refuse = (): never => {
    throw new Error(`${job} samples nothing.`);
  };
  return {
    begin: refuse,
    act: async () => refuse(),
    observe: refuse,
    release: () => undefined,
  };
}
