import { connect } from 'node:net';

import { allProcesses, canSeeProcesses, descendantsOf, machineMemory } from './process-tree.ts';

const everyMs = 50;
const gibibyte = 2 ** 30;

/** More than any sandbox may take. */
const most: Sample = {
  bytes: 1.5 * gibibyte,
  // Other programs use this machine too.
  machineBytes: 6 * gibibyte,
  processes: 100,
};

interface Sample {
  /** Memory of this process's descendants, and all shared memory. */
  bytes: number;
  /** Memory that is not available for new programs, up to a constant. */
  machineBytes: number;
  processes: number;
}

function sample(): Sample {
  const { sharedBytes, availableBytes } = machineMemory();
  const family = descendantsOf(process.pid, allProcesses());
  const resident = family.reduce((sum, { residentBytes }) => sum + residentBytes, 0);
  const bytes = resident + sharedBytes;
  return { bytes, machineBytes: -availableBytes, processes: family.length };
}

/** Watches this process's descendants, the machine and a port until it is ended. */
export class MachineWatch {
  readonly #before = canSeeProcesses ? sample() : undefined;
  #peak = this.#before;
  #knocked = false;
  readonly #timer: NodeJS.Timeout;

  constructor(
    freePort: number,
    private readonly allowed: Partial<Sample> = {},
  ) {
    this.#timer = setInterval(() => {
      this.#knock(freePort);
      if (canSeeProcesses) this.#look();
    }, everyMs);
  }

  /** Stops watching and reports what exceeded the limits of a sandbox. */
  end(): readonly string[] {
    clearInterval(this.#timer);
    const problems = this.#knocked ? ['listened on a port of the host'] : [];
    if (this.#before === undefined || this.#peak === undefined) return problems;
    this.#look();
    const bytes = this.#peak.bytes - this.#before.bytes;
    const machineBytes = this.#peak.machineBytes - this.#before.machineBytes;
    const processes = this.#peak.processes - this.#before.processes;
    const took = (amount: number): string => `${(amount / gibibyte).toFixed(1)} GiB of memory`;
    const allowed = { ...most, ...this.allowed };
    if (bytes > allowed.bytes) problems.push(`took ${took(bytes)}`);
    if (machineBytes > allowed.machineBytes)
      problems.push(`the machine lost ${took(machineBytes)}`);
    if (processes > allowed.processes) problems.push(`started ${processes} processes`);
    return problems;
  }

  #look(): void {
    const now = sample();
    const peak = this.#peak ?? now;
    this.#peak = {
      bytes: Math.max(peak.bytes, now.bytes),
      machineBytes: Math.max(peak.machineBytes, now.machineBytes),
      processes: Math.max(peak.processes, now.processes),
    };
  }

  #knock(port: number): void {
    const socket = connect(port, '127.0.0.1');
    // No server answers, as it should be.
    socket.on('error', () => undefined);
    socket.on('connect', () => {
      this.#knocked = true;
      socket.destroy();
    });
  }
}
