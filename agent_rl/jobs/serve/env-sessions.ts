import type { WebSocket } from 'ws';

import { messageOf } from '../../core/errors.ts';
import { isRecord } from '../../core/is-record.ts';
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
}

/** What waits of one client, and problems of a turn that it is shown. */
const [mostWaiting, mostErrors] = [16, 8];

/** The sessions of clients that speak OpenEnv's protocol, each with an episode of its own. */
export class EnvSessions {
  readonly counts = { sessions: 0, episodes: 0, steps: 0, errors: 0, refused: 0 };
  readonly #open = new Set<WebSocket>();

  constructor(private readonly options: EnvSessionsOptions) {}

  /** Answers a client in the order of its messages, until it leaves. */
  serve(socket: WebSocket): void {
    const { most, idleS } = this.options;
    const say = (type: string, data: object): void => {
      if (type === 'error') this.counts.errors += 1;
      socket.send(JSON.stringify({ type, data }), () => undefined);
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
    this.#open.add(socket);
    this.counts.sessions += 1;
    const session = new EnvSession(this.options, this.counts);
    let waiting = 0;
    let answering = Promise.resolve();
    const idle = setTimeout(() => socket.close(1001, 'idle'), 1000 * idleS);
    socket.on('message', (bytes: Buffer) => {
      waiting += 1;
      if (waiting > mostWaiting) return socket.close(1008, 'too many messages at once');
      const before = answering;
      const answer = async (): Promise<void> => {
        await before;
        const { type, data } = await session.answer(bytes.toString());
        waiting -= 1;
        idle.refresh();
        if (type === 'close') socket.close();
        else say(type, data);
      };
      answering = answer();
    });
    socket.on('close', () => {
      clearTimeout(idle);
      this.#open.delete(socket);
      // What it came to matters to no client any more.
      session.close().catch(() => undefined);
    });
  }

  close(): void {
    for (const socket of this.#open) socket.terminate();
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

  constructor(
    private readonly options: EnvSessionsOptions,
    private readonly counts: EnvSessions['counts'],
  ) {}

  async answer(text: string): Promise<Reply> {
    let message: unknown;
    try {
      message = JSON.parse(text);
    } catch (thrown) {
      return refusal('INVALID_JSON', `Invalid JSON: ${messageOf(thrown)}`);
    }
    const { type, data = {} } = isRecord(message) ? message : {};
    if (!isRecord(data)) return refusal('VALIDATION_ERROR', 'data must be an object.');
    try {
      switch (type) {
        case 'reset':
          return { type: 'observation', data: await this.#reset(data) };
        case 'step':
          return await this.#step(data);
        case 'state':
          return { type: 'state', data: this.#state() };
        case 'close':
          return { type: 'close', data };
        default:
          return refusal('UNKNOWN_TYPE', `Unknown message type: ${JSON.stringify(type)}`);
      }
    } catch (thrown) {
      return refusal('EXECUTION_ERROR', messageOf(thrown));
    }
  }

  async close(): Promise<void> {
    await this.#episode?.close();
  }

  async #reset(data: Readonly<Record<string, unknown>>): Promise<object> {
    const { make, seed, taskOf } = this.options;
    const task = taskOf(data);
    await this.close();
    this.#id = typeof data['episode_id'] === 'string' ? data['episode_id'] : null;
    this.#episode = new ClientEpisode(task, { make, seed });
    this.counts.episodes += 1;
    return this.#episode.told();
  }

  async #step(data: unknown): Promise<Reply> {
    if (!Value.Check(WireTurn, data)) {
      const errors = Value.Errors(WireTurn, data)
        .slice(0, mostErrors)
        .map(({ instancePath, message }) => ({
          loc: instancePath.split('/').slice(1),
          msg: message,
        }));
      return refusal('VALIDATION_ERROR', 'Invalid message', { errors });
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
