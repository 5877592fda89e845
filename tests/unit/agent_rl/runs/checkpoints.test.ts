import { cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

import { beforeEach, describe, expect, test } from '@jest/globals';

import {
  checkpointAt,
  newestCheckpoint,
  pruneCheckpoints,
  readTrainerState,
  saveCheckpoint,
  corruption,
} from '#agent_rl/runs/checkpoints.ts';
import { FakeLearner } from '#tests/support/fake-learner.ts';
import { miniMind3Folder } from '#tests/support/minimind3.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { rejectionOf } from '#tests/support/thrown.ts';

const root = temporaryFolder();
const folder = join(root, 'run', 'checkpoints');

/** Writes what a learner would, or fails in the middle of it. */
class WritingLearner extends FakeLearner {
  constructor(private readonly fails = false) {
    super();
  }

  override async saveState(into?: string): Promise<{ weightsSha256: string }> {
    writeBelow(into ?? '', 'model.safetensors', 'weights');
    if (this.fails) throw new Error('ENOSPC: no space left on device');
    writeBelow(into ?? '', 'config.json', '{}');
    return { weightsSha256: 'abc' };
  }
}

const save = (
  step: number,
  { name = `step-${step}`, fails = false, textFolder = miniMind3Folder } = {},
) =>
  saveCheckpoint({
    folder,
    name,
    step,
    state: { iteration: step, note: 'ü' },
    learner: new WritingLearner(fails),
    textFolder,
  });

const warnings: string[] = [];
const warn = (text: string): void => void warnings.push(text);

beforeEach(() => {
  warnings.length = 0;
  rmSync(join(root, 'run'), { recursive: true, force: true });
});

describe('A checkpoint', () => {
  test('is a model folder with state and manifest, and is intact', async () => {
    const { path, weightsSha256 } = await save(3);
    expect(weightsSha256).toBe('abc');
    expect(readdirSync(path).toSorted()).toEqual([
      'config.json',
      'manifest.json',
      'model.safetensors',
      'tokenizer.json',
      'tokenizer_config.json',
      'trainer-state.json',
    ]);
    expect(await corruption(path)).toBeUndefined();
    expect(readTrainerState(path)).toEqual({ iteration: 3, note: 'ü' });
  });

  test('holds named chat templates too, and is corrupt when one of them is not what was written', async () => {
    const textFolder = join(root, 'text');
    cpSync(miniMind3Folder, textFolder, { recursive: true });
    writeBelow(textFolder, 'additional_chat_templates/tool_use.jinja', 'hi');
    const { path } = await save(5, { textFolder });
    expect(await corruption(path)).toBeUndefined();
    writeBelow(path, 'additional_chat_templates/tool_use.jinja', 'ho');
    expect(await corruption(path)).toMatch(/tool_use.jinja is missing or damaged/);
  });

  test('does not appear where it cannot be written completely, and the previous one stays', async () => {
    await save(3);
    await expect(save(4, { fails: true })).rejects.toThrow('ENOSPC');
    expect(readdirSync(folder)).toEqual(['step-3']);
  });

  test('is OUTPUT_UNWRITABLE below a file', async () => {
    writeBelow(root, 'run/checkpoints', 'a file');
    const { code, message } = await rejectionOf(save(1));
    expect(code).toBe('OUTPUT_UNWRITABLE');
    expect(message).toContain('step-1');
  });

  test.each([
    [
      'has lost a file',
      (path: string) => rmSync(join(path, 'tokenizer.json')),
      /^tokenizer.json is missing/,
    ],
    [
      'has another state',
      (path: string) => writeBelow(path, 'trainer-state.json', '{}'),
      /^trainer-state.json is/,
    ],
    ['has no manifest', (path: string) => rmSync(join(path, 'manifest.json')), /no manifest.json/],
    [
      'has half a manifest',
      (path: string) => writeBelow(path, 'manifest.json', '{"sch'),
      /^its manifest.json cannot be read/,
    ],
    [
      'has a manifest that names no file',
      (path: string) => writeBelow(path, 'manifest.json', '{"schema": 1, "files": {}}'),
      /names no trainer-state.json/,
    ],
    [
      'has a folder instead of a file',
      (path: string) => {
        rmSync(join(path, 'tokenizer.json'));
        mkdirSync(join(path, 'tokenizer.json'));
      },
      /^tokenizer.json cannot be read/,
    ],
  ])('is torn when it %s', async (_, damage, problem) => {
    const { path } = await save(1);
    damage(path);
    expect(await corruption(path)).toMatch(problem);
  });
});

describe('the newest checkpoint', () => {
  test('has the highest step, not the last name', async () => {
    for (const step of [9, 10]) await save(step);
    expect(await newestCheckpoint(folder, warn)).toBe(join(folder, 'step-10'));
    expect(warnings).toEqual([]);
  });

  test('skips corrupt ones, each with a warning', async () => {
    for (const step of [1, 2, 3]) await save(step);
    rmSync(join(folder, 'step-3', 'manifest.json'));
    writeBelow(folder, 'step-2/model.safetensors', 'other weights');
    expect(await newestCheckpoint(folder, warn)).toBe(join(folder, 'step-1'));
    expect(warnings).toEqual([
      `Checkpoint ${join(folder, 'step-3')} is skipped: it has no manifest.json.`,
      `Checkpoint ${join(folder, 'step-2')} is skipped: model.safetensors is missing or damaged.`,
    ]);
  });

  test('is an error where all are corrupt', async () => {
    await save(1);
    rmSync(join(folder, 'step-1', 'manifest.json'));
    const { code, message } = await rejectionOf(newestCheckpoint(folder, warn));
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toContain('has no intact checkpoint (1 checked)');
  });
});

test('only the newest few are kept, and the best is kept besides', async () => {
  for (const step of [1, 2, 3]) await save(step);
  await save(2, { name: 'best' });
  pruneCheckpoints(folder, 2);
  expect(readdirSync(folder).toSorted()).toEqual(['best', 'step-2', 'step-3']);
});

describe('A path', () => {
  test('may name a checkpoint, or a run, whose newest is taken', async () => {
    for (const step of [1, 2]) await save(step);
    expect(await checkpointAt(join(folder, 'step-1'), warn)).toBe(join(folder, 'step-1'));
    expect(await checkpointAt(join(root, 'run'), warn)).toBe(join(folder, 'step-2'));
  });

  test('is refused where it names neither', async () => {
    mkdirSync(join(root, 'run'));
    const { code, message } = await rejectionOf(checkpointAt(join(root, 'run'), warn));
    expect(code).toBe('CHECKPOINT_INVALID');
    expect(message).toContain('neither a checkpoint (no config.json) nor a run folder');
    expect(existsSync(folder)).toBe(false);
  });
});
