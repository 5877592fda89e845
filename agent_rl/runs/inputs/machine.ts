import { cpus } from 'node:os';

import { AgentRlError } from '../../core/errors.ts';
import { packageVersion } from '../../core/package-root.ts';

/** What decides the rounding of a run's weights besides its config and inputs. Plain JSON. */
export interface Machine {
  device: string;
  /** Threads of a matrix product: they decide in which order a sum is taken. */
  engineThreads: number;
  /** Operating system and architecture, `linux x64`. */
  platform: string;
  cpu: string;
  node: string;
  agentRl: string;
}

/** This machine and what a session computes on. */
export const thisMachine = (engine: Pick<Machine, 'device' | 'engineThreads'>): Machine => ({
  device: engine.device,
  engineThreads: engine.engineThreads,
  platform: `${process.platform} ${process.arch}`,
  cpu: cpus()[0]?.model ?? 'unknown',
  node: process.version,
  agentRl: packageVersion(),
});

/** A machine as the log names it. */
export const machineInWords = (machine: Machine): string =>
  `${machine.device}, engine threads: ${machine.engineThreads}, ${machine.platform}, ${machine.cpu}, Node ${machine.node}, agent_rl ${machine.agentRl}`;

/** What can be set, and so must be the same. */
const settable = {
  engineThreads: { name: 'engine threads', flag: '--engine-threads' },
  device: { name: 'device', flag: '--device' },
} as const;

const reported = {
  platform: 'system',
  cpu: 'processor',
  node: 'Node',
  agentRl: 'agent_rl',
} as const;

const differing = <Key extends keyof Machine>(
  named: Readonly<Record<Key, unknown>>,
  a: Machine,
  b: Machine,
): Key[] => (Object.keys(named) as Key[]).filter((key) => a[key] !== b[key]);

interface ResumedOn {
  /** What the session before ran on. */
  began: Machine;
  now: Machine;
  allowOtherMachine: boolean;
}

/**
 * Refuses to resume a run with other engine threads or on another device, unless that is allowed.
 *
 * @returns what differs otherwise, a sentence each.
 * @throws AgentRlError `CHECKPOINT_INVALID`
 */
export function checkMachine(
  run: string,
  { began, now, allowOtherMachine }: ResumedOn,
): readonly string[] {
  const changed = differing(settable, began, now);
  const changes = changed.map((key) => `${settable[key].name}: ${began[key]} -> ${now[key]}`);
  if (changed.length > 0 && !allowOtherMachine) {
    const flags = changed.map((key) => `${settable[key].flag} ${began[key]}`).join(' ');
    throw new AgentRlError(
      'CHECKPOINT_INVALID',
      `The run ${run} cannot be resumed: its hardware settings changed (${changes.join(', ')}), so rounding would differ and the same seed would no longer give the same weights. Give ${flags}, or --allow-other-machine to resume anyway.`,
    );
  }
  const others = differing(reported, began, now).map(
    (key) => `${reported[key]}: ${began[key]} -> ${now[key]}`,
  );
  return [
    ...(changes.length === 0 ? [] : [`Allowed by --allow-other-machine: ${changes.join(', ')}.`]),
    ...(others.length === 0
      ? []
      : [
          `The run is resumed on a different system or machine (${others.join(', ')}): its weights may have floating-point differences.`,
        ]),
  ];
}
