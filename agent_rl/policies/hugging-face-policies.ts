import { injectFromBase } from 'inversify';

import { policy } from '../core/plugins/policy.ts';
import { LanguageModelPolicy, languageModelPolicySettings } from './language-model-policy.ts';

/** Any dense model this package's decoder runs, with the tokenizer and chat template of its own folder. */
@policy({
  name: 'huggingface',
  description:
    'A Hugging Face folder of a dense Qwen3, Qwen2.5 or Llama model with a chat template.',
  settings: languageModelPolicySettings,
})
@injectFromBase()
export class HuggingFacePolicy extends LanguageModelPolicy {}

/** A MiniMind model: Qwen-style tool calls, thoughts opened or closed by the cue. */
@policy({
  name: 'minimind',
  description: 'A MiniMind model folder, the starter model included, generating in this process.',
  settings: languageModelPolicySettings,
})
@injectFromBase()
export class MiniMindPolicy extends HuggingFacePolicy {}
