import { randomUUID } from 'node:crypto';

import type {
  Sandbox,
  SandboxSession,
  SessionRequest,
  SessionRun,
} from '../../core/services/sandbox.ts';
import { Refusal } from '../../http/refusal.ts';

interface Served {
  session: SandboxSession;
  timer: NodeJS.Timeout;
  running: number;
}

/** A session that is idle for this long is ended: its caller may be gone. */
const idleMs = 15 * 60_000;
const mostSessions = 1024;

/** The sessions of a server's callers, by ids that cannot be guessed. */
export class ServedSessions {
  readonly #sessions = new Map<string, Served>();

  constructor(
    private readonly sandbox: Sandbox,
    private readonly idle = idleMs,
  ) {}

  /** @throws Refusal when there are too many */
  open(request: SessionRequest): string {
    if (this.#sessions.size >= mostSessions) {
      throw new Refusal(503, `${mostSessions} sessions are open`);
    }
    const id = randomUUID();
    const session = this.sandbox.openSession(request);
    this.#sessions.set(id, { session, timer: this.#countdown(id), running: 0 });
    return id;
  }

  /** @throws Refusal for an unknown session */
  async run(
    id: string,
    request: Parameters<SandboxSession['run']>[0],
    signal: AbortSignal,
  ): Promise<SessionRun> {
    const served = this.#sessions.get(id);
    if (served === undefined)
      throw new Refusal(404, 'no such session: it has ended or was idle for too long');
    clearTimeout(served.timer);
    served.running += 1;
    try {
      return await served.session.run(request, signal);
    } finally {
      served.running -= 1;
      if (served.running === 0 && this.#sessions.has(id)) served.timer = this.#countdown(id);
    }
  }

  /** Does nothing for an unknown session. */
  async end(id: string): Promise<void> {
    const served = this.#sessions.get(id);
    this.#sessions.delete(id);
    clearTimeout(served?.timer);
    await served?.session.close();
  }

  async close(): Promise<void> {
    await Promise.all([...this.#sessions.keys()].map((id) => this.end(id)));
  }

  #countdown(id: string): NodeJS.Timeout {
    return setTimeout(() => void this.end(id), this.idle).unref();
  }
}
