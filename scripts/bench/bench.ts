import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { openEngine } from '../../agent_rl/engine/open-engine.ts';
import { benchModel, tinyModel } from './bench-model.ts';
import {
  namesOf,
  note,
  peakRssBytes,
  watchMachine,
  wholeNumber,
  wholeNumbers,
  writeReport,
} from './bench-run.ts';
import { measureDecode } from './step/decode.ts';
import { measurePeers, withPeerPython } from './peers.ts';
import { measureQwen3Shape, qwen3PeerNeeds } from './qwen3-shape.ts';
import { qwen3Shape, tinyQwen3Shape } from './qwen3-shape/shape.ts';
import { taskKinds } from './qwen3-shape/tasks.ts';
import { reportText } from './report.ts';
import { measureTrainStep } from './step/train-step.ts';

/*
 * Speed of one training step and of decoding, in one process and with one number of threads:
 * `npm run bench -- [--device cpu] [--threads N] [--repeats N] [--json FILE] [--only train,decode] [--batches 1,8,16,32,64]
 * [--peers] [--tiny]`.
 * On another device than the CPU, the peers of the step are left out.
 * `--only qwen3` measures a model of Qwen3-0.6B's size, which takes half an hour with its peers and up to 12 GB;
 * `qwen3-lora-step`, `qwen3-lora-group`, `qwen3-prefill` and `qwen3-decode` are its parts.
 * `--python PYTHON` names the Python of the peers; where it lacks their modules, they are installed in a temporary
 * environment.
 */
const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    threads: { type: 'string', default: String(availableParallelism()) },
    repeats: { type: 'string' },
    json: { type: 'string' },
    only: { type: 'string' },
    batches: { type: 'string', default: '1,8,16,32,64' },
    peers: { type: 'boolean', default: false },
    python: { type: 'string', default: 'python3' },
    tiny: { type: 'boolean', default: false },
  },
});
const { device, tiny, python } = values;
const threads = wholeNumber('threads', values.threads);
const repeats = wholeNumber('repeats', values.repeats ?? '7');
const kindNames = taskKinds.map((kind) => `qwen3-${kind}`);
const all = ['train', 'decode', 'qwen3', ...kindNames];
const only = namesOf('only', values.only ?? 'train,decode', all);
if (device !== 'cpu' && values.peers && only.has('train'))
  throw new TypeError(
    `--device ${device}: --peers measures the training step only on the CPU. Use --only decode, or --only qwen3-lora-step --peers.`,
  );
const batches = wholeNumbers('batches', values.batches);
const config = tiny ? tinyModel : benchModel;
const size = tiny ? { sequences: 2, length: 16 } : { sequences: 8, length: 256 };

const machineAfter = watchMachine();
const engine = await openEngine({ device, threads });
const part = async <T>(name: string, measure: () => Promise<T>): Promise<T | undefined> => {
  if (!only.has(name)) return undefined;
  note(`Measuring: ${name}`);
  return measure();
};
// The step comes first: the peak of its memory is then its own.
const train = await part('train', () => measureTrainStep(engine, config, { ...size, repeats }));
const decode = await part('decode', () =>
  measureDecode(engine, config, {
    batches,
    promptTokens: tiny ? 8 : 64,
    newTokens: tiny ? 8 : 128,
    repeats: 3,
  }),
);
await engine.close();
const peers =
  values.peers && train !== undefined
    ? await measurePeers(python, { threads, repeats, ...config, ...size })
    : undefined;
const kinds = taskKinds.filter((kind) => only.has('qwen3') || only.has(`qwen3-${kind}`));
const measureQwen3 = async (peerPython?: string) =>
  measureQwen3Shape({
    shape: tiny ? tinyQwen3Shape : qwen3Shape,
    kinds,
    device,
    threads,
    repeats: wholeNumber('repeats', values.repeats ?? '4'),
    python: peerPython,
  });
const qwen3 =
  kinds.length === 0
    ? undefined
    : await (values.peers ? withPeerPython(python, qwen3PeerNeeds, measureQwen3) : measureQwen3());

const report = {
  machine: { ...machineAfter(), threads, device },
  train,
  decode,
  peers,
  qwen3,
  peakRssBytes: peakRssBytes(),
};
process.stdout.write(reportText(report));
writeReport(values.json, report);
