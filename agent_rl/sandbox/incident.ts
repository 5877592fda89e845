/** What a sandbox had to repair or do without. It cost no result; of a session that was lost, an episode is played again. */
export interface SandboxIncident {
  kind:
    | 'restart'
    | 'replay'
    | 'retry'
    | 'swept'
    | 'addresses'
    | 'threads'
    | 'left'
    | 'moved'
    | 'server';
  message: string;
}

/** Whether it says that this machine does not allow what the level protects elsewhere. */
export const isMissingProtection = ({ kind }: SandboxIncident): boolean =>
  kind === 'addresses' || kind === 'threads';
