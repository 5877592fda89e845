import type { RunEvent } from '../core/run-event.ts';
import type { GenerationTotals } from '../core/services/generator.ts';
import type { SandboxCounts } from '../sandbox/open-sandbox.ts';
import { addTokens, type TokenCounts } from '../rollout/tokens/token-counts.ts';
import { type PeakMemory, ProcessTreeMemory } from '../telemetry/index.ts';

/** What a run has used, over all its sessions: from its start or a resume to an interrupt or its end. Plain JSON. */
export interface RunUsage {
  sessions: number;
  wallSeconds: number;
  cpuSeconds: number;
  /** The part of evaluations. */
  evaluationCpuSeconds: number;
  /** The highest of any session. */
  memory: PeakMemory;
  /** Training and evaluations; null in supervised training. */
  tokens: TokenCounts | null;
  /** Null when the generator does not count. */
  generation: GenerationTotals | null;
  /** Null when no sandbox was started. */
  sandbox: SandboxCounts | null;
}

/** What earlier sessions used up to the checkpoint that is resumed, and this one since. */
export function addUsage(earlier: RunUsage | undefined, session: RunUsage): RunUsage {
  if (earlier === undefined) return session;
  return {
    sessions: earlier.sessions + session.sessions,
    wallSeconds: earlier.wallSeconds + session.wallSeconds,
    cpuSeconds: earlier.cpuSeconds + session.cpuSeconds,
    evaluationCpuSeconds: earlier.evaluationCpuSeconds + session.evaluationCpuSeconds,
    memory: {
      peakRssBytes: Math.max(earlier.memory.peakRssBytes, session.memory.peakRssBytes),
      scope: earlier.memory.scope === session.memory.scope ? session.memory.scope : 'own-process',
    },
    tokens: earlier.tokens && session.tokens && addTokens(earlier.tokens, session.tokens),
    generation: sumOfCounted(earlier.generation, session.generation),
    sandbox: sumOfCounted(earlier.sandbox, session.sandbox),
  };
}

/** Of what was counted in both, or in the one session where it was. */
export const sumOfCounted = <Totals extends { readonly [Name in keyof Totals]: number }>(
  a: Totals | null,
  b: Totals | null,
): Totals | null => (a === null || b === null ? (a ?? b) : sum(a, b));

const sum = <Totals extends { readonly [Name in keyof Totals]: number }>(
  a: Totals,
  b: Totals,
): Totals =>
  Object.fromEntries(
    Object.keys(a).map((name) => [name, a[name as keyof Totals] + b[name as keyof Totals]]),
  ) as Totals;

/** Watches what this process and those it started use during one session of a run. */
export class SessionUsage {
  #started = performance.now();
  /** Processor seconds of evaluations that have ended. */
  #evaluated = Promise.resolve(0);
  /** The processor seconds of the session when the evaluation under way began. */
  #evaluatedFrom: Promise<number> | undefined;

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

  /** Counts the processor time of evaluations apart, that of one that was broken off too. */
  readonly on = (event: RunEvent): void => {
    if (event.type !== 'phase' && event.type !== 'evaluation') return;
    this.#endEvaluation();
    if (event.type !== 'phase' || event.name !== 'evaluate') return;
    this.#evaluatedFrom = this.#cpuSeconds();
    // What fails here is thrown where the sum is asked for.
    this.#evaluatedFrom.catch(() => undefined);
  };

  #endEvaluation(): void {
    const from = this.#evaluatedFrom;
    if (from === undefined) return;
    this.#evaluatedFrom = undefined;
    const [before, to] = [this.#evaluated, this.#cpuSeconds()];
    this.#evaluated = Promise.all([before, from, to]).then(([earlier, a, b]) => earlier + b - a);
    this.#evaluated.catch(() => undefined);
  }

  async #cpuSeconds(): Promise<number> {
    return (await this.memory.sample()).cpuSeconds;
  }

  /** What this session has used so far. */
  async soFar(): Promise<Omit<RunUsage, 'tokens' | 'generation' | 'sandbox'>> {
    this.#endEvaluation();
    const cpuSeconds = await this.#cpuSeconds();
    return {
      sessions: 1,
      wallSeconds: (performance.now() - this.#started) / 1000,
      cpuSeconds: cpuSeconds - this.cpuSecondsBefore,
      evaluationCpuSeconds: await this.#evaluated,
      memory: this.memory.peak,
    };
  }

  /** Ends without a last sample, whatever the state. */
  close(): void {
    this.memory.halt();
  }
}
