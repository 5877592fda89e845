import { existsSync, readdirSync, readFileSync, truncateSync } from 'node:fs';
import { join } from 'node:path';

import { expect, test } from '@jest/globals';

import type { ReportedEvent, TrackedRun } from '#agent_rl/core/run-event.ts';
import {
  readEvent,
  scalarsEvent,
  textEvent,
  versionEvent,
} from '#agent_rl/trackers/tensorboard/events.ts';
import { crc32c, record, wholeRecords } from '#agent_rl/trackers/tensorboard/records.ts';
import { TensorBoardTracker } from '#agent_rl/trackers/tensorboard/tensorboard-tracker.ts';
import { describeTrackerContract } from '#tests/contracts/index.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';
import { startedIn } from '#tests/support/tracked-facts.ts';

const folder = temporaryFolder();

/** Every scalar of a run's event files, files by name, as `step tag`. */
function scalars(run: string): string[] {
  const own = join(run, 'tensorboard');
  const files = readdirSync(own).toSorted();
  return files.flatMap((file) =>
    wholeRecords(readFileSync(join(own, file)))
      .map(({ payload }) => readEvent(payload))
      .flatMap(({ step, tags }) => tags.map((tag) => `${step} ${tag}`)),
  );
}

describeTrackerContract('tensorboard', {
  plugin: TensorBoardTracker,
  create: () => new TensorBoardTracker(),
  recorded: (run) =>
    scalars(run)
      .filter((scalar) => scalar.endsWith(' rollout/rewardMean'))
      .map((scalar) => Number(scalar.split(' ')[0])),
});

// RFC 3720, B.4: 32 bytes of zeros, of ones, and 0 to 31; and the check value of every table of CRCs.
test.each([
  [Buffer.alloc(32), 0x8a9136aa],
  [Buffer.alloc(32, 0xff), 0x62a8ab43],
  [Buffer.from(Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e],
  [Buffer.from('123456789'), 0xe3069283],
])('the checksum of %p matches the standard', (bytes, expected) => {
  expect(crc32c(bytes)).toBe(expected);
});

// By tensorboard 2.21.0: RecordWriter over Event(wall_time=1.5, step=300, …).SerializeToString().
const place = { time: 1500, step: 300 };
test.each([
  [
    'the version of a file',
    versionEvent(place),
    '1b000000000000001a0d9e1309000000000000f83f10ac021a0d627261696e2e4576656e743a320a8dc5e4',
  ],
  [
    'numbers, one of them none',
    scalarsEvent(place, Object.entries({ 'a/b': 0.1, c: NaN })),
    '2400000000000000422b804d09000000000000f83f10ac022a160a0a0a03612f6215cdcccc3d0a080a0163150000c07fb5aa411a',
  ],
  [
    'a text',
    textEvent(place, 'config', '    seed: 1'),
    '39000000000000008b0737f109000000000000f83f10ac022a2b0a290a06636f6e66696742150807120412020801420b20202020736565643a20314a080a060a04746578745750cfc9',
  ],
])("%s matches TensorBoard's own bytes", (_, event, expected) => {
  expect(record(event).toString('hex')).toBe(expected);
});

test('a torn or damaged record ends the readable part', () => {
  const one = record(versionEvent(place));
  expect(wholeRecords(Buffer.concat([one, one]))).toHaveLength(2);
  expect(wholeRecords(Buffer.concat([one, one.subarray(0, -1)]))).toHaveLength(1);
  const damaged = Buffer.from(one);
  damaged[20] = 0;
  expect(wholeRecords(Buffer.concat([one, damaged, one]))).toHaveLength(1);
});

const run = (name: string, resume: Partial<TrackedRun> = {}) => startedIn(folder, name, resume);

async function told(facts: readonly ReportedEvent[]): Promise<void> {
  const tracker = new TensorBoardTracker();
  for (const fact of facts) await tracker.track({ ...fact, time: 1e12 });
  await tracker.close();
}

const evaluated = (when: 'before' | 'during' | 'after', iteration: number, more = {}) =>
  ({ type: 'evaluation', when, iteration, metrics: { 'eval/tasks': 4, ...more } }) as const;
const iterated = (iteration: number, more = {}) =>
  ({ type: 'iteration', iteration, metrics: { 'train/loss': 1, ...more } }) as const;

/** What is in the files of a run. */
const read = (name: string): string => scalars(join(folder, name)).join();

test('an evaluation whose numbers repeat with their iteration is written once', async () => {
  const again = iterated(2, { 'eval/tasks': 4, 'eval/difference': 0 });
  await told([run('once'), evaluated('before', 0), iterated(1), evaluated('during', 2), again]);
  expect(read('once')).toBe(
    '0 eval/tasks,1 train/loss,2 eval/tasks,2 train/loss,2 eval/difference',
  );
});

test('a resume removes everything that it repeats, the evaluation after training included', async () => {
  const first = [run('again'), evaluated('before', 0), iterated(1), iterated(2, { void: 1 })];
  await told([...first, evaluated('after', 2, { void: 1 })]);
  await told([run('again', { resumed: true, from: 1 }), iterated(2), evaluated('after', 2)]);
  const before = '0 eval/tasks,1 train/loss,2 train/loss,2 eval/tasks';
  expect(read('again')).toBe(before);
  await told([run('again', { resumed: true, from: 2 }), evaluated('after', 2, { more: 1 })]);
  expect(read('again')).toBe(`${before},2 more`);
});

test('a file torn by a killed process is repaired', async () => {
  await told([run('torn'), evaluated('before', 0), iterated(1), iterated(2)]);
  const own = join(folder, 'torn', 'tensorboard');
  const [first = ''] = readdirSync(own);
  truncateSync(join(own, first), readFileSync(join(own, first)).length - 3);
  await told([run('torn', { resumed: true, from: 2 }), iterated(3)]);
  expect(read('torn')).toBe('0 eval/tasks,1 train/loss,3 train/loss');
});

test('an event without a start writes nothing and fails', async () => {
  const tracker = new TensorBoardTracker();
  await expect(tracker.track({ ...iterated(1), time: 0 })).rejects.toThrow('could not be opened');
  await tracker.close();
  expect(existsSync('tensorboard')).toBe(false);
});
