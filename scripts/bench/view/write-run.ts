import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';

import { KeyedRng } from '../../../agent_rl/core/keyed-rng.ts';
import { batchSchema } from '../../../agent_rl/core/services/batch.ts';

export interface WrittenRun {
  folder: string;
  /** Bytes of all records. */
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
  const folder = join(parent, `episodes-${episodes}`);
  const trajectories = join(folder, 'trajectories');
  mkdirSync(trajectories, { recursive: true });
  const iterations = Math.ceil(episodes / episodesOfIteration);
  writeFileSync(
    join(folder, 'config.yaml'),
    `run:\n  seed: 1\ntrain:\n  mode: rl\n  iterations: ${iterations}\n`,
  );
  writeFileSync(join(folder, 'summary.json'), '{"interrupted":false}\n');
  const names = ['train', 'learned'] as const;
  const files = names.map((name) => createWriteStream(join(trajectories, `${name}.jsonl`)));
  let bytes = 0;
  for (let index = 0; index < episodes; index++) {
    const texts = linesOf(index).map((line) => `${JSON.stringify(line)}\n`);
    for (const [at, text] of texts.entries()) {
      bytes += Buffer.byteLength(text);
      const file = files[at]!;
      if (!file.write(text)) await once(file, 'drain');
    }
  }
  for (const file of files) {
    file.end();
    await once(file, 'close');
  }
  return { folder, bytes };
}

function linesOf(index: number): [episode: object, learned: object] {
  const rng = new KeyedRng(1, 'episode', index);
  const numbers = Array.from({ length: sampledTokens }, () => -rng.uniform());
  const iteration = 1 + Math.floor(index / episodesOfIteration);
  const slot = Math.floor((index % episodesOfIteration) / groupSize);
  const taskId = `task-${iteration}-${slot}`;
  const sample = index % groupSize;
  const use = rng.pick(uses);
  const outcome = rng.pick(outcomes);
  const said = numbers.slice(0, 60).map((number) => `w${Math.round(-1000 * number)}`);
  const call = {
    id: 'call_0_0',
    name: 'code_exec',
    arguments: { code: `print(${said.join(' + ')})` },
  };
  const reward = Math.round(10 * rng.uniform()) / 10;
  const key = { run: 'bench', when: 'train', iteration, round: 0, slot, sample };
  const head = { ...key, agent: 'policy', taskId };
  const spans = [
    { start: 0, end: promptTokens, source: 'user' },
    { start: promptTokens, end: promptTokens + sampledTokens, source: 'sampled', version: 0 },
  ];
  const sequence = {
    tokens: [...rng.integers(promptTokens + sampledTokens, 800)],
    spans,
    logProbs: [...Array.from({ length: promptTokens }, () => 0), ...numbers],
  };
  const episode = {
    ...head,
    schema: batchSchema,
    policy: 'policy',
    learns: true,
    step: iteration - 1,
    slice: rng.pick(slices),
    seed: 1,
    messages: [
      { role: 'user', content: `What is the sum of ${said.slice(0, 20).join(', ')}?` },
      { role: 'assistant', content: '', reasoning: said.join(' '), toolCalls: [call] },
      { role: 'tool', name: 'code_exec', callId: call.id, content: said.slice(0, 30).join('\n') },
      { role: 'assistant', content: `It is ${said[0]}.` },
    ],
    sequences: [sequence],
    toolCalls: [{ ...call, status: 'ok', content: said.slice(0, 30).join('\n'), wallMs: 12 }],
    turns: 2,
    malformedCalls: 0,
    outcome,
    success: outcome === 'completed',
    reward,
    components: { success: reward },
    scores: { environment: reward },
    metrics: {},
    seconds: { generation: 1, tools: 0.1, grading: 0.1 },
    problem: null,
    failedAttempts: [],
    retries: [],
    cutTokens: 0,
  };
  const sent = { update: 0, weights: 0.001, advantages: 0.5, logProbs: numbers };
  const learned = {
    ...head,
    use,
    advantage: reward - 0.5,
    sent: [use === 'trained' ? sent : null],
  };
  return [episode, learned];
}
