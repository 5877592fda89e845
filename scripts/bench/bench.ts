import { writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';

import { openEngine } from '../../agent_rl/engine/open-engine.ts';
import { benchModel, tinyModel } from './bench-model.ts';
import { measureDecode } from './decode.ts';
import { withPeerPython } from './peer-python.ts';
import { measurePeers } from './peers.ts';
import { measureQwen3Shape, qwen3PeerModules, qwen3PeerPackages } from './qwen3-shape.ts';
import { qwen3Shape, tinyQwen3Shape } from './qwen3-shape/shape.ts';
import { taskKinds } from './qwen3-shape/tasks.ts';
import { measureProducts, stepProducts } from './matrix-products.ts';
import { type BenchReport, reportText } from './report.ts';
import { measureTrainStep } from './train-step.ts';

/*
 * Speed of one training step and of decoding, in one process and with one number of threads:
 * `npm run bench -- [--threads N] [--repeats N] [--json FILE] [--only train,products,decode] [--peers] [--tiny]`.
 * `--only qwen3` measures a model of Qwen3-0.6B's size, which takes half an hour with its peers and up to 12 GB;
 * `qwen3-lora-step`, `qwen3-prefill` and `qwen3-decode` are its parts.
 * `--python PYTHON` names the Python of the peers; where it lacks their modules, they are installed aside.
 */
const allParts = [
  'train',
  'products',
  'decode',
  'qwen3',
  ...taskKinds.map((kind) => `qwen3-${kind}`),
];
const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: String(availableParallelism()) },
    repeats: { type: 'string' },
    json: { type: 'string' },
    only: { type: 'string', default: 'train,products,decode' },
    peers: { type: 'boolean', default: false },
    python: { type: 'string', default: 'python3' },
    tiny: { type: 'boolean', default: false },
  },
});
const wholeNumber = (flag: 'threads' | 'repeats', text: string): number => {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new TypeError(`--${flag} ${text}: expected a whole number from 1.`);
};
const threads = wholeNumber('threads', values.threads);
const repeatsOr = (usual: string): number => wholeNumber('repeats', values.repeats ?? usual);
const repeats = repeatsOr('7');
const only = new Set(values.only.split(','));
for (const part of only) {
  if (allParts.includes(part)) continue;
  throw new TypeError(`--only ${part}: expected some of ${allParts.join(', ')}.`);
}
const config = values.tiny ? tinyModel : benchModel;
const size = values.tiny ? { sequences: 2, length: 16 } : { sequences: 8, length: 256 };
const note = (text: string): void => void process.stderr.write(`${text}\n`);

const loadBefore = loadavg()[0]!;
const engine = await openEngine({ device: 'cpu', threads });
const part = async <T>(name: string, measure: () => Promise<T>): Promise<T | undefined> => {
  if (!only.has(name)) return undefined;
  note(`Measuring: ${name}`);
  return measure();
};
// The step comes first: the peak of its memory is then its own.
const train = await part('train', () => measureTrainStep(engine, config, { ...size, repeats }));
const products = await part('products', () =>
  measureProducts(stepProducts(config, size), { threads, repeats }),
);
const decode = await part('decode', () =>
  measureDecode(engine, config, {
    batches: [1, 8, 16, 32, 64],
    promptTokens: values.tiny ? 8 : 64,
    newTokens: values.tiny ? 8 : 128,
    repeats: 3,
  }),
);
await engine.close();
const peers =
  values.peers && (train ?? products) !== undefined
    ? await measurePeers({ python: values.python, threads, repeats, config, size, note })
    : undefined;
const kinds = taskKinds.filter((kind) => only.has('qwen3') || only.has(`qwen3-${kind}`));
const measureQwen3 = (python?: string) =>
  measureQwen3Shape({
    shape: values.tiny ? tinyQwen3Shape : qwen3Shape,
    kinds,
    threads,
    repeats: repeatsOr('4'),
    note,
    ...(python !== undefined && { python }),
  });
const peerNeeds = { modules: qwen3PeerModules, packages: qwen3PeerPackages, note };
const measureBoth = () =>
  values.peers
    ? withPeerPython({ ...peerNeeds, python: values.python }, measureQwen3)
    : measureQwen3();
const qwen3 = kinds.length > 0 ? await measureBoth() : undefined;

const report: BenchReport = {
  machine: {
    processor: cpus()[0]?.model ?? 'unknown',
    processors: cpus().length,
    threads,
    node: process.version,
    loadBefore,
    loadAfter: loadavg()[0]!,
  },
  ...(train && { train }),
  ...(products && { products }),
  ...(decode && { decode }),
  ...(peers && { peers }),
  ...(qwen3 && { qwen3 }),
  peakRssBytes: process.resourceUsage().maxRSS * 1024,
};
process.stdout.write(reportText(report));
if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(report, null, 1)}\n`);
