import type { SandboxIncident } from '../incident.ts';
import type { Hello, SupervisorReply, SupervisorRequest } from './protocol.ts';
import { SupervisorDied, SupervisorProcess, type SupervisorOptions } from './supervisor-process.ts';

type Started = Awaited<ReturnType<typeof SupervisorProcess.start>>;

/**
 * Keeps a supervisor alive: one that dies is started again, and what it was doing is done once more, since nothing a
 * program does can be told from the death. A second death is ours and is said.
 */
export class SupervisorKeeper {
  #current: Promise<Started> | undefined;
  #closed = false;

  constructor(
    private readonly options: SupervisorOptions,
    private readonly onIncident: (incident: SandboxIncident) => void,
  ) {}

  /** What the first one says of itself. @throws AgentRlError `SANDBOX_UNAVAILABLE` */
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
      this.onIncident({ kind: 'replay', message: `A program is run once more. ${error.message}` });
      const next = await this.#alive();
      return next.supervisor.ask(request, signal);
    }
  }

  /** The one that runs now, started if need be. */
  async current(): Promise<SupervisorProcess> {
    return (await this.#alive()).supervisor;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const started = await this.#current?.catch(() => undefined);
    await started?.supervisor.end();
  }

  async #alive(): Promise<Started> {
    if (this.#closed) throw new SupervisorDied('The sandbox has been closed.');
    const current = this.#current;
    const started = await current;
    if (started !== undefined && started.supervisor.death === undefined) return started;
    // Somebody else, who came first, has started another.
    if (this.#current !== current) return this.#alive();
    this.onIncident({
      kind: 'restart',
      message: `The sandbox is started again. ${started?.supervisor.death?.message ?? ''}`.trim(),
    });
    return this.#start();
  }

  #start(): Promise<Started> {
    const starting = SupervisorProcess.start(this.options).then((started) => {
      const { swept } = started.hello;
      if (swept > 0) {
        const message = `${swept} working folders that an earlier run had left behind were removed.`;
        this.onIncident({ kind: 'swept', message });
      }
      return started;
    });
    this.#current = starting;
    // The next request tries again.
    starting.catch(() => (this.#current = undefined));
    return starting;
  }
}
