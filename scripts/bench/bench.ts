import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';

import { benchModel } from './bench-model.ts';
import { machineText, namesOf, watchMachine, wholeNumber, writeReport } from './bench-run.ts';
import { measureShape, shapePeerNeeds } from './model-shape.ts';
import { shapeMarkdown } from './model-shape/report.ts';
import { qwen3Shape, smolLm2Shape, tinyShape } from './model-shape/shape.ts';
import { groupsOf, growthOf, taskKinds } from './model-shape/tasks.ts';
import { withPeerPython } from './peers.ts';

/*
 * Speed of training steps, prompts and decoding with random weights at the sizes of published models:
 * `npm run bench -- [--only smollm2] [--peers] [--device cpu] [--threads N] [--repeats 4] [--json FILE] [--tiny]`.
 * `smollm2` is SmolLM2-135M's size; `qwen3` is Qwen3-0.6B's, which takes hours with its peers and up to 12 GB. Their parts are
 * `smollm2-lora-step`, `-lora-group`, `-prefill` and `-decode`. `growth` times a step while the group, the prompt, the turns and the
 * model grow. `--repeats 0` times the first call, which compiles.
 * `--python PYTHON` names the Python of the peers; where it lacks their modules, they are installed in a temporary environment.
 */
const { values } = parseArgs({
  options: {
    device: { type: 'string', default: 'cpu' },
    threads: { type: 'string', default: String(availableParallelism()) },
    repeats: { type: 'string', default: '4' },
    json: { type: 'string' },
    only: { type: 'string', default: 'smollm2' },
    peers: { type: 'boolean', default: false },
    python: { type: 'string', default: 'python3' },
    tiny: { type: 'boolean', default: false },
  },
});
const { device, tiny, python } = values;
const threads = wholeNumber('threads', values.threads);
const repeats = wholeNumber('repeats', values.repeats, 0);
const shapes = [
  ['smollm2', smolLm2Shape],
  ['qwen3', qwen3Shape],
] as const;
const parts = shapes.flatMap(([name]) => [name, ...taskKinds.map((kind) => `${name}-${kind}`)]);
const only = namesOf('only', values.only, [...parts, 'growth']);
const small = { hiddenSize: 128, layers: 4, heads: 4, headDim: 32, intermediateSize: 352 };
/** 25.8, 1.6, 134.5 and 596 M parameters. */
const growing = [benchModel, { ...benchModel, ...small }, smolLm2Shape.config, qwen3Shape.config];
const chosen = shapes.flatMap(([name, shape]) =>
  groupsOf(tiny ? tinyShape : shape).filter(
    ({ task }) => only.has(name) || only.has(`${name}-${task.kind}`),
  ),
);
const groups = [...chosen, ...(only.has('growth') ? growthOf(growing) : [])];
const measureGroups = async (peerPython?: string) =>
  measureShape({ groups, device, threads, repeats, python: peerPython });

const machineAfter = watchMachine();
const shaped = await (values.peers
  ? withPeerPython(python, shapePeerNeeds, measureGroups)
  : measureGroups());
const machine = machineAfter();
process.stdout.write(`${machineText(machine)}\n\n${shapeMarkdown(shaped)}\n`);
writeReport(values.json, { machine, ...shaped });
