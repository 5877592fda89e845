import { readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, test } from '@jest/globals';

import { KeyedRng } from '#agent_rl/core/keyed-rng.ts';
import {
  journalColumns,
  type JournalEvent,
  journalTypes,
} from '#agent_rl/core/services/journal.ts';
import { JournalWriter } from '#agent_rl/runs/journal/journal-writer.ts';
import type { NumberedEvent } from '#agent_rl/runs/journal/event-frame.ts';
import { readSegment, segmentsOf } from '#agent_rl/runs/journal/segments.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const parent = temporaryFolder();
let made = 0;

const damages: string[] = [];
const damaged = (problem: string) => damages.push(problem);
const open = (folder: string, segmentBytes?: number) =>
  JournalWriter.open({ folder, durable: 'process', damaged, segmentBytes });

/** An event with some of everything. */
function randomEvent(random: KeyedRng): JournalEvent {
  const some = <Value>(value: Value): Value | undefined =>
    random.uniform() < 0.5 ? value : undefined;
  const floats = () => Float32Array.from({ length: random.integer(5) }, () => random.normal());
  const columns = journalColumns.filter(() => random.uniform() < 0.3);
  const fields = {
    when: some('train' as const),
    iteration: some(random.integer(9)),
    round: some(0),
    slot: some(random.integer(9)),
    sample: some(random.integer(9)),
    attempt: some(random.integer(3)),
    agent: some('policy'),
    turn: some(random.integer(2 ** 31) * 2 ** 16),
    call: some(random.integer(4)),
    version: some(random.integer(9)),
    tokens: some(Int32Array.from({ length: random.integer(6) }, () => random.integer(150_000))),
    columns:
      columns.length === 0
        ? undefined
        : Object.fromEntries(columns.map((name) => [name, floats()])),
    data: some({ text: 'ünï "quoted"\n', nested: [{ value: random.integer(5) }, null] }),
  };
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  return { type: random.pick(journalTypes), ...Object.fromEntries(given) };
}

async function readAll(folder: string): Promise<NumberedEvent[]> {
  const all = await Promise.all(segmentsOf(folder).map((segment) => readSegment(segment, damaged)));
  return all.flat();
}

/** A closed journal, which is one sealed segment, and the events in it. */
async function written(count = 40) {
  const folder = join(parent, `journal-${++made}`);
  const random = new KeyedRng('events', made);
  const writer = await open(folder);
  const events = Array.from({ length: count }, () => randomEvent(random));
  for (const event of events) writer.write(event);
  return { folder, writer, events: events.map((event, seq) => Object.assign({ seq }, event)) };
}

describe('A journal', () => {
  test('gives events back as they were written, open and sealed', async () => {
    for (let round = 0; round < 10; round++) {
      const { folder, writer, events } = await written();
      expect(await readAll(folder)).toEqual(events);
      await writer.close();
      expect(readdirSync(folder).join()).toMatch(/^0000000000\.[\da-f]{8}\.parquet$/);
      expect(await readAll(folder)).toEqual(events);
    }
    expect(damages).toEqual([]);
  });

  test('goes on behind what it holds, in segments of a size', async () => {
    const { folder, writer, events } = await written(3);
    await writer.close();
    const again = await open(folder, 200);
    for (let i = 0; i < 20; i++) expect(again.write({ type: 'step', turn: i })).toBe(3 + i);
    await again.close();
    expect(segmentsOf(folder).length).toBeGreaterThan(4);
    const turns = (await readAll(folder)).slice(events.length).map(({ turn }) => turn);
    expect(turns).toEqual([...Array(20).keys()]);
  });

  test('seals what a killed session left open, without the event that is cut short', async () => {
    const { folder, events } = await written();
    const [segment] = segmentsOf(folder);
    truncateSync(segment!.file, readFileSync(segment!.file).length - 1);
    const writer = await open(folder);
    writer.write({ type: 'iteration', iteration: 1 });
    expect(await readAll(folder)).toEqual([
      ...events.slice(0, -1),
      { seq: events.length - 1, type: 'iteration', iteration: 1 },
    ]);
    await writer.close();
    expect(damages).toEqual([]);
  });

  test('hides secrets that are in the environment', async () => {
    process.env['JOURNAL_TEST_TOKEN'] = 'hush-hush-9137';
    const { folder, writer } = await written(0);
    delete process.env['JOURNAL_TEST_TOKEN'];
    writer.write({ type: 'call-ended', data: { content: 'it is hush-hush-9137' } });
    expect(JSON.stringify(await readAll(folder))).not.toContain('hush-hush');
    await writer.close();
  });
});

describe('A damaged journal', () => {
  test('loses the event with a flipped byte, and names it', async () => {
    const { folder, writer, events } = await written(12);
    const [segment] = segmentsOf(folder);
    const whole = readFileSync(segment!.file);
    for (let at = 0; at < whole.length; at += 7) {
      const bytes = Buffer.from(whole);
      bytes.writeUInt8(bytes.readUInt8(at) ^ 0x20, at);
      writeFileSync(segment!.file, bytes);
      damages.length = 0;
      const read = await readAll(folder);
      const isWhole = (event: NumberedEvent) =>
        expect(events.find(({ seq }) => seq === event.seq)).toEqual(event);
      for (const event of read) isWhole(event);
      expect(read.length).toBeLessThan(events.length);
      expect(damages.every((text) => text.startsWith(`${segment!.file}: the event at byte`))).toBe(
        true,
      );
    }
    await writer.close();
    damages.length = 0;
  });

  test('names a sealed segment with a flipped byte, whose name has its checksum', async () => {
    const { folder, writer } = await written();
    await writer.close();
    const { file } = segmentsOf(folder)[0]!;
    const bytes = readFileSync(file);
    bytes.writeUInt8(bytes.readUInt8(100) ^ 1, 100);
    writeFileSync(file, bytes);
    expect(await readAll(folder)).toEqual([]);
    expect(damages).toEqual([`${file}: its checksum does not match its name`]);
    damages.length = 0;
  });
});
