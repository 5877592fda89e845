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

/** A MiniMind model: Qwen-style tool calls, thoughts opened or closed by the cue. */
@policy({
  name: 'minimind',
  description: 'A MiniMind model folder, the starter model included, generating in this process.',
  settings: languageModelPolicySettings,
})
export class MiniMindPolicy extends LanguageModelPolicy {
  constructor(
    @inject(LANGUAGE_MODEL) model: LanguageModel,
    @inject(GENERATOR) generator: Generator,
    @inject(SETTINGS) settings: LanguageModelPolicySettings,
    @inject(TOOL_CALL_FORMAT) format: ToolCallFormat,
  ) {
    super(model, generator, settings, format);
  }
}
