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
import { measureDecode } from '../step/decode.ts';
import { peerAnswer, type PeerNeeds, withPeerPython } from '../peers.ts';

/*
 * Tokens a second of one model, ours and llama.cpp's in float32 by turns, for several numbers of rows at once, all different:
 * `npm run bench:decode -- [--model model/starter] [--batches 1,4,16,64] [--threads 1] [--rounds 2] [--python PYTHON]
 * [--json FILE]`. Prompts of 64 tokens are computed before; 128 tokens are drawn for each row.
 */
const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'model/starter' },
    batches: { type: 'string', default: '1,4,16,64' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '2' },
    python: { type: 'string', default: 'python3' },
    json: { type: 'string' },
  },
});
const batches = wholeNumbers('batches', values.batches);
const threads = wholeNumber('threads', values.threads);
const rounds = wholeNumber('rounds', values.rounds);
const size = { promptTokens: 64, newTokens: 128 };
const model = path.resolve(values.model);

interface Rate {
  batch: number;
  tokensPerSecond: number;
}

const needs: PeerNeeds = {
  modules: ['xllamacpp', 'gguf', 'safetensors'],
  packages: ['xllamacpp>=2026.10', 'gguf>=0.19,<1', 'safetensors'],
};

const theirs = (python: string): Promise<{ version: string; rates: Rate[] }> =>
  inTemporaryFolder('agent-rl-gguf', async (folder) => {
    const order = { model, folder, threads, batches, port: 18_401, ...size };
    return peerAnswer(python, 'llama_cpp_decode.py', order) as { version: string; rates: Rate[] };
  });

async function ours(): Promise<Rate[]> {
  const engine = new OnnxEngine({ device: 'cpu', threads });
  try {
    const { config, parameters } = await openModel({ folder: model });
    // Without what was learned: it would draw the same for all rows, and compute what they share once.
    return await measureDecode(engine, config, {
      batches,
      repeats: 3,
      ...size,
      parameters: flat(parameters),
    });
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
const measured = await withPeerPython(values.python, needs, async (python) => {
  const all: { ours: Rate[]; theirs: Rate[]; version: string }[] = [];
  for (let round = 1; round <= rounds; round++) {
    note(`Round ${round} of ${rounds}`);
    const own = await ours();
    const { rates, version } = await theirs(python);
    all.push({ ours: own, theirs: rates, version });
  }
  return all;
});

const rows = batches.map((batch, place) => {
  const own = measured.map((round) => round.ours[place]!.tokensPerSecond);
  const other = measured.map((round) => round.theirs[place]!.tokensPerSecond);
  const ratios = own.map((rate, round) => rate / other[round]!);
  return [String(batch), spread(own, 0), spread(other, 0), spread(ratios, 2)];
});
const machine = machineAfter();
process.stdout.write(
  `${machineText(machine)}, ${threads} threads; ${values.model}; ${measured[0]!.version}\n\n` +
    `${table(['Rows', 'agent_rl, tokens/s', 'llama.cpp float32, tokens/s', 'agent_rl / llama.cpp'], rows)}\n`,
);
writeReport(values.json, { machine, threads, rounds: measured });
