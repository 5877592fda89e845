import { expect, test } from '@jest/globals';

import type { Span, TranscriptRecord } from '#agent_rl/core/transcript.ts';
import { showRun } from '#agent_rl/jobs/show/show-run.ts';
import { transcriptSections } from '#agent_rl/jobs/report/sections/transcripts.ts';
import { readReportedRun } from '#agent_rl/jobs/report/read/reported-run.ts';
import { learnedRecord } from '#agent_rl/runs/episodes/learned-record.ts';
import { learnedEvent } from '#agent_rl/runs/journal/learned-event.ts';
import { playedTurns } from '#agent_rl/runs/query/played-turns.ts';
import { ViewedRun } from '#agent_rl/runs/view/viewed-run.ts';
import { playBranching } from '#tests/support/branching-agent.ts';
import {
  episodeEvent,
  learnedPart,
  record,
  recordedFolder,
} from '#tests/support/recorded-folder.ts';
import { temporaryFolder } from '#tests/support/temporary-folder.ts';

const folder = recordedFolder(temporaryFolder(), 'run');
const played = await playBranching('a');
const sent = { update: 0, weights: 1, advantages: 1, logProbs: -0.5 };
const part = learnedPart({
  iteration: 1,
  advantage: 1,
  sent: played.sequences.map((_, at) => (at === 0 ? null : sent)),
  ...played,
});
const learned = learnedRecord(part);
record(folder, episodeEvent({ iteration: 1, reward: 1, ...played }), learnedEvent(part));

test('turns are a tree: branches behind what they continue, sub-agents and pruned histories apart', () => {
  const turns = playedTurns(played, learned);
  const branching = turns.find(({ turn }) => turns.some(({ after }) => after === turn));
  const branches = turns.filter(({ after }) => after !== null);
  const branch = { after: branching?.turn, indent: 1 };
  expect(branches).toMatchObject([branch, branch]);
  expect(turns.indexOf(branches[0]!)).toBe(turns.indexOf(branching!) + 1);
  expect(new Set(turns.map(({ turn }) => turn))).toEqual(new Set([0, 1, 2, 3, 4]));
  const shown = { turn: played.requests?.answer, after: null };
  expect(turns.filter(({ isShown }) => isShown)).toMatchObject([shown]);
  const drawn = turns.map(({ sequence, end, tokens }) =>
    played.sequences[sequence]!.logProbs.slice(end - tokens, end),
  );
  expect(drawn.flat().every((logProb) => logProb === -0.5)).toBe(true);
});

test('runs show prints the tree, what of it was trained, and what the client changed', async () => {
  const printed: string[] = [];
  const print = (text: string) => printed.push(text);
  await showRun({ run: folder.path, episode: 'train/1/0/0/0', print });
  const lines = printed.join('\n').split('\n');
  expect(lines).toContain(
    '  requests: 5 of 5 answers reached the agent; 0 sent again; 4 sequences; changed by the client: thoughts 1, history 1; without effect: temperature 5',
  );
  expect(lines.filter((line) => / turn \d/.test(line))).toEqual([
    '  turn 1: 7 tokens, sequence 1, not trained',
    '  turn 2: 25 tokens, sequence 3, trained',
    '    turn 4 after turn 2: 9 tokens, sequence 3, trained',
    '    turn 5 after turn 2: 9 tokens, sequence 4, trained',
    '  turn 3: 11 tokens, sequence 2, trained, in the messages',
  ]);
});

test('view has the tree, the sequence that its messages are of, and the same facts; a report says them too', async () => {
  const run = new ViewedRun('run', folder.path);
  await run.index.update();
  const whole = (await run.episode('train/1/0/0/0', false))!;
  expect(whole.turns).toEqual(playedTurns(played, learned));
  const answer = whole.turns.find(({ turn }) => turn === played.requests?.answer);
  expect(whole.shown).toBe(answer?.sequence);
  expect(whole.requests).toMatch(/^requests: 5 of 5 .*thoughts 1, history 1/);
  expect(whole.record.messages.at(-1)).toMatchObject({ content: 'the end' });
  const sections = transcriptSections([await readReportedRun(folder.path)]);
  expect(JSON.stringify(sections)).toContain('requests: 5 of 5 answers reached the agent;');
});

test('a turn that was sampled while weights changed is one, and records in a circle end', () => {
  const span = (start: number, more: Partial<Span>): Span =>
    Object.assign({ start, end: start + 1, source: 'sampled' as const }, more);
  const sequence = (...spans: Span[]): TranscriptRecord => ({
    tokens: spans.map(({ start }) => start),
    spans,
    logProbs: spans.map(() => -1),
  });
  const parts = sequence(span(0, { version: 1 }), span(1, { version: 2, turn: 0 }));
  const about = 'turn 1: 2 tokens, sequence 1, in the messages';
  expect(playedTurns({ sequences: [parts], requests: undefined, undelivered: 0 })).toMatchObject([
    { turn: 0, tokens: 2, end: 2, version: 2, isShown: true, about },
  ]);
  const circle = sequence(span(0, { turn: 0 }), span(1, { turn: 1 }), span(2, { turn: 0 }));
  expect(playedTurns({ sequences: [circle], requests: undefined, undelivered: 0 })).toHaveLength(3);
});
