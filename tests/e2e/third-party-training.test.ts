import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { loadModel } from '#model/weights/load-model.ts';
import { weightsSha256 } from '#model/weights/weights-sha256.ts';
import { makeAcmeProject, readJson, readLines } from '../support/acme-project.ts';
import { builtProgram } from '../support/built-program.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const project = temporaryFolder();
const run = join(project, 'runs', 'train-seed7');
let said = '';

beforeAll(() => makeAcmeProject(project));

describe("a third party's tool, environment and reward", () => {
  test('are trained for two iterations by YAML alone', () => {
    const { code, stdout, stderr } = builtProgram(
      'agent-rl',
      ['train', '--config', 'train.yaml', '--set', 'train.finalRatio=0.3'],
      project,
    );
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' });
    said = stdout + stderr;
    expect(stdout).toContain('held-out success');
    expect(stdout).toContain(`Outputs: ${run}`);
  });

  test('are told of a setting that cannot act: once in the terminal, in the log and in the summary', () => {
    const sentence =
      'train.finalRatio 0.3 (--set train.finalRatio=0.3) has no effect: train.schedule is constant.';
    expect(said.split(sentence)).toHaveLength(2);
    expect(said).toContain(`Note: ${sentence}`);
    expect(readFileSync(join(run, 'run.log'), 'utf8')).toContain(`warn ${sentence}`);
    expect(readJson(run, 'summary.json')).toMatchObject({ warnings: [sentence] });
  });

  test('leave two iterations of records', () => {
    expect(readJson(run, 'summary.json')).toMatchObject({
      seed: 7,
      iterations: 2,
      interrupted: false,
      eval: { before: { n: 4 }, after: { n: 4 } },
      sandboxLevel: null,
    });
    expect(readLines(run, 'metrics.jsonl').map(({ iteration }) => iteration)).toEqual([1, 2]);
    const episodes = readLines(run, 'trajectories', 'train.jsonl');
    expect(episodes).toHaveLength(2 * 2 * 4);
    for (const { components, reward } of episodes) {
      const { answer = NaN, vowels = NaN } = components as Record<string, number>;
      expect(reward).toBeCloseTo(answer + vowels);
    }
  });

  test('change the weights, in a checkpoint that is a model folder', async () => {
    const { weightsSha256: trained, checkpoint } = readJson(run, 'summary.json');
    const before = await loadModel(join(project, 'model'));
    const after = await loadModel(String(checkpoint));
    expect(weightsSha256(after.parameters)).toBe(trained);
    expect(trained).not.toBe(weightsSha256(before.parameters));
    expect(existsSync(join(String(checkpoint), 'tokenizer.json'))).toBe(true);
  });
});
