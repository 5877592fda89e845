import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { Refusal } from '../../http/refusal.ts';

/** Files of weights that clients put, until they are read. */
export class WeightInbox {
  /** SHA-256 of each file that came whole, by client and name. */
  readonly #files = new Map<string, Map<string, string>>();

  private constructor(
    private readonly folder: string,
    private readonly mostBytes: number,
  ) {}

  /** @param mostBytes of one file */
  static async open(mostBytes: number): Promise<WeightInbox> {
    return new WeightInbox(await mkdtemp(join(tmpdir(), 'agent-rl-served-')), mostBytes);
  }

  /** Keeps a file, in place of one of its name. @throws Refusal for one that is too long */
  async put(client: string, name: string, content: Readable): Promise<void> {
    const folder = join(this.folder, client);
    await mkdir(folder, { recursive: true });
    const hash = createHash('sha256');
    let bytes = 0;
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        bytes += chunk.length;
        hash.update(chunk);
        if (bytes > this.mostBytes)
          done(
            new Refusal(413, `${name} is longer than ${this.mostBytes} bytes, the model itself.`),
          );
        else done(null, chunk);
      },
    });
    const files = this.#files.get(client) ?? new Map<string, string>();
    this.#files.set(client, files);
    files.delete(name);
    await pipeline(content, counted, createWriteStream(join(folder, name)));
    files.set(name, hash.digest('hex'));
  }

  /** Where the files of a client are. @throws Refusal when they are not those that it names */
  whole(client: string, named: Readonly<Record<string, string>>): string {
    const there = this.#files.get(client) ?? new Map<string, string>();
    const wrong = Object.keys(named).find((name) => there.get(name) !== named[name]);
    if (wrong !== undefined)
      throw new Refusal(409, `${wrong} did not arrive as it was sent. Put it again.`);
    return join(this.folder, client);
  }

  async forget(client: string): Promise<void> {
    this.#files.delete(client);
    await rm(join(this.folder, client), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
