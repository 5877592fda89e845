import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { explain } from '#agent_rl/jobs/explain/explain-run.ts';
import { findingsText, headText } from '#agent_rl/jobs/explain/findings-text.ts';
import { zeroGradient } from '#agent_rl/jobs/explain/step/step-text.ts';
import { Unreadable } from '#agent_rl/runs/episodes/read-lines.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import { batchesOf, type RecordedPart } from '#agent_rl/runs/query/parts.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import type { LearnedPart } from '#agent_rl/trainer/learned-parts.ts';
import { damageEvent, rolloutsOfMembers, writeJournal } from '#tests/support/journal.ts';
import {
  episodeEvent,
  learnedPart,
  record,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { member } from '#tests/support/rollouts.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';
import { expectRejection } from '#tests/support/thrown.ts';
import { evidenceOf } from '#tests/unit/agent_rl/runs/signs/evidence.ts';

const folder = temporaryFolder();
const run = join(folder, 'run');
const ofIteration1 = { iteration: 1, taskId: 'a', sample: 0 };

/** What was learned of a part, with the advantage of its episode. */
const learned = (of: { taskId: string; slot: number; sample: number }, advantage: number) => {
  const key = { run: 'run', when: 'train', iteration: 2, reward: Number(advantage >= 0) } as const;
  return { ...member({ ...key, ...of }), use: 'zero-advantage', advantage, sent: [undefined] };
};

/** The same, of two tokens of a prompt and then 10, 11 and 12, which were sampled, each of weight 0.1. */
function trained(sample: number, advantage: number, probabilities: readonly number[]) {
  const part = learned({ taskId: 'a', slot: 0, sample }, advantage);
  const [sequence] = part.part.sequences;
  const logProbs = Float32Array.from([0, 0, ...probabilities.map(Math.log)]);
  const datum = {
    tokens: Int32Array.from(sequence?.tokens ?? []),
    weights: Float32Array.of(0, 0, 0.1, 0.1, 0.1),
    advantages: Float32Array.of(0, 0, advantage, advantage, advantage),
    oldLogProbs: Float32Array.from(sequence?.logProbs ?? []),
  };
  return {
    ...part,
    use: 'trained',
    sent: [{ datum, update: 0, logProbs, lastLogProbs: logProbs }],
  };
}

const metricsOf = (iteration: number, gradNorm: number) => ({
  iteration,
  'rollout/episodes': 4,
  'rollout/successRate': 0.5,
  'ledger/trained': 6,
  'ledger/zero-advantage': 6,
  'train/learningRate': 0.001,
  'train/gradNorm': gradNorm,
});

beforeAll(() => {
  const config = 'train: {mode: rl}\nalgorithm: {loss: {type: clipped}, epochs: 1}\n';
  writeBelow(run, 'config.yaml', config);
  const episodes = [
    // One half likelier, the other less likely: 11 was certain.
    trained(0, 1, [0.5, 1, 0.25]),
    trained(1, -3, [0.5, 1, 0.95]),
    learned({ taskId: 'b', slot: 1, sample: 0 }, 0),
    learned({ taskId: 'b', slot: 1, sample: 1 }, 0),
  ] as LearnedPart[];
  // What was learned of the first iteration is not recorded.
  const first = member({ when: 'train', iteration: 1, taskId: 'old' });
  writeJournal(run, { rollouts: rolloutsOfMembers([first, ...episodes]), learned: episodes });
  const metrics = [metricsOf(1, 0.2), metricsOf(2, 0.8), metricsOf(3, 0.4)];
  const lines = metrics.map((line) => `${JSON.stringify(line)}\n`);
  writeBelow(run, 'metrics.jsonl', lines.join(''));
});

async function explained(step?: number) {
  const printed: string[] = [];
  const print = (text: string) => void printed.push(text);
  const result = await explain({ run, print, ...(step !== undefined && { step }) });
  return { result, text: printed.join('\n') };
}

describe('agent-rl runs explain --step', () => {
  test('shows which groups and outcomes carry the gradient', async () => {
    const { result, text } = await explained(2);
    const only = { agent: 'policy', isResampled: false };
    expect(result['groups']).toEqual([
      { ...only, taskId: 'a', kind: 'mixed', share: 1, rewards: [1, 0] },
      { ...only, taskId: 'b', kind: 'all right', share: 0, rewards: [1, 1] },
    ]);
    // 3 tokens x 0.1 x 1 up and 3 x 0.1 x 3 down.
    const [up, down] = [expect.closeTo(0.25, 6), expect.closeTo(0.75, 6)];
    expect(result['outcomes']).toEqual([{ outcome: 'completed', episodes: 4, up, down }]);
    expect(text).toContain('Groups: 2, 1 mixed, 1 all right; 0 resampled');
    // Beside the iterations around it.
    expect(text).toMatch(/gradient norm before clipping.* 0\.8 {2}\(0\.4\)/);
    expect(text).toMatch(/6 +50\.0 % +zero-advantage +exactly as good as its group/);
  });

  test('says which tokens are pulled, by how much more likely they can become', async () => {
    const { result, text } = await explained(2);
    const { up, down, strongest } = result['tokens'] as Record<string, { pull: number }[]>;
    const pulled = (pull: number) => expect.closeTo(pull, 6) as unknown;
    // Token 10: 0.1 x 0.5 - 0.3 x 0.5; token 11: 0; token 12: 0.1 x 0.75 - 0.3 x 0.05.
    expect(down).toMatchObject([{ token: 10, text: '#10', count: 2, pull: pulled(-0.1) }]);
    expect(up).toMatchObject([{ token: 12, count: 2, pull: pulled(0.06) }]);
    const episode = 'train/2/0/0/1';
    expect(strongest?.[0]).toMatchObject({ token: 10, episode, pull: pulled(-0.15) });
    expect(text).toContain('"#1 #2»#10«#11 #12", p 0.5, in train/2/0/0/1');
  });

  test('says what was not recorded, and refuses an iteration that the run does not have', async () => {
    const { result, text } = await explained(1);
    expect(result).toMatchObject({ learnedRecorded: false, zeroGradient: null });
    expect(text).toContain('The update of each episode is not recorded, so the groups');
    await expectRejection(explained(9), 'CONFIG_INVALID', 'no iteration 9. Iterations 1 to 3 are');
  });
});

describe('The reason for a missing gradient', () => {
  test.each([
    [
      { 'ledger/zero-advantage': 20, 'ledger/masked': 80 },
      /no sampled token contributes to the loss: 80 masked \(left out by rollout\.outcomes.* 20 zero-advantage \(exactly/,
    ],
    [
      { 'ledger/trained': 5, 'train/gradNorm': 0, 'sent/clipFraction': 1 },
      /clipped 1, ratio too extreme 0/,
    ],
    [{ 'ledger/trained': 5, 'train/gradNorm': 1, 'train/learningRate': 0 }, /rate is 0/],
    [{}, /no tokens were sampled/],
  ])('is found in %j', (metrics, text) => {
    expect(zeroGradient(metrics)).toMatch(text);
  });

  test('is not given where a gradient exists, such as from a KL term alone', () => {
    expect(zeroGradient({ 'ledger/trained': 5, 'train/gradNorm': 1 })).toBeUndefined();
    expect(zeroGradient({ 'ledger/zero-advantage': 5, 'train/gradNorm': 1 })).toBeUndefined();
  });
});

test('a run of supervised training has nothing to explain', async () => {
  writeBelow(folder, 'sft/config.yaml', 'train: {mode: sft}\n');
  const refused = explain({ run: join(folder, 'sft'), print: () => undefined });
  await expectRejection(refused, 'CONFIG_INVALID', 'supervised run');
});

test('what was learned of an episode that is not recorded is left out', async () => {
  const other = recordedFolder(folder, 'other');
  writeFileSync(other.metrics, '{"iteration": 1}\n');
  const learnedOfAnother = learnedEvent(learnedPart({ ...ofIteration1, slot: 7 }));
  record(other, episodeEvent(ofIteration1), learnedOfAnother);
  const result = await explain({ run: other.path, step: 1, print: () => undefined });
  expect(result).toMatchObject({ learnedRecorded: false, groups: [{ taskId: 'a' }] });
});

describe('A damaged event', () => {
  const samples = [0, 1, 2];
  let written = 0;

  /** A run of three episodes, of which the event at an index is damaged: the beginning of the session is the first. */
  function damaged(index: number) {
    const one = recordedFolder(folder, `damaged-${written++}`);
    writeFileSync(one.metrics, '{"iteration": 1}\n[]\n{"iteration": 3}\n');
    const ids = samples.map((sample) => Object.assign({}, ofIteration1, { sample }));
    const learnedEvents = ids.map((id) => learnedEvent(learnedPart(id)));
    const file = record(one, ...ids.map(episodeEvent), ...learnedEvents);
    const place = `${file}: the event at byte ${damageEvent(file, index)}: its checksum does not match`;
    return { one, place };
  }

  async function read({ path }: { path: string }) {
    const unreadable = new Unreadable();
    const all: RecordedPart[] = [];
    for await (const parts of batchesOf(runFolderAt(path), { file: 'train', unreadable }))
      all.push(...parts);
    const known = all.map(({ episode, learned: one }) => [episode.sample, one?.sample]);
    return { known, unreadable };
  }

  test('is left out and named, as a line of metrics is; what else is recorded is used', async () => {
    const { one, place } = damaged(1 + samples.length + 1);
    const printed: string[] = [];
    const print = (text: string) => void printed.push(text);
    const whole = await explain({ run: one.path, print });
    const step = await explain({ run: one.path, step: 1, print });
    const places = [`${one.metrics}:2: it holds no metrics`, place];
    const unreadable = { count: 2, first: places };
    expect([whole, step]).toMatchObject([{ unreadable }, { unreadable }]);
    const note = `Left out: 2 unreadable lines of the run's records.\n  ${places.join('\n  ')}`;
    expect(printed.join('\n').split(note)).toHaveLength(3);
  });

  test.each(samples)('affects only what was learned of its own episode: %d', async (broken) => {
    const { one, place } = damaged(1 + samples.length + broken);
    const { known, unreadable } = await read(one);
    expect(known).toEqual(samples.map((id) => [id, id === broken ? undefined : id]));
    expect(unreadable).toMatchObject({ count: 1, first: [place] });
  });

  test.each(samples)('of a rollout affects only this rollout: %d', async (broken) => {
    const { one, place } = damaged(1 + broken);
    const { known, unreadable } = await read(one);
    expect(known).toEqual(samples.filter((id) => id !== broken).map((id) => [id, id]));
    expect(unreadable.first).toEqual([place]);
  });

  test('is an error where every episode is needed', async () => {
    const { one, place } = damaged(1);
    const all = batchesOf(one, { file: 'train' }).next();
    const message = `The journal of the run is damaged: ${place}. Restore the file from a backup`;
    await expectRejection(all, 'DATASET_INVALID', message);
  });
});

const textOf = (sketch: Parameters<typeof evidenceOf>[0]): string[] => {
  const evidence = evidenceOf(sketch);
  const { length } = evidence.series.iterations;
  const recorded = { ...evidence, unreadable: new Unreadable() };
  return [headText(recorded, 'one'), findingsText(runChecks(evidence), 'runs/one', length)];
};

test('the findings of a healthy run say how many checks could not be measured', () => {
  const [, findings = ''] = textOf({});
  const unmeasured = findings.match(/^ {2}not measured/gm)?.length;
  expect(unmeasured).toBeGreaterThan(0);
  expect(findings).toContain(` from learning; ${unmeasured} more could not be measured\n`);
});

test('a run of one iteration is not split into quarters, and the text says how many a trend needs', () => {
  const [head, findings] = textOf({ iterations: 1 });
  expect(head).toMatch(/^Run one: 1 iteration; success [\d.]+ % at first, [\d.]+ % at last$/);
  expect(findings).toContain('. The run has 1 iteration so far; a trend needs 10');
});

test('a run without a summary gets no advice to evaluate', () => {
  const evidence = { ...evidenceOf({}), hasSummary: false };
  const found = runChecks(evidence).find(({ check }) => check === 'held-out');
  expect(found?.says).toBe('the run has no summary.json: it is still running, or it failed');
});
