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
import { measureShape, shapePeerNeeds } from './model-shape.ts';
import { qwen3Shape, smolLm2Shape, tinyShape } from './model-shape/shape.ts';
import { groupsOf, growthOf, taskKinds } from './model-shape/tasks.ts';
import { reportText } from './report.ts';
import { measureTrainStep } from './step/train-step.ts';

/*
 * Speed of one training step and of decoding, in one process and with one number of threads:
 * `npm run bench -- [--device cpu] [--threads N] [--repeats N] [--json FILE] [--only smollm2,train,decode] [--batches 1,8,16,32,64]
 * [--peers] [--tiny]`.
 * On another device than the CPU, the peers of the step are left out.
 * `smollm2` is a model of SmolLM2-135M's size, `--only qwen3` one of Qwen3-0.6B's, which takes hours with its peers and up to 12 GB;
 * `smollm2-lora-step`, `-lora-group`, `-prefill` and `-decode` are parts, and so for qwen3. `--repeats 0` times the first call, which
 * compiles. `--only growth` times a step while the group, the prompt, the turns and the model grow.
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
const repeats = wholeNumber('repeats', values.repeats ?? '7', 0);
const shapes = [
  ['smollm2', smolLm2Shape],
  ['qwen3', qwen3Shape],
] as const;
const parts = shapes.flatMap(([name]) => [name, ...taskKinds.map((kind) => `${name}-${kind}`)]);
const only = namesOf('only', values.only ?? 'smollm2,train,decode', [
  ...parts,
  'growth',
  'train',
  'decode',
]);
/** 25.8, 1.5, 134.5 and 596 M parameters. */
const small = { hiddenSize: 128, layers: 4, heads: 4, headDim: 32, intermediateSize: 352 };
const growing = [benchModel, { ...benchModel, ...small }, smolLm2Shape.config, qwen3Shape.config];
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
const chosen = shapes.flatMap(([name, shape]) =>
  groupsOf(tiny ? tinyShape : shape).filter(
    ({ task }) => only.has(name) || only.has(`${name}-${task.kind}`),
  ),
);
const groups = [...(only.has('growth') ? growthOf(growing) : []), ...chosen];
const measureGroups = async (peerPython?: string) =>
  measureShape({
    groups,
    device,
    threads,
    repeats: wholeNumber('repeats', values.repeats ?? '4', 0),
    python: peerPython,
  });
const shaped =
  groups.length === 0
    ? undefined
    : await (values.peers
        ? withPeerPython(python, shapePeerNeeds, measureGroups)
        : measureGroups());

const report = {
  machine: { ...machineAfter(), threads, device },
  train,
  decode,
  peers,
  shapes: shaped,
  peakRssBytes: peakRssBytes(),
};
process.stdout.write(reportText(report));
writeReport(values.json, report);
