import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';

import { packageRoot } from '../../core/package-root.ts';
import { abortable } from '../../core/stopping/abort.ts';

/** A request to the sidecar. */
export type SidecarRequest = { readonly do: 'start' | 'log' | 'summary' | 'end' } & Readonly<
  Record<string, unknown>
>;

interface Answer {
  id: number;
  note?: string | null;
  error?: string;
}

interface Waiting {
  resolve: (note: string | undefined) => void;
  reject: (error: Error) => void;
}

const longestStderr = 2000;
/** What may wait to be read by a process that does not read. */
const mostUnreadBytes = 2 ** 20;

export const sidecarFile = (): string =>
  join(packageRoot(), 'agent_rl', 'trackers', 'wandb', 'sidecar.py');

/**
 * A Python process that holds W&B's SDK, in a group of its own: a Ctrl-C reaches the run alone. It does not keep this process
 * alive, and ends when its input does.
 */
export class Sidecar {
  readonly #child: ChildProcessByStdio<Writable, Readable, Readable>;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #death: Error | undefined;
  #stderr = '';
  #nextId = 1;
  #closing = false;

  constructor(python: string, env: NodeJS.ProcessEnv) {
    const args = ['-u', '-B', sidecarFile()];
    this.#child = spawn(python, args, { env, detached: true, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = new Promise((resolve) => {
      this.#child.once('close', (code, signal) => {
        if (this.#closing && code === 0) this.#die('it was closed');
        else this.#die(`it ended with ${signal ?? `code ${code}`}${this.#lastWords()}`);
        resolve();
      });
      this.#child.once('error', (error) => {
        this.#die(error.message);
        resolve();
      });
    });
    this.#child.stderr
      .setEncoding('utf8')
      .on('data', (text: string) => (this.#stderr = (this.#stderr + text).slice(-longestStderr)));
    // Its end is reported by `close`.
    this.#child.stdin.on('error', () => undefined);
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#hear(line));
    this.#release();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** @returns what it notes; rejects with what it says, or when it is gone, or at the signal */
  async ask(request: SidecarRequest, signal: AbortSignal): Promise<string | undefined> {
    if (this.#death !== undefined) throw this.#death;
    if (this.#closing) throw new Error('The process of the W&B SDK has been closed');
    if (this.#child.stdin.writableLength > mostUnreadBytes)
      throw new Error('The process of the W&B SDK does not read its input');
    const id = this.#nextId++;
    const answer = new Promise<string | undefined>((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#child.stdin.write(`${JSON.stringify({ ...request, id })}\n`);
    });
    try {
      return await abortable(answer, signal);
    } finally {
      this.#waiting.delete(id);
    }
  }

  /** Ends the run in W&B and waits for what is still uploaded. @throws when that did not end well */
  async close(): Promise<void> {
    this.#closing = true;
    this.#child.stdin.end();
    await this.#ended;
    if (this.#child.exitCode !== 0)
      throw this.#death ?? new Error('The process of the W&B SDK has exited');
  }

  #hear(line: string): void {
    const { id, note, error } = JSON.parse(line) as Answer;
    const waiting = this.#waiting.get(id);
    if (error === undefined) waiting?.resolve(note ?? undefined);
    else waiting?.reject(new Error(`W&B rejected the request: ${error}`));
  }

  #die(why: string): void {
    this.#death ??= new Error(`The process of the W&B SDK has exited: ${why}`);
    for (const { reject } of this.#waiting.values()) reject(this.#death);
    this.#waiting.clear();
  }

  #lastWords(): string {
    const last = this.#stderr.trim().split('\n').at(-1) ?? '';
    return last === '' ? '' : `: ${last}`;
  }

  /** The run may end without it. */
  #release(): void {
    const { stdin, stdout, stderr } = this.#child as unknown as Record<string, Unrefable>;
    for (const one of [this.#child, stdin, stdout, stderr]) (one as Unrefable).unref?.();
  }
}

interface Unrefable {
  unref?: () => void;
}
