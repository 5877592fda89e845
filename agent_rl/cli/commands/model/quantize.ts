import { adapterTargetNames } from '../../../core/services/linear-module.ts';
import { AgentRlError } from '../../../core/errors.ts';
import type { QuantizeOptions } from '../../../jobs/models/model-choice.ts';
import { command } from '../../command.ts';
import { countOrZero, listFlag, numberFlag, requiredFlag, textFlag } from '../../flags/flag.ts';
import { engineFlags, modelFlag, revisionFlag, adapterFlag } from '../../flags/model-flags.ts';

export const quantize = command({
  name: 'quantize',
  describe: 'Quantize the linear layers of a model to four bits, and add an adapter to train',
  examples: [
    [
      '--model Qwen/Qwen3-0.6B --output qwen-4bit',
      'Quantize a model and add a new adapter of rank 8',
    ],
    [
      '--model my-model --output my-model-4bit --lora-rank 0 --text sample.txt',
      'Quantize only, and compare with the original on a text',
    ],
  ],
  flags: {
    model: modelFlag,
    revision: revisionFlag,
    output: requiredFlag('New folder for the quantised model'),
    'block-size': numberFlag(
      'Number of weights that share a scale: a power of two, at least 16',
      { from: 16, whole: true },
      64,
    ),
    text: textFlag('UTF-8 text to compare both models on (default: random tokens)'),
    'text-tokens': numberFlag('Maximum tokens of the text to use', { from: 2, whole: true }, 2048),
    'lora-rank': numberFlag('Rank of the adapter; 0 writes no adapter', countOrZero, 8),
    'lora-alpha': numberFlag('Alpha of the adapter (default: 16)', { from: 0, above: true }),
    'lora-targets': listFlag(
      `Layers with an adapter: ${adapterTargetNames.join(', ')} (default: all-linear)`,
    ),
    seed: numberFlag("Seed of the adapter's initial weights", countOrZero, 42),
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
    '--lora-alpha and --lora-targets have no effect with --lora-rank 0, which writes no adapter. Remove them, or give a rank above 0.',
  );
}

/** `agent-rl model export` is named after what it does; `export` itself is not a name to export. */
export const exportModel = command({
  name: 'export',
  describe:
    'Export a model for other programs: as ONNX for transformers.js, or as safetensors for vLLM',
  examples: [
    ['--model runs/my-run --output my-model-onnx', 'Export the newest checkpoint of a run'],
    [
      '--model Qwen/Qwen3-0.6B --adapter runs/lora/checkpoints/step-40 --output my-model-onnx',
      'Merge an adapter into a model from the hub and export it',
    ],
    [
      '--model model/starter --format untied --output served',
      'Store the output head as its own tensor, for vLLM on a CPU',
    ],
    [
      '--model all-MiniLM-L6-v2 --format embedder --output models/minilm',
      'Export an embedding model (BERT) for a search index with dense: {type: transformers}',
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
      'onnx: onnx/model.onnx in float32; embedder: ONNX of a BERT that embeds texts; untied: safetensors with an output head separate from the embedding',
      'onnx',
    ),
  },
  run: ({ adapter: adapters, output: onnx, ...flags }, { jobs, job }) =>
    jobs.exportModel({ ...flags, adapters, onnx, ...job }),
});
