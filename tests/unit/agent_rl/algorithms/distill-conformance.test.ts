import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import { distillKl } from '#agent_rl/algorithms/distill-kl.ts';
import { packageRoot } from '#agent_rl/core/package-root.ts';
import { tf, type Tensor } from '#agent_rl/engine/ops.ts';

interface Stored {
  student: number[][];
  teacher: number[][];
  kl: number[];
  gradient: number[][];
}

const fixture = join(packageRoot(), 'tests', 'fixtures', 'conformance', 'distill.json');
const stored = JSON.parse(readFileSync(fixture, 'utf8')) as Stored;

const probabilities = (logits: readonly number[]): number[] => {
  const exps = logits.map(Math.exp);
  const sum = exps.reduce((a, b) => a + b, 0);
  return exps.map((one) => one / sum);
};

test("the divergence over a list and the rest has TRL's value and gradient where the rest is one token", () => {
  let [largest, steepest] = [0, 0];
  for (const [place, logits] of stored.student.entries()) {
    const [p, q] = [probabilities(logits), probabilities(stored.teacher[place]!)];
    const listed = [0, 1, 2, 3, 4].toSorted((a, b) => q[b]! - q[a]!).slice(0, 4);
    const teacher = tf.tensor2d([listed.map((id) => Math.log(q[id]!))]);
    const of = (own: Tensor): Tensor => {
      const student = tf.gather(tf.logSoftmax(own), tf.tensor1d(listed, 'int32'));
      return tf.sum(distillKl(tf.reshape(student, [1, 4]), teacher).kl);
    };
    const [kl = Number.NaN] = of(tf.tensor1d(logits)).dataSync();
    const formula = p.reduce((sum, one, id) => sum + one * Math.log(one / q[id]!), 0);
    expect(formula).toBeCloseTo(stored.kl[place]!, 12);
    largest = Math.max(largest, Math.abs(kl - formula));
    const gradient = tf
      .grad(of as never)(tf.tensor1d(logits))
      .dataSync();
    for (const [id, slope] of stored.gradient[place]!.entries())
      steepest = Math.max(steepest, Math.abs(gradient[id]! - slope));
  }
  if (process.env['PARITY_REPORT'] !== undefined)
    process.stderr.write(`distillKl: value ${largest}, gradient ${steepest}\n`);
  expect(largest).toBeLessThan(1e-6);
  expect(steepest).toBeLessThan(1e-6);
});
