import { ProcessTreeMemory } from '../telemetry/index.ts';
import type { RunUsage } from './run-usage.ts';

/** Watches what this process and those it started use during one session of a run. */
export class SessionUsage {
  #started = performance.now();

  private constructor(
    readonly memory: ProcessTreeMemory,
    private readonly cpuSecondsBefore: number,
  ) {}

  /** Begins to watch. */
  static async start(): Promise<SessionUsage> {
    const memory = new ProcessTreeMemory();
    const { cpuSeconds } = await memory.sample();
    memory.start();
    return new SessionUsage(memory, cpuSeconds);
  }

  /** Wall time counts from here on, and not from `start`. */
  restartClock(): void {
    this.#started = performance.now();
  }

  /** What this session has used so far. */
  async soFar(): Promise<Omit<RunUsage, 'generation' | 'sandbox'>> {
    const { cpuSeconds } = await this.memory.sample();
    return {
      sessions: 1,
      wallSeconds: (performance.now() - this.#started) / 1000,
      cpuSeconds: cpuSeconds - this.cpuSecondsBefore,
      memory: this.memory.peak,
    };
  }

  /** Ends without a last sample, whatever the state. */
  close(): void {
    this.memory.halt();
  }
}
