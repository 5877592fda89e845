import type { Secrets } from './fixture-folder.ts';

/** What lies about on the host for an attack to find. Everything in it may be told to the attack, except secrets. */
export interface Bait {
  /** Of files, processes and sockets that an attack makes, so that the host knows them. 14 characters at most. */
  marker: string;
  /** Readable and writable by anyone. */
  folder: string;
  secretFile: string;
  hiddenTests: string;
  referenceSolution: string;
  /** Of the program that uses the sandbox. */
  workFolder: string;
  packageRoot: string;
  tcpPort: number;
  udpPort: number;
  /** Nobody listens there; the host knocks. */
  freePort: number;
  unixSocket: string;
  /** Without its leading NUL. */
  abstractSocket: string;
  /** A process of the user that runs the sandbox. */
  victimPid: number;
  secrets: Secrets;
}
