import { setTimeout as sleep } from 'node:timers/promises';

import type { Attack } from './attack.ts';
import type { Backend } from './backends.ts';
import type { Sandbox } from '../../agent_rl/core/services/sandbox.ts';
import { canSeeProcesses, descendantsOf } from './host/process-tree.ts';
import { Host, type InheritedFile } from './host/host.ts';
import { brokenSandbox, type Finding, runAttack } from './run-attack.ts';

export interface SuiteOptions {
  attacks: readonly Attack[];
  /** Attacks in parallel; each lane has its own sandbox and its own part of the host. */
  lanes: number;
  inherited?: InheritedFile;
}

/** One runs the attack, the other a harmless program. */
const workers = 2;
/** Time for killed processes to disappear. */
const endMs = 200;

/** Runs attacks against a backend; one finding for each, in their order, and one for leftover processes. */
export async function runSuite(
  backend: Backend,
  { attacks, lanes: wanted, inherited }: SuiteOptions,
): Promise<readonly Finding[]> {
  const before = family();
  const together = attacks.filter(({ alone }) => alone !== true);
  const alone = attacks.filter((attack) => attack.alone === true);
  const count = Math.max(1, Math.min(wanted, together.length));
  const opening = Array.from({ length: count }, () => Lane.open(backend, inherited));
  const lanes = await Promise.all(opening);
  const findings = new Map<Attack, Finding>();
  const drain = async (lane: Lane, queue: Attack[]): Promise<void> => {
    for (let attack = queue.shift(); attack !== undefined; attack = queue.shift()) {
      findings.set(attack, await lane.run(attack));
    }
  };
  try {
    const queue = [...together];
    await Promise.all(lanes.map((lane) => drain(lane, queue)));
    await drain(lanes[0]!, [...alone]);
  } finally {
    await Promise.all(lanes.map((lane) => lane.close()));
  }
  const last = await leftBehind(before);
  return [...attacks.flatMap((attack) => findings.get(attack) ?? []), last];
}

const family = (): ReadonlySet<number> =>
  new Set(canSeeProcesses ? descendantsOf(process.pid).map(({ pid }) => pid) : []);

/** Reports processes that are left after the sandboxes were closed. */
async function leftBehind(before: ReadonlySet<number>): Promise<Finding> {
  await sleep(endMs);
  const left = canSeeProcesses ? descendantsOf(process.pid) : [];
  const more = left.filter(({ pid }) => !before.has(pid));
  const names = more.map(({ name, pid }) => `${name} (${pid})`).join(', ');
  const problems = more.length > 0 ? [`left processes behind: ${names}`] : [];
  return { attack: 'the sandbox after it was closed', status: 'closed', wallMs: 0, problems };
}

/** A sandbox and the part of the host that its attacks can reach. */
class Lane {
  readonly #incidents: string[] = [];
  #sandbox: Sandbox | undefined;

  private constructor(
    private readonly backend: Backend,
    private readonly host: Host,
  ) {}

  static async open(backend: Backend, inherited: InheritedFile | undefined): Promise<Lane> {
    const lane = new Lane(backend, await Host.open(inherited));
    try {
      await lane.#started();
    } catch (error) {
      await lane.close();
      throw error;
    }
    return lane;
  }

  async run(attack: Attack): Promise<Finding> {
    const finding = await runAttack(attack, await this.#started(), this.host);
    if (finding.problems.some((problem) => problem.startsWith(brokenSandbox))) await this.#stop();
    const repairs = this.#incidents.splice(0).map((incident) => `broke the sandbox: ${incident}`);
    return { ...finding, problems: [...finding.problems, ...repairs] };
  }

  async close(): Promise<void> {
    await this.#stop();
    await this.host.close();
  }

  async #started(): Promise<Sandbox> {
    const onIncident = (message: string): void => void this.#incidents.push(message);
    this.#sandbox ??= await this.backend.start({ workers, onIncident });
    return this.#sandbox;
  }

  async #stop(): Promise<void> {
    await this.#sandbox?.close();
    this.#sandbox = undefined;
  }
}
