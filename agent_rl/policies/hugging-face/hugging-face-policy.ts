import { inject } from 'inversify';
import { Type } from 'typebox';

import { GENERATOR, type Generator } from '../../core/generator.ts';
import { policy } from '../../core/policy.ts';
import { SETTINGS } from '../../core/tool.ts';
import { LANGUAGE_MODEL, type LanguageModel } from '../../../model/language-model.ts';
import { LanguageModelPolicy, type LanguageModelPolicySettings } from '../language-model-policy.ts';

/** Any dense model this package's decoder runs, with the tokenizer and chat template of its own folder. */
@policy({
  name: 'huggingface',
  description:
    'A Hugging Face folder of a dense Qwen3, Qwen2.5 or Llama model with a chat template.',
  settings: Type.Object({
    thinking: Type.Boolean({
      description: 'Let the model think before it speaks.',
      default: false,
    }),
  }),
})
export class HuggingFacePolicy extends LanguageModelPolicy {
  constructor(
    @inject(LANGUAGE_MODEL) model: LanguageModel,
    @inject(GENERATOR) generator: Generator,
    @inject(SETTINGS) settings: LanguageModelPolicySettings,
  ) {
    super(model, generator, settings);
  }
}
