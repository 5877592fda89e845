import { inject } from 'inversify';

import { GENERATOR, type Generator } from '../../core/services/generator.ts';
import { policy } from '../../core/plugins/policy.ts';
import { TOOL_CALL_FORMAT, type ToolCallFormat } from '../../core/plugins/tool-call-format.ts';
import { SETTINGS } from '../../core/plugins/tool.ts';
import { LANGUAGE_MODEL, type LanguageModel } from '../../../model/text/language-model.ts';
import {
  LanguageModelPolicy,
  type LanguageModelPolicySettings,
  languageModelPolicySettings,
} from '../language-model-policy.ts';

/** Any dense model this package's decoder runs, with the tokenizer and chat template of its own folder. */
@policy({
  name: 'huggingface',
  description:
    'A Hugging Face folder of a dense Qwen3, Qwen2.5 or Llama model with a chat template.',
  settings: languageModelPolicySettings,
})
export class HuggingFacePolicy extends LanguageModelPolicy {
  constructor(
    @inject(LANGUAGE_MODEL) model: LanguageModel,
    @inject(GENERATOR) generator: Generator,
    @inject(SETTINGS) settings: LanguageModelPolicySettings,
    @inject(TOOL_CALL_FORMAT) format: ToolCallFormat,
  ) {
    super(model, generator, settings, format);
  }
}
