import { type ProcessUsage, processTreeUsage } from './process-tree.ts';

export interface PeakMemory {
  peakRssBytes: number;
  /** Whether processes we started are counted in. */
  scope: ProcessUsage['scope'];
}

/** Watches the resident memory of the process tree and remembers its peak. */
export class ProcessTreeMemory {
  #peak: PeakMemory = { peakRssBytes: 0, scope: 'own-process' };
  #timer: NodeJS.Timeout | undefined;
  /** All samples so far; rejected for good once one has failed. */
  #samples: Promise<void> = Promise.resolve();

  constructor(private readonly usage: () => Promise<ProcessUsage> = processTreeUsage) {}

  /** Samples now and then every `intervalMs`, without keeping the process alive. */
  start(intervalMs = 500): void {
    const sample = (): void => {
      this.#samples = Promise.all([this.#samples, this.sample()]).then(() => undefined);
      this.#samples.catch(() => clearInterval(this.#timer));
    };
    sample();
    this.#timer = setInterval(sample, intervalMs);
    this.#timer.unref();
  }

  /** One sample; returns what is used now. */
  async sample(): Promise<ProcessUsage> {
    const usage = await this.usage();
    const peakRssBytes = Math.max(this.#peak.peakRssBytes, usage.rssBytes);
    this.#peak = { peakRssBytes, scope: usage.scope };
    return usage;
  }

  get peak(): PeakMemory {
    return this.#peak;
  }

  /** Stops without a last sample, whatever the state: for when a run ends early. */
  halt(): void {
    clearInterval(this.#timer);
  }

  /** Takes a last sample and stops. @throws what a sample threw meanwhile. */
  async stop(): Promise<PeakMemory> {
    clearInterval(this.#timer);
    await this.#samples;
    await this.sample();
    return this.peak;
  }
}
