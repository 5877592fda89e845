import { adapterTargetNames } from '../../../core/services/linear-module.ts';
import { AgentRlError } from '../../../core/errors.ts';
import type { QuantizeOptions } from '../../../jobs/models/model-choice.ts';
import { command } from '../../command.ts';
import { countOrZero, listFlag, numberFlag, requiredFlag, textFlag } from '../../flags/flag.ts';
import { engineFlags, modelFlag, revisionFlag, adapterFlag } from '../../flags/model-flags.ts';

export const quantize = command({
  name: 'quantize',
  describe: 'Write a model with its linear layers in four bits, and an adapter to train on top',
  examples: [
    ['--model Qwen/Qwen3-0.6B --output qwen-4bit', 'With a new adapter of rank 8 beside it'],
    [
      '--model my-model --output my-model-4bit --lora-rank 0 --text sample.txt',
      'The model alone, compared with the original on a text',
    ],
  ],
  flags: {
    model: modelFlag,
    revision: revisionFlag,
    output: requiredFlag('New folder for the quantised model'),
    'block-size': numberFlag(
      'Weights that share a scale: a power of two, at least 16',
      { from: 16, whole: true },
      64,
    ),
    text: textFlag('UTF-8 text to compare both models on; random tokens without it'),
    'text-tokens': numberFlag('Most tokens of the text to use', { from: 2, whole: true }, 2048),
    'lora-rank': numberFlag('Rank of the adapter; 0 writes none', countOrZero, 8),
    'lora-alpha': numberFlag('Alpha of the adapter (16)', { from: 0, above: true }),
    'lora-targets': listFlag(
      `Layers with an adapter: ${adapterTargetNames.join(', ')}; all-linear by default`,
    ),
    seed: numberFlag('Seed of the weights that the adapter starts with', countOrZero, 42),
    ...engineFlags,
  },
  run: ({ loraRank, loraAlpha, loraTargets, ...flags }, { jobs, job }) => {
    const lora = adapterOf(loraRank, loraAlpha, loraTargets);
    return jobs.quantize({ ...flags, lora, ...job });
  },
});

/** The requested adapter. @throws AgentRlError `CONFIG_INVALID` when flags describe one and the rank is 0. */
function adapterOf(
  rank: number,
  alpha: number | undefined,
  targets: string[],
): QuantizeOptions['lora'] {
  if (rank > 0) {
    return { rank, alpha: alpha ?? 16, targets: targets.length === 0 ? ['all-linear'] : targets };
  }
  if (alpha === undefined && targets.length === 0) return undefined;
  throw new AgentRlError(
    'CONFIG_INVALID',
    '--lora-rank 0 writes no adapter, so --lora-alpha and --lora-targets would have no effect. Leave them out, or give a rank.',
  );
}

/** `agent-rl model export` is named after what it does; `export` itself is not a name to export. */
export const exportModel = command({
  name: 'export',
  describe:
    'Write a model for other programs: an ONNX folder that transformers.js generates from or that search embeds with, or a model that vLLM can be started from',
  examples: [
    ['--model runs/my-run --output my-model-onnx', 'The newest checkpoint of a run'],
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output my-model-onnx',
      'A model on the hub with an adapter added',
    ],
    [
      '--model model/starter --format untied --output served',
      'A model whose head is a tensor of its own, for vLLM on a CPU',
    ],
    [
      '--model all-MiniLM-L6-v2 --format embedder --output models/minilm',
      'An embedding model (BERT) for dense: {type: transformers}',
    ],
  ],
  flags: {
    model: requiredFlag(
      'Model folder, run folder or checkpoint, or a model on the Hugging Face hub as org/name',
    ),
    revision: revisionFlag,
    adapter: adapterFlag,
    output: requiredFlag('New folder: config.json, the tokenizer and the weights'),
    format: textFlag(
      'onnx: onnx/model.onnx in float32; embedder: the same of a BERT that makes vectors of texts; untied: safetensors, with a head beside the embedding',
      'onnx',
    ),
  },
  run: ({ adapter: adapters, output: onnx, ...flags }, { jobs, job }) =>
    jobs.exportModel({ ...flags, adapters, onnx, ...job }),
});
