import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { describe, expect, test } from '@jest/globals';

import { packageRoot } from '#agent_rl/core/package-root.ts';
import type { JournalEvent } from '#agent_rl/core/services/journal.ts';
import { batchesOf, type RecordedPart } from '#agent_rl/runs/query/parts.ts';
import { recordedRun } from '#agent_rl/runs/query/recorded-run.ts';
import { isTrouble, runChecks } from '#agent_rl/runs/signs/run-checks.ts';
import { runEvidence } from '#agent_rl/runs/signs/run-evidence.ts';
import { runVerdict } from '#agent_rl/runs/signs/run-verdict.ts';
import { RunWatch } from '#agent_rl/runs/signs/run-watch.ts';
import { sickRuns } from '#scripts/sick-runs/sick-runs.ts';
import { writeEvents } from '#tests/support/journal.ts';
import { temporaryFolder, writeBelow } from '#tests/support/temporary-folder.ts';

/*
 * Runs that were trained for real and went wrong on purpose (scripts/make-sick-runs.ts): the first warning of each, while it
 * trains and afterwards, is what is wrong with it.
 */

const folder = temporaryFolder();
const prompt = 'in the prompt of the tasks';

interface Packed {
  files: Record<string, string>;
  events: JournalEvent[];
}

/** Puts the files of a packed run into a folder. */
function unpacked(name: string): string {
  const file = join(packageRoot(), 'tests', 'fixtures', 'sick-runs', `${name}.json.gz`);
  const { files, events } = JSON.parse(gunzipSync(readFileSync(file)).toString()) as Packed;
  for (const [path, text] of Object.entries(files)) writeBelow(folder, `${name}/${path}`, text);
  writeEvents(join(folder, name), events);
  return join(folder, name);
}

/** What a recorded run would have been told, after which iteration. */
async function toldWhileTraining(path: string): Promise<[number, string][]> {
  const run = recordedRun(path);
  const { settings, series, tools, trainedParameters = 0 } = await runEvidence(run, prompt);
  const watch = new RunWatch({ settings, tools, prompt, trainedParameters });
  const episodes: RecordedPart[] = [];
  for await (const parts of batchesOf(run.folder, { file: 'train' })) episodes.push(...parts);
  return series.iterations.flatMap(({ iteration, metrics }) => {
    const played = episodes.filter(({ episode }) => episode.iteration === iteration);
    const told = watch.note(iteration, metrics, played);
    return told === undefined ? [] : [[iteration, told.check] as [number, string]];
  });
}

const sick = sickRuns.filter(({ check }) => check !== '');

describe.each(sick.map((run) => [run.name, run] as const))('the sick run %s', (name, run) => {
  test('gets a warning of its cause first, while it trains', async () => {
    const [first] = await toldWhileTraining(unpacked(name));
    expect(first).toEqual([run.warnedAt, run.check]);
  });

  test('is explained by its cause first, and its last lines name it', async () => {
    const evidence = await runEvidence(recordedRun(unpacked(name)), prompt);
    const findings = runChecks(evidence);
    expect(findings.find(isTrouble)?.check).toBe(run.check);
    const { is, says } = runVerdict(evidence, findings);
    expect(is).toBe(run.verdict);
    expect(says).toContain(`[${run.check}]`);
  });
});

test('a healthy run of the same project gets no warning and no finding', async () => {
  const path = unpacked('healthy');
  expect(await toldWhileTraining(path)).toEqual([]);
  const evidence = await runEvidence(recordedRun(path), prompt);
  const findings = runChecks(evidence);
  expect(findings.filter(isTrouble)).toEqual([]);
  expect(runVerdict(evidence, findings).is).toBe('better');
});
