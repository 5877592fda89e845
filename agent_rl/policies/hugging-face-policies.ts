import { Type } from '../core/typebox.ts';
import { policy } from '../core/plugins/policy.ts';
import type { TransformersJsOptions } from '../generation/transformers-js/open-transformers-js.ts';
import { openInThread } from '../generation/transformers-js/threaded-generator.ts';
import { LanguageModelPolicy, languageModelPolicySettings } from './language-model-policy.ts';

/** Any dense model this package's decoder runs, with the tokenizer and chat template of its own folder. */
@policy({
  name: 'huggingface',
  description:
    'A Hugging Face folder of a dense Qwen3, Qwen2.5 or Llama model with a chat template.',
  settings: languageModelPolicySettings,
  needs: ['format'],
})
export class HuggingFacePolicy extends LanguageModelPolicy {}

/** A MiniMind model: Qwen-style tool calls, thoughts opened or closed by the cue. */
@policy({
  name: 'minimind',
  description: 'A MiniMind model folder, such as the starter model; generates in this process.',
  settings: languageModelPolicySettings,
  needs: ['format'],
})
export class MiniMindPolicy extends HuggingFacePolicy {}

/** An ONNX model that transformers.js runs: a baseline to compare with, which cannot be trained. */
@policy({
  name: 'transformers-js',
  description:
    'An ONNX model folder, run by @huggingface/transformers: for evaluation and chat, not for training.',
  settings: Type.Object({
    ...languageModelPolicySettings.properties,
    dtype: Type.Union(
      (['fp32', 'fp16', 'q8', 'q4', 'q4f16'] as const).map((name) => Type.Literal(name)),
      {
        description: 'Precision of the ONNX file to run; fp32 is onnx/model.onnx.',
        default: 'fp32',
      },
    ),
  }),
  needs: ['format'],
  openGenerator: (settings, { modelFolder, device, threads, maxContextTokens }) =>
    openInThread({
      modelFolder,
      device,
      threads,
      maxContextTokens,
      dtype: settings['dtype'] as TransformersJsOptions['dtype'],
    }),
})
export class TransformersJsPolicy extends LanguageModelPolicy {}

/** Every policy that ships with the framework. */
export const builtinPolicies = [MiniMindPolicy, HuggingFacePolicy, TransformersJsPolicy];
