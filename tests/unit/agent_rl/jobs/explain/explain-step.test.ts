import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { beforeAll, describe, expect, test } from '@jest/globals';

import { explain } from '#agent_rl/jobs/explain/explain-run.ts';
import { findingsText, headText } from '#agent_rl/jobs/explain/findings-text.ts';
import { zeroGradient } from '#agent_rl/jobs/explain/step/step-text.ts';
import { learnedRecord } from '#agent_rl/runs/episodes/learned-record.ts';
import { Unreadable } from '#agent_rl/runs/episodes/read-lines.ts';
import { episodeRecord } from '#agent_rl/runs/episodes/episode-record.ts';
import { batchesOf, type RecordedPart } from '#agent_rl/runs/query/parts.ts';
import { runFolderAt } from '#agent_rl/runs/run-folder.ts';
import { runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import type { LearnedPart } from '#agent_rl/trainer/learned-parts.ts';
import {
  episodeLine,
  learnedText,
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
  const linesOf = (records: readonly object[]) =>
    records.map((line) => `${JSON.stringify(line)}\n`).join('');
  writeBelow(run, 'trajectories/train.jsonl', linesOf([first, ...episodes].map(episodeRecord)));
  writeBelow(run, 'trajectories/learned.jsonl', linesOf(episodes.map(learnedRecord)));
  const metrics = [metricsOf(1, 0.2), metricsOf(2, 0.8), metricsOf(3, 0.4)];
  writeBelow(run, 'metrics.jsonl', linesOf(metrics));
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
    expect(text).toContain('is not recorded (trajectories/learned.jsonl)');
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

test('episodes and what was learned of them must belong together', async () => {
  const other = recordedFolder(folder, 'other');
  writeFileSync(other.metrics, '{"iteration": 1}\n');
  record(other, 'train', episodeLine(ofIteration1));
  record(other, 'learned', learnedText({ ...ofIteration1, slot: 7 }));
  const refused = explain({ run: other.path, print: () => undefined });
  await expectRejection(refused, 'DATASET_INVALID', 'have different rollouts in iteration 1.');
});

describe('An unreadable line', () => {
  const damaged = join(folder, 'damaged');
  const ids = [0, 1, 2].map((sample) => Object.assign({}, ofIteration1, { sample }));
  const learnedTexts = ids.map((id) => learnedText(id).trim());

  function write(learnedLines: readonly (string | undefined)[], lostEpisode?: number): void {
    writeBelow(damaged, 'config.yaml', 'train: {mode: rl}\n');
    writeBelow(damaged, 'metrics.jsonl', '{"iteration": 1}\n[]\n{"iteration": 3}\n');
    const episodes = ids.map((id) => episodeLine(id).trim());
    if (lostEpisode !== undefined) episodes[lostEpisode] = '{"iteration": 1, ';
    writeBelow(damaged, 'trajectories/train.jsonl', `${episodes.join('\n')}\n`);
    writeBelow(damaged, 'trajectories/learned.jsonl', `${learnedLines.join('\n')}\n`);
  }

  async function read(unreadable: Unreadable): Promise<RecordedPart[]> {
    const query = { file: 'train', hasLearned: true, unreadable } as const;
    for await (const parts of batchesOf(runFolderAt(damaged), query)) return parts;
    return [];
  }

  const places = [
    `${damaged}/metrics.jsonl:2: it holds no metrics`,
    `${damaged}/trajectories/learned.jsonl:2: it does not say how an episode ended`,
  ];

  test('is left out and named in learned.jsonl and metrics.jsonl; other lines are used', async () => {
    write([learnedTexts[0], '{"iteration": 1}', learnedTexts[2]]);
    const printed: string[] = [];
    const print = (text: string) => void printed.push(text);
    const whole = await explain({ run: damaged, print });
    const step = await explain({ run: damaged, step: 1, print });
    const unreadable = { count: 2, first: places };
    expect([whole, step]).toMatchObject([{ unreadable }, { unreadable }]);
    const note = `Left out: 2 unreadable lines of the run's records.\n  ${places.join('\n  ')}`;
    expect(printed.join('\n').split(note)).toHaveLength(3);
  });

  test('affects only its own episode, whichever it is', async () => {
    for (const broken of [0, 1, 2]) {
      // A last line that is cut short would be one that is still being written.
      write([...learnedTexts.with(broken, '{}'), learnedText({ ...ofIteration1, iteration: 2 })]);
      const unreadable = new Unreadable();
      const parts = await read(unreadable);
      expect(parts.map(({ learned: line }) => line?.sample)).toEqual(
        [0, 1, 2].map((sample) => (sample === broken ? undefined : sample)),
      );
      expect(unreadable.count).toBe(1);
    }
  });

  test.each([
    [0, [1, 2]],
    [1, [0, 2]],
  ])('affects only the learned record of its episode when it is line %d', async (broken, left) => {
    write(learnedTexts, broken);
    const unreadable = new Unreadable();
    const parts = await read(unreadable);
    const samples = parts.map(({ episode, learned: line }) => [episode.sample, line?.sample]);
    expect(samples).toEqual(left.map((sample) => [sample, sample]));
    const place = `trajectories/train.jsonl:${broken + 1}: `;
    expect(unreadable.first).toEqual([expect.stringContaining(place)]);
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
