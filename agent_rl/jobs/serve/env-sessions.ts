import type { WebSocket } from 'ws';

import { messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
import { JsonShape } from '../../core/wire/json-shape.ts';
import { showValue } from '../../core/show-value.ts';
import type { Task } from '../../core/tasks/task.ts';
import { Value } from '../../core/typebox.ts';
import { WireTurn } from '../../environments/openenv/turn-schema.ts';
import type { EpisodeMaker } from '../../rollout/episode-parts.ts';
import { ClientEpisode } from './client-episode.ts';

export interface EnvSessionsOptions {
  make: EpisodeMaker;
  seed: number;
  /** The task that a reset names. @throws Error */
  taskOf: (reset: Readonly<Record<string, unknown>>) => Task;
  /** Sessions at once. */
  most: number;
  /** Seconds without a message after which a session is closed. */
  idleS: number;
  /** Receives what went wrong here, which clients do not see. */
  onFailure: (problem: string) => void;
}

/** Messages of one client that wait, values in one, problems of it that are shown, and characters of an episode's id. */
const [mostWaiting, mostValues, mostErrors, mostIdChars] = [16, 10_000, 8, 255];

/** The sessions of clients that speak OpenEnv's protocol, each with an episode of its own. */
export class EnvSessions {
  readonly counts = { sessions: 0, episodes: 0, steps: 0, errors: 0, refused: 0 };
  readonly #open = new Map<WebSocket, EnvSession>();

  constructor(private readonly options: EnvSessionsOptions) {}

  /** Answers a client in the order of its messages, until it leaves. */
  serve(socket: WebSocket): void {
    const { most, idleS } = this.options;
    const say = (type: string, data: object, said?: () => void): void => {
      if (type === 'error') this.counts.errors += 1;
      socket.send(JSON.stringify({ type, data }), said);
    };
    socket.on('error', () => undefined);
    const { size: active } = this.#open;
    if (active >= most) {
      this.counts.refused += 1;
      const message = `Server at capacity: ${active}/${most} sessions active.`;
      const sessions = { active_sessions: active, max_sessions: most };
      say('error', { message, code: 'CAPACITY_REACHED', ...sessions });
      socket.close();
      return;
    }
    this.counts.sessions += 1;
    const session = new EnvSession(this.options, this.counts);
    this.#open.set(socket, session);
    let waiting = 0;
    let answering = Promise.resolve();
    const idle = () => setTimeout(() => socket.close(1001, 'idle'), 1000 * idleS);
    let timer = idle();
    // An answer that the client does not read still waits.
    const said = (): void => {
      waiting -= 1;
      clearTimeout(timer);
      if (waiting === 0) timer = idle();
    };
    socket.on('message', (bytes: Buffer) => {
      clearTimeout(timer);
      waiting += 1;
      if (waiting > mostWaiting) return socket.close(1008, 'too many messages at once');
      const before = answering;
      const answer = async (): Promise<void> => {
        await before;
        const { type, data } = await session.answer(bytes);
        if (type === 'close') socket.close();
        else say(type, data, said);
      };
      answering = answer();
    });
    socket.on('close', () => {
      clearTimeout(timer);
      this.#open.delete(socket);
      void session.close();
    });
  }

  /** Ends all sessions and their episodes. */
  async close(): Promise<void> {
    const all = [...this.#open];
    for (const [socket] of all) socket.terminate();
    await Promise.all(all.map(([, session]) => session.close()));
  }
}

interface Reply {
  type: string;
  data: object;
}

const refusal = (code: string, message: string, more: object = {}): Reply => ({
  type: 'error',
  data: { message, code, ...more },
});

class EnvSession {
  #episode: ClientEpisode | undefined;
  #id: string | null = null;
  #isClosed = false;

  constructor(
    private readonly options: EnvSessionsOptions,
    private readonly counts: EnvSessions['counts'],
  ) {}

  async answer(bytes: Buffer): Promise<Reply> {
    const problem = new JsonShape().add(bytes).problem(mostValues);
    if (problem !== undefined) return refusal('INVALID_JSON', `The message ${problem}.`);
    let message: unknown;
    try {
      message = JSON.parse(bytes.toString());
    } catch (thrown) {
      return refusal('INVALID_JSON', `Invalid JSON: ${messageOf(thrown)}`);
    }
    const { type, data = {} } = isRecord(message) ? message : {};
    if (!isRecord(data)) return refusal('VALIDATION_ERROR', 'data must be an object.');
    try {
      if (this.#isClosed) throw new Error('The session is closed.');
      if (type === 'reset') return await this.#reset(data);
      if (type === 'step') return await this.#step(data);
      if (type === 'state') return { type, data: this.#state() };
      if (type === 'close') return { type, data };
      return refusal('UNKNOWN_TYPE', `Unknown message type: ${showValue(type)}`);
    } catch (thrown) {
      return refusal('EXECUTION_ERROR', messageOf(thrown));
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#episode?.close();
  }

  async #reset(data: Readonly<Record<string, unknown>>): Promise<Reply> {
    const { taskOf } = this.options;
    const { episode_id: id = null } = data;
    if (id !== null && (typeof id !== 'string' || id.length > mostIdChars))
      return refusal('VALIDATION_ERROR', `episode_id: expected at most ${mostIdChars} characters.`);
    const task = taskOf(data);
    await this.#episode?.close();
    if (this.#isClosed) throw new Error('The session is closed.');
    this.#id = id;
    this.#episode = new ClientEpisode(task, this.options);
    this.counts.episodes += 1;
    return { type: 'observation', data: await this.#episode.told() };
  }

  async #step(data: unknown): Promise<Reply> {
    if (!Value.Check(WireTurn, data)) {
      const problems = Value.Errors(WireTurn, data).slice(0, mostErrors);
      const errors = problems.map(({ instancePath, message }) => ({
        loc: instancePath.split('/').slice(1),
        msg: message,
      }));
      const [first] = problems;
      const where = `${first?.instancePath} ${first?.message}`.trim();
      return refusal('VALIDATION_ERROR', `Invalid message: ${where}`, { errors });
    }
    if (this.#episode === undefined) throw new Error('No episode has begun. Send a reset first.');
    this.counts.steps += 1;
    this.#episode.take(data);
    return { type: 'observation', data: await this.#episode.told() };
  }

  #state(): object {
    const { turns = 0, task } = this.#episode ?? {};
    return { episode_id: this.#id, step_count: turns, task_id: task?.taskId ?? null };
  }
}
