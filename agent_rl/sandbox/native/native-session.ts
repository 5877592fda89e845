import { messageOf } from '../../core/errors.ts';
import type { SandboxLimits, SandboxSession, SessionRun } from '../../core/services/sandbox.ts';
import { resultWithoutOutput } from '../requests/result-without-output.ts';
import { base64, nativeLimits, type SessionGone, type SupervisorReply } from './protocol.ts';
import { endingOf, sessionEnding, outputOf, readNotes } from './outcome.ts';
import type { SupervisorKeeper } from './supervisor-keeper.ts';
import type { SupervisorProcess } from './supervisor-process.ts';

export interface NativeSessionOptions {
  limits: Required<SandboxLimits>;
  seed: number;
  totalWallS: number;
  level: string;
}

const closed = 'the session has been closed';
const gone =
  'the session had ended by itself after its last program, which left something running; the variables are gone and this program was not run';
type SessionProgram = Parameters<SandboxSession['run']>[0];

let opened = 0;

/**
 * A process of its own that runs one program after another. Memory, files and threads are limited for the session as a
 * whole, time for each program and for all together.
 */
export class NativeSession implements SandboxSession {
  /** Name of the current process; a new process gets a new name. */
  #name = `session-${++opened}`;
  #started = false;
  #supervisor: SupervisorProcess | undefined;
  #usedMs = 0;
  #last: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(
    private readonly keeper: SupervisorKeeper,
    private readonly options: NativeSessionOptions,
  ) {}

  /** Programs of a session run in the order they were given. */
  run(request: SessionProgram, signal?: AbortSignal): Promise<SessionRun> {
    const turn = this.#last.then(() => this.#run(request, signal));
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#supervisor?.closeSession(this.#name);
  }

  async #run(request: SessionProgram, signal: AbortSignal | undefined): Promise<SessionRun> {
    signal?.throwIfAborted();
    if (this.#closed) return this.#failed('sandbox_error', closed);
    const { limits, totalWallS } = this.options;
    const { wallS } = { ...limits, ...request.limits };
    const leftS = totalWallS - this.#usedMs / 1000;
    if (leftS <= 0) {
      this.#supervisor?.closeSession(this.#name);
      const usedUp = `the programs of the session used up their ${totalWallS} s together`;
      return this.#ended('timeout', usedUp);
    }
    return this.#ask(request, { wallS: Math.min(wallS, leftS), signal });
  }

  async #ask(
    { code, stdin = '' }: SessionProgram,
    { wallS, signal }: { wallS: number; signal: AbortSignal | undefined },
  ): Promise<SessionRun> {
    const { limits, totalWallS, seed } = this.options;
    const stop = (): void => {
      this.#supervisor?.closeSession(this.#name);
      // A new name: the process was killed and did not end on its own.
      this.#renew();
    };
    try {
      const supervisor = await this.#findSupervisor();
      // It may have been aborted or closed in the meantime; nothing runs yet.
      signal?.throwIfAborted();
      if (this.#closed) return this.#failed('sandbox_error', closed);
      signal?.addEventListener('abort', stop, { once: true });
      const reply: SupervisorReply | SessionGone = await supervisor.ask({
        do: 'session',
        session: this.#name,
        first: !this.#started,
        limits: nativeLimits({ ...limits, wallS }, totalWallS),
        job: JSON.stringify({ code, seed, stdin: base64(stdin), wall_s: wallS }),
      });
      signal?.throwIfAborted();
      if ('gone' in reply) return this.#ended('crashed', gone);
      this.#started = true;
      return this.#result(reply);
    } catch (error) {
      signal?.throwIfAborted();
      // Its variables are gone, so the program cannot be run again.
      const lost = 'the variables of the session are lost, because its supervisor process ended: ';
      return this.#ended('sandbox_error', `${this.#started ? lost : ''}${messageOf(error)}`);
    } finally {
      signal?.removeEventListener('abort', stop);
    }
  }

  /** The supervisor that has the session's process or will start it. @throws SupervisorDied */
  async #findSupervisor(): Promise<SupervisorProcess> {
    const current = await this.keeper.current();
    // A supervisor started since then does not know the session.
    if (this.#started && this.#supervisor?.death) throw this.#supervisor.death;
    this.#supervisor = current;
    return current;
  }

  #result(reply: SupervisorReply): SessionRun {
    const { level } = this.options;
    this.#usedMs += reply.wallMs;
    const notes = readNotes(reply.notes);
    const alive = reply.alive === true;
    if (!alive) this.#renew();
    const ending = alive ? sessionEnding(reply, notes) : endingOf(reply, { ...notes, ready: true });
    return { ...outputOf(reply, level), ...ending, alive };
  }

  #renew(): void {
    this.#started = false;
    this.#name = `session-${++opened}`;
  }

  #ended(status: SessionRun['status'], message: string): SessionRun {
    this.#renew();
    return this.#failed(status, message);
  }

  #failed(status: SessionRun['status'], message: string): SessionRun {
    return { ...resultWithoutOutput(status, message, this.options.level), alive: false };
  }
}
