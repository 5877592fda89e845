import path from 'node:path';

import { messageOf } from '../../agent_rl/core/errors.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { parameterCount } from '../../model/config/parameters.ts';
import { programOutput } from './program-output.ts';
import type { MeasuredGroup, MeasuredRow, Qwen3ShapeReport } from './qwen3-shape/report.ts';
import type { Shape } from './qwen3-shape/shape.ts';
import {
  groupsOf,
  type Contestant,
  type Group,
  type RowAnswer,
  type RowOrder,
  type Task,
} from './qwen3-shape/tasks.ts';

export interface Qwen3ShapeOptions {
  shape: Shape;
  /** Which of its tasks. */
  kinds: readonly Task['kind'][];
  threads: number;
  /** Timed calls of every row, at least. */
  repeats: number;
  /** A Python that has `qwen3PeerModules`; without it there are no peers. */
  python?: string;
  note: (text: string) => void;
}

/** What the peers import. */
export const qwen3PeerModules = ['torch', 'transformers', 'peft'] as const;
/** What brings them. */
export const qwen3PeerPackages = ['torch>=2.4,<3', 'transformers>=5,<6', 'peft>=0.18,<1'] as const;

/** Every row is measured twice, after all others of its task: what else the machine does falls on all of them. */
const roundsOf = (repeats: number): number => Math.min(2, repeats);

/** Times a LoRA step, prefill and decoding at the size of Qwen3-0.6B, beside PyTorch where there is a Python. */
export async function measureQwen3Shape(options: Qwen3ShapeOptions): Promise<Qwen3ShapeReport> {
  const groups: MeasuredGroup[] = [];
  const chosen = groupsOf(options.shape).filter(({ task }) => options.kinds.includes(task.kind));
  for (const group of chosen) groups.push(await measureGroup(group, options));
  return {
    parameters: parameterCount(options.shape.config),
    threads: options.threads,
    rounds: roundsOf(options.repeats),
    groups,
  };
}

async function measureGroup(group: Group, options: Qwen3ShapeOptions): Promise<MeasuredGroup> {
  const { title, task, tokens } = group;
  const rounds = roundsOf(options.repeats);
  const taking = group.contestants.filter(
    ({ peer }) => peer === undefined || options.python !== undefined,
  );
  const rows = new Map<string, MeasuredRow>(taking.map(({ name }) => [name, { name }]));
  for (let round = 0; round < rounds; round++) {
    for (const contestant of taking) {
      const { name } = contestant;
      const before = rows.get(name)!;
      if (before.error !== undefined) continue;
      options.note(`Measuring: ${title}, ${name}, round ${round + 1} of ${rounds}`);
      const row = await nextRound(before, { ...group, contestant }, options);
      rows.set(name, row);
      // A run that is stopped leaves what it measured on the screen.
      options.note(`  ${row.error ?? inWords(row.answer!)}`);
    }
  }
  return { title, task, tokens, rows: [...rows.values()] };
}

const inWords = ({ seconds, peakBytes }: RowAnswer): string =>
  `${seconds.map((value) => value.toFixed(3)).join(' ')} s, ${(peakBytes / 1e9).toFixed(2)} GB`;

/** What cannot run here is reported when it is a peer; ours must run. */
async function nextRound(
  before: MeasuredRow,
  { task, contestant }: Pick<Group, 'task'> & { contestant: Contestant },
  { threads, repeats, python }: Qwen3ShapeOptions,
): Promise<MeasuredRow> {
  const order: RowOrder = {
    ...contestant,
    task,
    threads,
    warmUp: 1,
    repeats: Math.ceil(repeats / roundsOf(repeats)),
  };
  try {
    const answer = await answerTo(order, python);
    return { name: before.name, answer: joined(before.answer, answer) };
  } catch (problem) {
    if (contestant.peer === undefined) throw problem;
    return { name: before.name, error: messageOf(problem) };
  }
}

/** What a process of its own answers. */
export async function answerTo(order: RowOrder, python: string | undefined): Promise<RowAnswer> {
  const folder = ['scripts', 'bench'];
  const argument = JSON.stringify(order);
  const text =
    order.peer === undefined
      ? await programOutput(process.execPath, [
          path.join(packageRoot(), 'dist', ...folder, 'qwen3-shape', 'row-process.js'),
          argument,
        ])
      : await programOutput(python!, [
          '-W',
          'ignore::FutureWarning',
          path.join(packageRoot(), ...folder, 'peers', 'qwen3_shape.py'),
          argument,
        ]);
  const answer = JSON.parse(text) as RowAnswer;
  if (answer.loss !== undefined && !Number.isFinite(answer.loss)) {
    throw new Error(`${order.name} came to a loss of ${answer.loss}.`);
  }
  return answer;
}

const joined = (before: RowAnswer | undefined, next: RowAnswer): RowAnswer => ({
  ...next,
  seconds: [...(before?.seconds ?? []), ...next.seconds],
  peakBytes: Math.max(before?.peakBytes ?? 0, next.peakBytes),
});
