import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { OnnxEngine } from '../../../agent_rl/engine/onnx-engine.ts';
import { openModel } from '../../../model/weights/open-model.ts';
import { table } from '../../docs/markdown.ts';
import { inTemporaryFolder } from '../../temporary-folder.ts';
import {
  machineText,
  note,
  spread,
  watchMachine,
  wholeNumber,
  wholeNumbers,
  writeReport,
} from '../bench-run.ts';
import type { Packed } from '../../../agent_rl/generation/programs/decoder-programs.ts';
import { measureDecode } from '../step/decode.ts';
import { measureTurns, type Turns } from '../step/turns.ts';
import { peerAnswer, type PeerNeeds, withPeerPython } from '../peers.ts';
import { jobNamed, requireModel } from './peer-job.ts';
import { promptsOfTasks } from './prompts-of-tasks.ts';

/*
 * Tokens a second of one model in float32, ours and llama.cpp's alternately, for several batch sizes with rows that all differ:
 * `npm run bench:decode -- [--job smollm2] [--model FOLDER] [--batches 1,8,32] [--threads 2] [--rounds 2] [--python PYTHON]
 * [--json FILE]`. Prompts of 64 tokens are computed before; 128 tokens are drawn for each row.
 *
 * Ours twice: as while the job trains, where a whole model is given to each run and what is under an adapter is held by the program of
 * steps; and with all weights held, as in `chat` and `serve`.
 *
 * And then, with the model as it is, first turns of the job's tasks, one after another, prompts included.
 */
const { values } = parseArgs({
  options: {
    job: { type: 'string', default: 'smollm2' },
    model: { type: 'string' },
    batches: { type: 'string', default: '1,8,32' },
    threads: { type: 'string', default: '2' },
    rounds: { type: 'string', default: '2' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const batches = wholeNumbers('batches', values.batches);
const threads = wholeNumber('threads', values.threads);
const rounds = wholeNumber('rounds', values.rounds);
const size = { promptTokens: 64, newTokens: 128 };
const job = jobNamed(values.job);
const model = path.resolve(values.model ?? job.model);
requireModel({ ...job, model });

interface Rate {
  batch: number;
  tokensPerSecond: number;
}

interface Rates {
  rates: Rate[];
  /** Tokens a second in turns. */
  turns: number;
}

interface PeerRates extends Rates {
  version: string;
}

const needs: PeerNeeds = {
  modules: ['xllamacpp', 'gguf', 'safetensors'],
  packages: ['xllamacpp>=2026.10', 'gguf>=0.19,<1', 'safetensors'],
};

const theirs = (python: string, turns: Turns): Promise<PeerRates> =>
  inTemporaryFolder('agent-rl-gguf', async (folder) => {
    const order = { model, folder, threads, batches, turns, port: 18_401, ...size };
    return peerAnswer(python, 'llama_cpp_decode.py', order) as PeerRates;
  });

async function ours(turns: Turns, packs?: Packed): Promise<Rates> {
  const engine = new OnnxEngine({ device: 'cpu', threads });
  try {
    const newAdapter = packs === 'all' ? undefined : job.newAdapter;
    const opened = await openModel({ folder: model, newAdapter });
    // Without what was learned: it would draw the same for all rows, and compute what they share once.
    const parameters = flat(opened.parameters);
    const rates = await measureDecode(engine, opened.config, {
      batches,
      repeats: 3,
      ...size,
      parameters,
      packs,
    });
    return { rates, turns: await measureTurns(engine, opened, { ...turns, packs }) };
  } finally {
    await engine.close();
  }
}

/** So small that all tokens are about as likely. */
const flat = (parameters: ReadonlyMap<string, Float32Array | Uint8Array>) =>
  new Map(
    [...parameters].map(([name, data]) => [
      name,
      name.includes('embed') ? new Float32Array(data).map((value) => 0.01 * value) : data,
    ]),
  );

const machineAfter = watchMachine();
note('Prompts of the tasks');
const { eos_token_id: stopToken } = JSON.parse(
  readFileSync(path.join(model, 'config.json'), 'utf8'),
) as { eos_token_id: number };
const turns: Turns = {
  prompts: await promptsOfTasks({ ...job, model }, 2),
  maxTokens: 128,
  stopToken,
};
const measured = await withPeerPython(values.python, needs, async (python) => {
  const all: { ours: Rates; packed: Rates; theirs: PeerRates }[] = [];
  for (let round = 1; round <= rounds; round++) {
    note(`Round ${round} of ${rounds}`);
    const given = await ours(turns, job.newAdapter && 'under the adapter');
    const packed = await ours(turns, 'all');
    all.push({ ours: given, packed, theirs: await theirs(python, turns) });
  }
  return all;
});

/** What was measured of all in each round, and the ratios. */
function rowOf(name: string, of: (side: Rates) => number): string[] {
  const sides = measured.map((round) => [of(round.ours), of(round.packed), of(round.theirs)]);
  const over = (value: (round: number[]) => number, digits: number) =>
    spread(sides.map(value), digits);
  return [
    name,
    ...[0, 1, 2].map((side) => over((round) => round[side]!, 0)),
    ...[0, 1].map((side) => over((round) => round[side]! / round[2]!, 2)),
  ];
}
const machine = machineAfter();
const print = (first: string, rows: string[][]): void => {
  const names = [
    first,
    'while training, tokens/s',
    'packed, tokens/s',
    'llama.cpp float32, tokens/s',
    'training / llama.cpp',
    'packed / llama.cpp',
  ];
  process.stdout.write(`${table(names, rows)}\n`);
};
const { version } = measured[0]!.theirs;
process.stdout.write(
  `${machineText(machine)}, ${threads} threads; ${path.relative('.', model)}; ${version}\n\n`,
);
print(
  'Rows',
  batches.map((batch, place) => rowOf(String(batch), ({ rates }) => rates[place]!.tokensPerSecond)),
);
process.stdout.write('\n');
print('Model as it is', [rowOf('turns one by one', ({ turns: rate }) => rate)]);
writeReport(values.json, { machine, threads, rounds: measured });
