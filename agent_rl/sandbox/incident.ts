/** What a sandbox had to repair or do without. No result is lost; an episode that lost its session is played again. */
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

/** Whether the incident is a protection of the level that this machine does not allow. */
export const isMissingProtection = ({ kind }: SandboxIncident): boolean =>
  kind === 'addresses' || kind === 'threads';
