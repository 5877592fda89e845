import path from 'node:path';

import { messageOf } from '../../agent_rl/core/errors.ts';
import { packageRoot } from '../../agent_rl/core/package-root.ts';
import { parameterCount } from '../../model/config/parameters.ts';
import { note } from './bench-run.ts';
import { type PeerNeeds, programOutput } from './peers.ts';
import type { MeasuredGroup, MeasuredRow, Qwen3ShapeReport } from './qwen3-shape/report.ts';
import type { Shape } from './qwen3-shape/shape.ts';
import {
  type Group,
  groupsOf,
  type RowAnswer,
  type RowOrder,
  type Task,
} from './qwen3-shape/tasks.ts';

export interface Qwen3ShapeOptions {
  shape: Shape;
  /** Which of its tasks. */
  kinds: readonly Task['kind'][];
  /** Device of ours and of PyTorch. */
  device: string;
  threads: number;
  /** Timed calls of every row, at least. */
  repeats: number;
  /** A Python with what the peers need; without it there are no peers. */
  python?: string | undefined;
}

export const qwen3PeerNeeds: PeerNeeds = {
  modules: ['torch', 'transformers', 'peft'],
  packages: ['torch>=2.4,<3', 'transformers>=5,<6', 'peft>=0.18,<1'],
};

/** Every row is measured twice, after all others of its task: what else the machine does falls on all of them. */
const roundsOf = (repeats: number): number => Math.min(2, repeats);

/** Times a LoRA step, prefill and decoding at the size of Qwen3-0.6B, beside PyTorch where there is a Python. */
export function measureQwen3Shape(options: Qwen3ShapeOptions): Qwen3ShapeReport {
  const { shape, kinds, device, threads, repeats } = options;
  const chosen = groupsOf(shape).filter(({ task }) => kinds.includes(task.kind));
  return {
    parameters: parameterCount(shape.config),
    device,
    threads,
    rounds: roundsOf(repeats),
    groups: chosen.map((group) => measureGroup(group, options)),
  };
}

function measureGroup(group: Group, options: Qwen3ShapeOptions): MeasuredGroup {
  const { title, task, tokens } = group;
  const { device, threads, repeats, python } = options;
  const rounds = roundsOf(repeats);
  const timing = { device, threads, warmUp: 1, repeats: Math.ceil(repeats / rounds) };
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
  const ours = path.join(root, 'dist', 'scripts', 'bench', 'qwen3-shape', 'row-process.js');
  const peer = path.join(root, 'scripts', 'bench', 'peers', 'qwen3_shape.py');
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
