import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Transform, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import { filesOfWeights } from '../../../generation/served/protocol.ts';
import { Refusal } from '../../../http/refusal.ts';

interface Arrival {
  bytes: number;
  /** Once it has come whole. */
  sha256?: string;
  /** Ends it, for one that takes its place. */
  replaced: AbortController;
}

/** Files of weights that a client puts, until they are read: of one client, and no more than a model has. */
export class WeightInbox {
  #client: string | undefined;
  readonly #files = new Map<string, Arrival>();

  private constructor(
    private readonly folder: string,
    private readonly mostBytes: number,
  ) {}

  /** @param mostBytes of all files together */
  static async open(mostBytes: number): Promise<WeightInbox> {
    return new WeightInbox(await mkdtemp(join(tmpdir(), 'agent-rl-served-')), mostBytes);
  }

  /**
   * Keeps a file. It replaces the file of that name and everything that another client has put.
   *
   * @throws Refusal for one of another name, and where there is more than a model has
   */
  async put(client: string, name: string, content: Readable): Promise<void> {
    if (!filesOfWeights.includes(name))
      throw new Refusal(
        400,
        `${name} is not a weight file. This server accepts ${filesOfWeights.join(', ')}.`,
      );
    if (this.#client !== undefined && this.#client !== client) await this.forget(this.#client);
    this.#client = client;
    this.#files.get(name)?.replaced.abort();
    const arrival: Arrival = { bytes: 0, replaced: new AbortController() };
    this.#files.set(name, arrival);
    try {
      await mkdir(join(this.folder, client), { recursive: true });
      arrival.sha256 = await this.#written(join(this.folder, client, name), content, arrival);
    } catch (thrown) {
      if (this.#files.get(name) === arrival) {
        this.#files.delete(name);
        await rm(join(this.folder, client, name), { force: true });
      }
      throw thrown;
    }
  }

  async #written(file: string, content: Readable, arrival: Arrival): Promise<string> {
    const hash = createHash('sha256');
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        arrival.bytes += chunk.length;
        hash.update(chunk);
        const all = [...this.#files.values()].reduce((sum, { bytes }) => sum + bytes, 0);
        if (all <= this.mostBytes) return done(null, chunk);
        const problem = `The files are larger than ${this.mostBytes} bytes in total, the size of the model.`;
        return done(new Refusal(413, problem));
      },
    });
    const { signal } = arrival.replaced;
    await pipeline(content, counted, createWriteStream(file), { signal });
    return hash.digest('hex');
  }

  /** Where the files of a client are. @throws Refusal when they are not those that it names */
  whole(client: string, named: Readonly<Record<string, string>>): string {
    if (Object.keys(named).length === 0)
      throw new Refusal(
        400,
        'files: is empty. Upload the weights with PUT first, and name them here.',
      );
    const there = this.#client === client ? this.#files : new Map<string, Arrival>();
    const wrong = Object.keys(named).find((name) => there.get(name)?.sha256 !== named[name]);
    if (wrong !== undefined) throw new Refusal(409, `${wrong} arrived damaged. Upload it again.`);
    return join(this.folder, client);
  }

  async forget(client: string): Promise<void> {
    if (this.#client === client) {
      this.#client = undefined;
      for (const { replaced } of this.#files.values()) replaced.abort();
      this.#files.clear();
    }
    await rm(join(this.folder, client), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
