import { join } from 'node:path';

import { beforeAll, expect, test } from '@jest/globals';

import { loadModel } from '#model/weights/load-model.ts';
import { makeAcmeProject, readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
beforeAll(() => makeAcmeProject(project));

/** Folder of a run of two iterations. */
function train(name: string, ...settings: readonly string[]): string {
  const set = ['eval.before=false', 'eval.after=false', ...settings].flatMap((one) => [
    '--set',
    one,
  ]);
  const { code, stderr } = builtProgram(
    'agent-rl',
    ['train', '--config', 'train.yaml', '--output', name, ...set],
    project,
  );
  expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
  return join(project, name, 'train-seed7');
}

const tokensOf = (run: string) =>
  readLines(run, 'trajectories', 'train.jsonl').map(({ tokens }) => tokens);
const weightsOf = async (folder: string) => (await loadModel(folder)).parameters;

test('the eager learner trains two iterations as the compiled one does: the same tokens, and weights as far as rounding', async () => {
  const compiled = train('compiled');
  const eager = train('eager', 'learner.type=eager');
  expect(tokensOf(eager)).toEqual(tokensOf(compiled));
  const trained = join('checkpoints', 'step-2');
  const [before, left, right] = await Promise.all(
    [join(project, 'model'), join(compiled, trained), join(eager, trained)].map(weightsOf),
  );
  let [apart, way] = [0, 0];
  for (const [name, values] of left!)
    for (const [i, value] of values.entries()) {
      apart += (value - right!.get(name)![i]!) ** 2;
      way += (value - before!.get(name)![i]!) ** 2;
    }
  expect(way).toBeGreaterThan(0);
  expect(Math.sqrt(apart / way)).toBeLessThan(1e-4);
});
