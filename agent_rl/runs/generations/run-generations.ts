import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { append } from '../../core/long-lists.ts';
import { isRecord } from '../../core/is-record.ts';
import type { Generation } from '../../core/services/generator.ts';
import { generationProblem } from '../../generation/generation-problem.ts';
import type { GenerationRecord } from '../../generation/recording/recording-generator.ts';
import { writing } from '../../telemetry/atomic-write.ts';
import { JsonlWriter } from '../../telemetry/index.ts';
import { readLines } from '../episodes/read-lines.ts';

/** A line: what was asked, by its hash, and what was drawn. */
interface GenerationLine {
  asked: string;
  drawn: Generation;
}

/**
 * What a generator drew since the oldest checkpoint there is, in `generations/after-K-N.jsonl`: K iterations were done, N counts
 * files of the same K. A request names the weights and the whole context it is for, so nothing has to be cut off for a resume.
 */
export class RunGenerations implements GenerationRecord {
  readonly #held = new Map<string, Generation>();
  #lines: JsonlWriter;

  private constructor(
    private readonly folder: string,
    iteration: number,
  ) {
    this.#lines = newFile(folder, iteration);
  }

  /**
   * @param iteration done before what will be drawn
   * @param keep whether what the folder holds may be given again; otherwise it is deleted
   * @throws AgentRlError `OUTPUT_UNWRITABLE`
   */
  static async open(
    folder: string,
    { iteration, keep }: { iteration: number; keep: boolean },
  ): Promise<{ generations: RunGenerations; unreadable: readonly string[] }> {
    if (!keep) remove(folder);
    const before = filesOf(folder).map(({ file }) => file);
    const generations = new RunGenerations(folder, iteration);
    const unreadable: string[] = [];
    for (const file of before) append(unreadable, await generations.#read(file));
    return { generations, unreadable };
  }

  /** Generations that were drawn before and not given again yet. */
  get held(): number {
    return this.#held.size;
  }

  take(asked: string): Generation | undefined {
    const drawn = this.#held.get(asked);
    this.#held.delete(asked);
    return drawn;
  }

  keep(asked: string, drawn: Generation): void {
    const line: GenerationLine = { asked, drawn };
    this.#lines.writeLine(JSON.stringify(line));
  }

  /** After a checkpoint: what was drawn before the oldest that is left is not needed any more. */
  checkpointed(iteration: number, oldest: number): void {
    this.#lines.close();
    for (const { after, file } of filesOf(this.folder)) if (after < oldest) remove(file);
    this.#lines = newFile(this.folder, iteration);
  }

  close(): void {
    this.#lines.close();
  }

  /** The run has ended: none is needed any more. */
  delete(): void {
    remove(this.folder);
  }

  /** @returns lines that are no generation, by place */
  async #read(file: string): Promise<string[]> {
    const unreadable: string[] = [];
    for await (const { record, place } of readLines(file, lineOrNothing))
      if (record === undefined) unreadable.push(place);
      else this.#held.set(record.asked, record.drawn);
    return unreadable;
  }
}

/** A file that does not exist yet, so that a line cut short ends the one before. */
function newFile(folder: string, iteration: number): JsonlWriter {
  const count = filesOf(folder).filter(({ after }) => after === iteration).length;
  return new JsonlWriter(join(folder, `after-${iteration}-${count}.jsonl`));
}

function filesOf(folder: string): { after: number; file: string }[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((name) => {
    const after = /^after-(\d+)-\d+\.jsonl$/.exec(name)?.[1];
    return after === undefined ? [] : [{ after: Number(after), file: join(folder, name) }];
  });
}

const remove = (path: string): void =>
  writing(path, () => rmSync(path, { recursive: true, force: true }));

function lineOrNothing(text: string): GenerationLine | undefined {
  try {
    const line: unknown = JSON.parse(text);
    return isLine(line) ? line : undefined;
  } catch {
    return undefined;
  }
}

function isLine(line: unknown): line is GenerationLine {
  if (!isRecord(line) || typeof line['asked'] !== 'string') return false;
  const { drawn } = line;
  const stopTokens = isRecord(drawn) && Array.isArray(drawn['tokens']) ? drawn['tokens'] : [];
  const asked = { maxTokens: Number.POSITIVE_INFINITY, stopTokens };
  return generationProblem(drawn, asked) === undefined;
}
