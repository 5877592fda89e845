import type { RemoteServer } from '../remote-server.ts';

/** What is needed to ask a server what it is. */
export interface FactsRequest {
  server: RemoteServer;
  /** The server's name of the model. */
  model: string;
  /** Seconds for each answer; the first takes long where the server compiles. */
  deadlineS: number;
  signal: AbortSignal;
}
