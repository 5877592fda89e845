import type { SandboxIncident } from '../incident.ts';
import type { Hello, SupervisorReply, SupervisorRequest } from './protocol.ts';
import {
  SupervisorDied,
  SupervisorProcess,
  sweep,
  type SupervisorOptions,
} from './supervisor-process.ts';

type Started = Awaited<ReturnType<typeof SupervisorProcess.start>>;

/**
 * Keeps a supervisor alive: one that dies is restarted, and its programs are run once more, since its death says nothing
 * about them. A second death is a failure of the sandbox and is reported.
 */
export class SupervisorKeeper {
  #current: Promise<Started> | undefined;
  #closed = false;
  /** Whether a supervisor died and could not clean up. */
  #died = false;

  constructor(
    private readonly options: SupervisorOptions,
    private readonly onIncident: (incident: SandboxIncident) => void,
  ) {}

  /** The greeting of the first supervisor. @throws AgentRlError `SANDBOX_UNAVAILABLE` */
  async first(): Promise<Hello> {
    const { hello } = await this.#start();
    return hello;
  }

  /** @throws SupervisorDied, AgentRlError `SANDBOX_UNAVAILABLE` */
  async ask(request: SupervisorRequest, signal?: AbortSignal): Promise<SupervisorReply> {
    const { supervisor } = await this.#alive();
    try {
      return await supervisor.ask(request, signal);
    } catch (error) {
      if (!(error instanceof SupervisorDied) || this.#closed || signal?.aborted === true)
        throw error;
      this.onIncident({ kind: 'replay', message: `Retrying a program. ${error.message}` });
      const next = await this.#alive();
      return next.supervisor.ask(request, signal);
    }
  }

  /** The running supervisor, started if necessary. */
  async current(): Promise<SupervisorProcess> {
    return (await this.#alive()).supervisor;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const started = await this.#current?.catch(() => undefined);
    this.#died ||= started?.supervisor.death !== undefined;
    await started?.supervisor.end();
    if (this.#died && this.options.level === 'lite') this.#reportSwept(await sweep(this.options));
  }

  async #alive(): Promise<Started> {
    if (this.#closed) throw new SupervisorDied('The sandbox has been closed.');
    const current = this.#current;
    const started = await current;
    if (started !== undefined && started.supervisor.death === undefined) return started;
    // Another request has already started a new supervisor.
    if (this.#current !== current) return this.#alive();
    this.#died = true;
    this.onIncident({
      kind: 'restart',
      message: `Restarting the sandbox. ${started?.supervisor.death?.message ?? ''}`.trim(),
    });
    return this.#start();
  }

  #start(): Promise<Started> {
    const starting = SupervisorProcess.start(this.options).then((started) => {
      this.#reportSwept(started.hello.swept);
      return started;
    });
    this.#current = starting;
    // The next request tries again.
    starting.catch(() => (this.#current = undefined));
    return starting;
  }

  #reportSwept(count: number): void {
    if (count === 0) return;
    const message = `Removed ${count} working folder${count === 1 ? '' : 's'} that an earlier supervisor left behind.`;
    this.onIncident({ kind: 'swept', message });
  }
}
