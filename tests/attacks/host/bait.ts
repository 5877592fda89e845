import type { Secrets } from './fixture-folder.ts';

/** Things on the host for an attack to find. The attack may know everything in here except the secrets. */
export interface Bait {
  /** In the names of files, processes and sockets of an attack, so that the host finds them. At most 14 characters. */
  marker: string;
  /** Readable and writable by all users. */
  folder: string;
  secretFile: string;
  hiddenTests: string;
  referenceSolution: string;
  /** Working folder of the program that uses the sandbox. */
  workFolder: string;
  packageRoot: string;
  tcpPort: number;
  udpPort: number;
  /** A port without a server; the host tries to connect to it. */
  freePort: number;
  unixSocket: string;
  /** Without its leading NUL. */
  abstractSocket: string;
  /** A process of the user that runs the sandbox. */
  victimPid: number;
  secrets: Secrets;
}
