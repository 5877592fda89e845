import { once } from 'node:events';

import { WebSocket } from 'ws';

import { AgentRlError, messageOf } from '../../core/errors.ts';
import { TransientError } from '../../core/failure.ts';
import { isRecord } from '../../core/is-record.ts';
import { inTime, underSignals } from '../../core/stopping/abort.ts';
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

/** The server has no free session. */
export class NoPlace extends Error {
  override readonly name = 'NoPlace';
}

/** The server refused an action that does not fit its schema. */
export class ActionRefused extends Error {
  override readonly name = 'ActionRefused';
}

/** A session at a server of OpenEnv: one environment, over one WebSocket. */
export class OpenEnvSession {
  private constructor(
    private readonly socket: WebSocket,
    private readonly settings: Pick<OpenEnvSettings, 'url' | 'stepS'>,
  ) {}

  /**
   * @throws TransientError where the server cannot be reached; AgentRlError `CONFIG_INVALID` where it refuses the key; the
   * signal's reason
   */
  static async open(
    settings: Pick<OpenEnvSettings, 'url' | 'stepS'>,
    key: string | undefined,
    signal: AbortSignal,
  ): Promise<OpenEnvSession> {
    const { url } = settings;
    const address = `${url.replace(/^http/, 'ws').replace(/\/$/, '')}/ws`;
    const socket = new WebSocket(address, {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      maxPayload: mostBytes,
      perMessageDeflate: false,
      handshakeTimeout: connectMs,
    });
    // What fails is seen where something waits for it.
    socket.on('error', () => undefined);
    try {
      await once(socket, 'open', { signal });
    } catch (thrown) {
      socket.terminate();
      signal.throwIfAborted();
      const why = `The environment server ${url} cannot be reached: ${messageOf(thrown)}.`;
      if (/\b(?:401|403)\b/.test(messageOf(thrown))) throw new AgentRlError('CONFIG_INVALID', why);
      throw new TransientError(why);
    }
    return new OpenEnvSession(socket, settings);
  }

  /** @throws NoPlace, ActionRefused; TransientError where the connection ends; Error for another answer */
  async observe(type: 'reset' | 'step', data: object, signal: AbortSignal): Promise<Observed> {
    const answer = await this.#ask({ type, data }, signal);
    const { observation, reward, done } = dataOf(answer, 'observation');
    const given = typeof reward === 'boolean' ? Number(reward) : (reward ?? undefined);
    const isNumber = given === undefined || (typeof given === 'number' && Number.isFinite(given));
    if (!isRecord(observation) || !isNumber || typeof done !== 'boolean')
      throw new Error(
        `the server ${this.settings.url} answered ${type} with ${showValue(answer)}; expected an observation (an object), a reward (a number or null) and done (true or false).`,
      );
    return { observation, reward: given, done };
  }

  /** What the server says of the session, such as its number of steps. @throws as `observe` */
  async state(signal: AbortSignal): Promise<Readonly<Record<string, unknown>>> {
    return dataOf(await this.#ask({ type: 'state' }, signal), 'state');
  }

  close(): void {
    if (this.socket.readyState !== WebSocket.OPEN) return this.socket.terminate();
    this.socket.send(JSON.stringify({ type: 'close' }));
    this.socket.close();
  }

  async #ask(message: { type: string; data?: object }, signal: AbortSignal): Promise<unknown> {
    const { url, stepS: seconds } = this.settings;
    const { type } = message;
    const late = new TransientError(`${url} did not answer ${type} within ${seconds} s (stepS).`);
    try {
      return await inTime((until) => this.#next(message, until), { seconds, signal, late });
    } catch (thrown) {
      // Its answer may still come, and would be taken for that of the next message.
      if (!(thrown instanceof ActionRefused)) this.socket.terminate();
      throw thrown;
    }
  }

  async #next(message: object, signal: AbortSignal): Promise<unknown> {
    const { socket } = this;
    const { url } = this.settings;
    const gone = new AbortController();
    const ended = (code: number): void => gone.abort(goneBecause(url, code));
    const failed = (error: Error): void =>
      gone.abort(
        /max payload/i.test(error.message)
          ? new Error(`the server ${url} sent a message of more than 10 MB.`)
          : new TransientError(`The connection to ${url} failed: ${error.message}.`),
      );
    socket.on('close', ended).on('error', failed);
    try {
      return await underSignals([signal, gone.signal], async (either) => {
        const said = once(socket, 'message', { signal: either });
        if (socket.readyState > WebSocket.OPEN) ended(1006);
        // A server at capacity refuses before it is asked anything.
        else socket.send(JSON.stringify(message), () => undefined);
        const [bytes] = (await said) as [Buffer];
        return parsed(url, bytes.toString());
      });
    } catch (thrown) {
      signal.throwIfAborted();
      throw gone.signal.aborted ? (gone.signal.reason as Error) : thrown;
    } finally {
      socket.off('close', ended).off('error', failed);
    }
  }
}

const goneBecause = (url: string, code: number): Error =>
  new TransientError(`The server ${url} closed the connection (${code}).`);

function parsed(url: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error(`the server ${url} sent ${showValue(text)}; expected JSON.`);
  }
}

/** What an answer of the given type holds. @throws as `observe` */
function dataOf(answer: unknown, expected: string): Record<string, unknown> {
  const { type, data }: { type?: unknown; data?: unknown } = isRecord(answer) ? answer : {};
  if (type === expected && isRecord(data)) return data;
  if (type !== 'error' || !isRecord(data))
    throw new Error(`the server answered ${showValue(answer)}; expected the type ${expected}.`);
  const { code, message, errors } = data;
  const why = `${String(message)}${errors === undefined ? '' : ` ${showValue(errors, 500)}`}`;
  if (code === 'CAPACITY_REACHED') throw new NoPlace(why);
  if (code === 'VALIDATION_ERROR') throw new ActionRefused(why);
  if (code === 'SESSION_ERROR' || code === 'FACTORY_ERROR') throw new TransientError(why);
  throw new Error(`the server failed: ${String(code)} ${why}`);
}
