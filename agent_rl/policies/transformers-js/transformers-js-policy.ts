import { inject } from 'inversify';
import { Type } from 'typebox';

import { GENERATOR, type Generator } from '../../core/services/generator.ts';
import { policy } from '../../core/plugins/policy.ts';
import { TOOL_CALL_FORMAT, type ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import { SETTINGS } from '../../core/plugins/tool.ts';
import type { TransformersJsOptions } from '../../generation/transformers-js/open-transformers-js.ts';
import { openInThread } from '../../generation/transformers-js/threaded-generator.ts';
import { LANGUAGE_MODEL, type LanguageModel } from '../../../model/text/language-model.ts';
import {
  LanguageModelPolicy,
  type LanguageModelPolicySettings,
  languageModelPolicySettings,
} from '../language-model-policy.ts';

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
        description: 'Which of the ONNX files runs; fp32 is onnx/model.onnx.',
        default: 'fp32',
      },
    ),
  }),
  openGenerator: (settings, host) =>
    openInThread({ ...host, dtype: settings['dtype'] as TransformersJsOptions['dtype'] }),
})
export class TransformersJsPolicy extends LanguageModelPolicy {
  constructor(
    @inject(LANGUAGE_MODEL) model: LanguageModel,
    @inject(GENERATOR) generator: Generator,
    @inject(SETTINGS) settings: LanguageModelPolicySettings,
    @inject(TOOL_CALL_FORMAT) format: ToolCallFormat,
  ) {
    super(model, generator, settings, format);
  }
}
