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
import { errorOf } from '#tests/support/thrown.ts';

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
) => {
  const state = { iteration: step, note: 'ü' };
  const learner = new WritingLearner(fails);
  return saveCheckpoint({ folder, name, step, state, learner, textFolder });
};
/** Saves several, one after the other. */
const saveAll = async (...steps: number[]): Promise<void> => {
  for (const step of steps) await save(step);
};

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
    await expect(save(1)).rejects.toMatchObject(errorOf('OUTPUT_UNWRITABLE', 'step-1'));
  });

  const emptyManifest = '{"schema": 1, "files": {}}';
  test.each([
    ['has lost a file', 'tokenizer.json', undefined, /^tokenizer.json is missing/],
    ['has another state', 'trainer-state.json', '{}', /^trainer-state.json is/],
    ['has no manifest', 'manifest.json', undefined, /no manifest.json/],
    ['has half a manifest', 'manifest.json', '{"sch', /^its manifest.json cannot be read/],
    ['names no file', 'manifest.json', emptyManifest, /names no trainer-state.json/],
    ['has a folder for a file', 'tokenizer.json', 'a folder', /^tokenizer.json cannot be read/],
  ])('is torn when it %s', async (_, name, text, problem) => {
    const { path } = await save(1);
    rmSync(join(path, name));
    if (text === 'a folder') mkdirSync(join(path, name));
    else if (text !== undefined) writeBelow(path, name, text);
    expect(await corruption(path)).toMatch(problem);
  });
});

describe('the newest checkpoint', () => {
  test('has the highest step, not the last name', async () => {
    await saveAll(9, 10);
    expect(await newestCheckpoint(folder, warn)).toBe(join(folder, 'step-10'));
    expect(warnings).toEqual([]);
  });

  test('skips corrupt ones, each with a warning', async () => {
    await saveAll(1, 2, 3);
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
    const refused = errorOf('CHECKPOINT_INVALID', 'has no intact checkpoint (1 checked)');
    await expect(newestCheckpoint(folder, warn)).rejects.toMatchObject(refused);
  });
});

test('only the newest few are kept, and the best is kept besides', async () => {
  await saveAll(1, 2, 3);
  await save(2, { name: 'best' });
  pruneCheckpoints(folder, 2);
  expect(readdirSync(folder).toSorted()).toEqual(['best', 'step-2', 'step-3']);
});

describe('A path', () => {
  test('may name a checkpoint, or a run, whose newest is taken', async () => {
    await saveAll(1, 2);
    expect(await checkpointAt(join(folder, 'step-1'), warn)).toBe(join(folder, 'step-1'));
    expect(await checkpointAt(join(root, 'run'), warn)).toBe(join(folder, 'step-2'));
  });

  test('is refused where it names neither', async () => {
    mkdirSync(join(root, 'run'));
    const refused = errorOf('CHECKPOINT_INVALID', 'neither a checkpoint (no');
    await expect(checkpointAt(join(root, 'run'), warn)).rejects.toMatchObject(refused);
    expect(existsSync(folder)).toBe(false);
  });
});
