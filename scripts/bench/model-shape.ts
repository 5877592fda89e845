import path from 'node:path';

import { messageOf } from '../../agent_rl/core/errors.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { note } from './bench-run.ts';
import { type PeerNeeds, programOutput } from './peers.ts';
import type { MeasuredGroup, MeasuredRow, ShapeReport } from './model-shape/report.ts';
import type { Group, RowAnswer, RowOrder } from './model-shape/tasks.ts';

export interface ShapeOptions {
  groups: readonly Group[];
  /** Device of ours and of PyTorch. */
  device: string;
  threads: number;
  /** Timed calls of every row, at least, after one that is not timed; of 0, the first call alone is timed. */
  repeats: number;
  /** A Python with what the peers need; without it there are no peers. */
  python?: string | undefined;
}

export const shapePeerNeeds: PeerNeeds = {
  modules: ['torch', 'transformers', 'peft'],
  packages: ['torch>=2.4,<3', 'transformers>=5,<6', 'peft>=0.18,<1'],
};

/** Every row is measured twice, after all others of its task: what else the machine does falls on all of them. */
const roundsOf = (repeats: number): number => Math.min(2, Math.max(1, repeats));

/** Times LoRA steps, prefill and decoding with random weights, beside PyTorch where there is a Python. */
export function measureShape(options: ShapeOptions): ShapeReport {
  const { groups, device, threads, repeats } = options;
  const rounds = roundsOf(repeats);
  return { device, threads, rounds, groups: groups.map((group) => measureGroup(group, options)) };
}

function measureGroup(group: Group, options: ShapeOptions): MeasuredGroup {
  const { title, task, tokens } = group;
  const { device, threads, repeats, python } = options;
  const rounds = roundsOf(repeats);
  const calls = { warmUp: Math.min(1, repeats), repeats: Math.max(1, Math.ceil(repeats / rounds)) };
  const timing = { device, threads, ...calls };
  const contestants = group.contestants.filter(
    ({ peer }) => peer === undefined || python !== undefined,
  );
  const rows: MeasuredRow[] = contestants.map(({ name }) => ({ name }));
  for (let round = 1; round <= rounds; round++) {
    for (const [index, contestant] of contestants.entries()) {
      const { name, answer: before, error } = rows[index]!;
      if (error !== undefined) continue;
      note(`Measuring: ${title}, ${name}, round ${round} of ${rounds}`);
      const row = measureRound({ ...contestant, ...timing, task }, { python, before });
      rows[index] = row;
      // A run that is stopped leaves what it measured on the screen.
      note(`  ${row.error ?? answerText(row.answer!)}`);
    }
  }
  return { title, task, tokens, rows };
}

const answerText = ({ seconds, peakBytes }: RowAnswer): string =>
  `${seconds.map((value) => value.toFixed(3)).join(' ')} s, ${(peakBytes / 1e9).toFixed(2)} GB`;

/** A peer that cannot run here is reported; ours must run. */
function measureRound(
  order: RowOrder,
  { python, before }: { python: string | undefined; before: RowAnswer | undefined },
): MeasuredRow {
  const { name } = order;
  try {
    const answer = answerTo(order, python);
    const seconds = [...(before?.seconds ?? []), ...answer.seconds];
    const peakBytes = Math.max(before?.peakBytes ?? 0, answer.peakBytes);
    return { name, answer: { ...answer, seconds, peakBytes } };
  } catch (problem) {
    if (order.peer === undefined) throw problem;
    return { name, error: messageOf(problem) };
  }
}

/** What a process of its own answers. */
export function answerTo(order: RowOrder, python = ''): RowAnswer {
  const root = packageRoot();
  const ours = path.join(root, 'dist', 'scripts', 'bench', 'model-shape', 'row-process.js');
  const peer = path.join(root, 'scripts', 'bench', 'peers', 'model_shape.py');
  const argument = JSON.stringify(order);
  const text =
    order.peer === undefined
      ? programOutput(process.execPath, [ours, argument])
      : programOutput(python, ['-W', 'ignore::FutureWarning', peer, argument]);
  const answer = JSON.parse(text) as RowAnswer;
  if (answer.loss !== undefined && !Number.isFinite(answer.loss)) {
    throw new Error(`${order.name} has a loss of ${answer.loss}.`);
  }
  return answer;
}
