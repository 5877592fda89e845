import { once } from 'node:events';

import { WebSocket } from 'ws';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { TransientError } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import { inTime } from '../../core/stopping/abort.ts';
import { showValue } from '../../core/show-value.ts';
import type { OpenEnvSettings } from './settings.ts';

/** Longest message of a server. */
const mostBytes = 10 * 2 ** 20;
export const connectMs = 30_000;

/** Observation, reward and end of a reset or a step. */
export interface Observed {
  readonly observation: Readonly<Record<string, unknown>>;
  /** Of this step. */
  readonly reward: number | undefined;
  readonly done: boolean;
}

/** The server reports a problem, and the session goes on. */
class ServerProblem extends Error {}

/** The server has no free session. */
export class NoPlace extends ServerProblem {}

/** The server refused an action that does not fit its schema. */
export class ActionRefused extends ServerProblem {}

/** A session at a server of OpenEnv: one environment, over one WebSocket. */
export class OpenEnvSession {
  #expect: ((said: string | Error) => void) | undefined;
  /** The first message that came unasked: a server at capacity refuses before it is asked anything. */
  #unasked: string | undefined;
  #ended: Error | undefined;

  private constructor(
    private readonly socket: WebSocket,
    private readonly settings: Pick<OpenEnvSettings, 'url' | 'stepS'>,
  ) {
    const { url } = settings;
    const says = (said: string | Error): void => {
      if (said instanceof Error) this.#ended ??= said;
      else if (this.#expect === undefined) this.#unasked ??= said;
      this.#expect?.(said);
      this.#expect = undefined;
    };
    socket.on('message', (bytes: Buffer) => says(bytes.toString()));
    socket.on('error', ({ message }) => says(new Error(`the connection to ${url}: ${message}.`)));
    socket.on('close', (code) =>
      says(new TransientError(`The server ${url} closed the connection (${code}).`)),
    );
  }

  /**
   * @throws TransientError where the server cannot be reached; AgentRlError `CONFIG_INVALID` where it refuses the key; the
   * signal's reason
   */
  static async open(
    settings: Pick<OpenEnvSettings, 'url' | 'stepS'>,
    key: string | undefined,
    signal?: AbortSignal,
  ): Promise<OpenEnvSession> {
    const { url } = settings;
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/ws`, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      maxPayload: mostBytes,
      perMessageDeflate: false,
      handshakeTimeout: connectMs,
    });
    const session = new OpenEnvSession(socket, settings);
    try {
      await once(socket, 'open', { signal });
      return session;
    } catch (thrown) {
      socket.terminate();
      signal?.throwIfAborted();
      const why = messageOf(thrown);
      if (/server response: 40[13]$/.test(why))
        throw new AgentRlError(
          'CONFIG_INVALID',
          `The environment server ${url} refuses the connection: ${why}. Set environment.apiKeyEnv to the variable with its key.`,
        );
      throw new TransientError(`The environment server ${url} cannot be reached: ${why}.`);
    }
  }

  /** @throws ServerProblem; TransientError where the connection ends; Error for an answer that is not of the protocol */
  async observe(type: 'reset' | 'step', data: object, signal: AbortSignal): Promise<Observed> {
    const { observation, reward, done } = await this.#ask({ type, data }, 'observation', signal);
    const given = typeof reward === 'boolean' ? Number(reward) : (reward ?? undefined);
    if (isRecord(observation) && typeof done === 'boolean' && isReward(given))
      return { observation, reward: given, done };
    throw new Error(
      `the server answered ${type} with the observation ${showValue(observation)}, the reward ${showValue(reward)} and done ${showValue(done)}; expected an object, a number or null, and true or false.`,
    );
  }

  /** What the server says of the session, such as its number of steps. @throws as `observe` */
  state(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    return this.#ask({ type: 'state' }, 'state', signal);
  }

  /** Resolves when the server has ended the session. */
  async close(): Promise<void> {
    const { socket } = this;
    if (socket.readyState === WebSocket.CLOSED) return;
    const closed = new Promise((resolve) => {
      socket.once('close', resolve);
    });
    if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"close"}');
    socket.close();
    await closed;
  }

  async #ask(message: { type: string; data?: object }, expected: string, signal: AbortSignal) {
    const { url, stepS: seconds } = this.settings;
    const late = new TransientError(
      `${url} did not answer ${message.type} within ${seconds} s (environment.stepS).`,
    );
    const next = (): Promise<string> =>
      new Promise((resolve, reject) => {
        this.#expect = (said) => (typeof said === 'string' ? resolve(said) : reject(said));
        // Where it cannot be sent, the connection has ended, which is said.
        this.socket.send(JSON.stringify(message), () => undefined);
      });
    try {
      if (this.#unasked !== undefined) dataOf(this.#unasked, 'error, before it was asked');
      if (this.#ended !== undefined) throw this.#ended;
      return dataOf(await inTime(next, { seconds, signal, late }), expected);
    } catch (thrown) {
      // Its answer may still come, and would be taken for that of the next message.
      if (!(thrown instanceof ServerProblem)) this.socket.terminate();
      throw thrown;
    }
  }
}

const isReward = (value: unknown): value is number | undefined =>
  value === undefined || Number.isFinite(value);

/** What an answer of the given type holds. @throws as `observe` */
function dataOf(text: string, expected: string): Record<string, unknown> {
  let answer: unknown;
  try {
    answer = JSON.parse(text);
  } catch {
    // Shown below.
  }
  const { type, data } = isRecord(answer) ? answer : {};
  if (type === expected && isRecord(data)) return data;
  if (type !== 'error' || !isRecord(data))
    throw new Error(`the server said ${showValue(text)}; expected a message of type ${expected}.`);
  const { code, message, errors } = data;
  const why = `${String(message)}${errors === undefined ? '' : ` ${showValue(errors, 500)}`}`;
  if (code === 'CAPACITY_REACHED') throw new NoPlace(why);
  if (code === 'VALIDATION_ERROR') throw new ActionRefused(why);
  if (code === 'SESSION_ERROR' || code === 'FACTORY_ERROR') throw new TransientError(why);
  throw new ServerProblem(`the server failed: ${String(code)} ${why}`);
}
