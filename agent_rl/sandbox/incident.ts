/** What a sandbox had to repair or do without. It cost no result. */
export interface SandboxIncident {
  kind: 'restart' | 'replay' | 'retry' | 'swept' | 'addresses' | 'threads' | 'left';
  message: string;
}

/** Whether it says that this machine does not allow what the level protects elsewhere. */
export const isMissingProtection = ({ kind }: SandboxIncident): boolean =>
  kind === 'addresses' || kind === 'threads';

/** Incidents of a run. Who listens is notified of those before, too. */
export class IncidentLog {
  readonly #all: SandboxIncident[] = [];
  #notify: (incident: SandboxIncident) => void = () => undefined;

  add(incident: SandboxIncident): void {
    this.#all.push(incident);
    this.#notify(incident);
  }

  /** One listener at a time. */
  listen(listener: (incident: SandboxIncident) => void): void {
    this.#notify = listener;
    this.#all.forEach(listener);
  }

  get all(): readonly SandboxIncident[] {
    return this.#all;
  }
}
