import type { Secrets } from './fixture-folder.ts';

/** What lies about on the host for an attack to find. Everything in it may be told to the attack, except secrets. */
export interface Bait {
  /** Of files, processes and sockets that an attack makes, so that the host knows them. 14 characters at most. */
  readonly marker: string;
  /** Readable and writable by anyone. */
  readonly folder: string;
  readonly secretFile: string;
  readonly hiddenTests: string;
  readonly referenceSolution: string;
  /** Of the program that uses the sandbox. */
  readonly workFolder: string;
  readonly packageRoot: string;
  readonly tcpPort: number;
  readonly udpPort: number;
  /** Nobody listens there; the host knocks. */
  readonly freePort: number;
  readonly unixSocket: string;
  /** Without its leading NUL. */
  readonly abstractSocket: string;
  /** A process of the user that runs the sandbox. */
  readonly victimPid: number;
  readonly secrets: Secrets;
}
