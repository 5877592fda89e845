import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { type Member, onlyAgent } from '../../../agent_rl/core/rollout.ts';
import type { JournalEvent } from '../../../agent_rl/core/services/journal.ts';
import { JournalWriter } from '../../../agent_rl/runs/journal/journal-writer.ts';
import { learnedEvent } from '../../../agent_rl/runs/journal/learned-event.ts';
import { rolloutEvent } from '../../../agent_rl/runs/journal/rollout-event.ts';
import { journalSchema } from '../../../agent_rl/runs/journal/sessions.ts';
import { runFolderAt } from '../../../agent_rl/runs/run-folder.ts';

export interface WrittenRun {
  folder: string;
  /** Bytes of its journal. */
  bytes: number;
}

const episodesOfIteration = 200;
const groupSize = 8;
/** As many as the default job has on average. */
const [promptTokens, sampledTokens] = [170, 300];
const outcomes = ['completed', 'wrong-answer', 'truncated-tokens', 'invalid-calls'] as const;
const uses = ['trained', 'zero-advantage', 'masked'] as const;
const slices = ['unseen pairs', 'long', 'short'] as const;

/** Writes a run's folder with a number of training episodes, as long as the default job's; their texts are random. */
export async function writeRun(parent: string, episodes: number): Promise<WrittenRun> {
  const folder = runFolderAt(join(parent, `episodes-${episodes}`));
  mkdirSync(folder.path, { recursive: true });
  const iterations = Math.ceil(episodes / episodesOfIteration);
  writeFileSync(
    folder.config,
    `run:\n  seed: 1\ntrain:\n  mode: rl\n  iterations: ${iterations}\n`,
  );
  writeFileSync(folder.summary, '{"interrupted":false}\n');
  const journal = await JournalWriter.open({ folder: folder.journal, durable: 'process', damaged });
  journal.write({ type: 'session', data: { schema: journalSchema, from: -1, voids: false } });
  for (let begin = 0; begin < episodes; begin += episodesOfIteration) {
    const learned: JournalEvent[] = [];
    for (let at = begin; at < Math.min(episodes, begin + episodesOfIteration); at++)
      learned.push(play(at, journal));
    for (const event of learned) journal.write(event);
    const iteration = 1 + begin / episodesOfIteration;
    journal.write({ type: 'iteration', when: 'train', iteration });
    // What is full is sealed meanwhile.
    await setImmediate();
  }
  await journal.close();
  const files = readdirSync(folder.journal).map((name) => join(folder.journal, name));
  const bytes = files.reduce((sum, file) => sum + statSync(file).size, 0);
  return { folder: folder.path, bytes };
}

function damaged(problem: string): never {
  throw new Error(problem);
}

/** Writes what was drawn in an episode, and the episode. @returns what was learned of it */
function play(index: number, journal: JournalWriter): JournalEvent {
  const rng = new KeyedRng(1, 'episode', index);
  const numbers = Array.from({ length: sampledTokens }, () => -rng.uniform());
  const use = rng.pick(uses);
  const member = episodeOf(index, { rng, numbers });
  const { key } = member.rollout;
  const sequence = member.part.sequences[0]!;
  const drawn = {
    tokens: Int32Array.from(sequence.tokens.slice(promptTokens)),
    logProbs: Float32Array.from(numbers),
  };
  const { run: _, ...place } = key;
  const seq = journal.write({
    type: 'generation',
    ...place,
    attempt: 0,
    agent: onlyAgent,
    turn: 0,
    version: 0,
    tokens: drawn.tokens,
    columns: { logProbs: drawn.logProbs },
    data: { asked: String(index), stop: 'stop-token' },
  });
  journal.write(rolloutEvent(member.rollout, [{ seq, ...drawn }]));
  const logProbs = Float32Array.from(sequence.logProbs);
  const column = (value: number) =>
    Float32Array.from(sequence.tokens, (_token, at) => (at < promptTokens ? 0 : value));
  const tokens = Int32Array.from(sequence.tokens);
  const datum = { tokens, weights: column(0.001), advantages: column(0.5), oldLogProbs: logProbs };
  const sent =
    use === 'trained' ? { datum, update: 0, logProbs, lastLogProbs: logProbs } : undefined;
  return learnedEvent({ ...member, use, advantage: (member.part.reward ?? 0) - 0.5, sent: [sent] });
}

function episodeOf(
  index: number,
  { rng, numbers }: { rng: KeyedRng; numbers: readonly number[] },
): Member {
  const iteration = 1 + Math.floor(index / episodesOfIteration);
  const slot = Math.floor((index % episodesOfIteration) / groupSize);
  const outcome = rng.pick(outcomes);
  const said = numbers.slice(0, 60).map((number) => `w${Math.round(-1000 * number)}`);
  const content = said.slice(0, 30).join('\n');
  const call = {
    id: 'call_0_0',
    name: 'code_exec',
    arguments: { code: `print(${said.join(' + ')})` },
  };
  const reward = Math.round(10 * rng.uniform()) / 10;
  const part: Member['part'] = {
    agent: onlyAgent,
    policy: onlyAgent,
    learns: true,
    sequences: [
      {
        tokens: [...rng.integers(promptTokens + sampledTokens, 800)],
        spans: [
          { start: 0, end: promptTokens, source: 'user' },
          { start: promptTokens, end: promptTokens + sampledTokens, source: 'sampled', version: 0 },
        ],
        logProbs: [...Array.from({ length: promptTokens }, () => 0), ...numbers],
      },
    ],
    messages: [
      { role: 'user', content: `What is the sum of ${said.slice(0, 20).join(', ')}?` },
      { role: 'assistant', content: '', reasoning: said.join(' '), toolCalls: [call] },
      { role: 'tool', name: 'code_exec', callId: call.id, content },
      { role: 'assistant', content: `It is ${said[0]}.` },
    ],
    calls: [{ call, status: 'ok', result: { content }, wallMs: 12 }],
    turns: 2,
    malformedCalls: 0,
    outcome,
    success: outcome === 'completed',
    reward,
    components: { success: reward },
    scores: { environment: reward },
    unpaid: undefined,
    metrics: {},
    answer: undefined,
    record: undefined,
    seconds: { generation: 1, tools: 0.1, grading: 0.1 },
    hiddenInputs: {},
    retries: [],
    cutTokens: 0,
    undelivered: 0,
    requests: undefined,
    groupReward: undefined,
    unjudged: undefined,
  };
  const sample = index % groupSize;
  const rollout: Member['rollout'] = {
    key: { run: 'bench', when: 'train', iteration, round: 0, slot, sample },
    taskId: `task-${iteration}-${slot}`,
    slice: rng.pick(slices),
    step: iteration - 1,
    seed: 1,
    parts: [part],
    outcome,
    failure: undefined,
    problem: undefined,
    judgedBy: undefined,
    sandboxLevel: undefined,
    failedAttempts: [],
  };
  return { rollout, part };
}
