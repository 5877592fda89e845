/** What a sandbox had to repair or do without. It cost no result. */
export interface SandboxIncident {
  kind: 'restart' | 'replay' | 'retry' | 'swept' | 'addresses' | 'threads' | 'left';
  message: string;
}

/** Whether it says that this machine does not allow what the level protects elsewhere. */
export const isMissingProtection = ({ kind }: SandboxIncident): boolean =>
  kind === 'addresses' || kind === 'threads';
