import { type ProcessUsage, processTreeUsage } from './process-tree.ts';

export interface PeakMemory {
  peakRssBytes: number;
  /** Whether processes we started are counted in. */
  scope: ProcessUsage['scope'];
}

/** Watches the resident memory of the process tree and remembers its peak. */
export class ProcessTreeMemory {
  #peak = 0;
  #scope: ProcessUsage['scope'] = 'own-process';
  #timer: NodeJS.Timeout | undefined;
  #sampling: Promise<unknown> = Promise.resolve();
  #failure: unknown;
  readonly #usage: () => Promise<ProcessUsage>;

  constructor(usage: () => Promise<ProcessUsage> = processTreeUsage) {
    this.#usage = usage;
  }

  /** Samples now and then every `intervalMs`, without keeping the process alive. */
  start(intervalMs = 500): void {
    const sample = (): void => {
      this.#sampling = this.sample().catch((error: unknown) => {
        this.#failure = error;
        clearInterval(this.#timer);
      });
    };
    sample();
    this.#timer = setInterval(sample, intervalMs);
    this.#timer.unref();
  }

  /** One sample; returns what is used now. */
  async sample(): Promise<ProcessUsage> {
    const usage = await this.#usage();
    this.#peak = Math.max(this.#peak, usage.rssBytes);
    this.#scope = usage.scope;
    return usage;
  }

  get peak(): PeakMemory {
    return { peakRssBytes: this.#peak, scope: this.#scope };
  }

  /** Stops without a last sample, whatever the state: for when a run ends early. */
  halt(): void {
    clearInterval(this.#timer);
  }

  /** Takes a last sample and stops. @throws what a sample threw meanwhile. */
  async stop(): Promise<PeakMemory> {
    clearInterval(this.#timer);
    await this.#sampling;
    if (this.#failure !== undefined) throw this.#failure;
    await this.sample();
    return this.peak;
  }
}
