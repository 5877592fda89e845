import { inject } from 'inversify';
import { Type } from 'typebox';

import { GENERATOR, type Generator } from '../../core/generator.ts';
import { policy } from '../../core/policy.ts';
import { SETTINGS } from '../../core/tool.ts';
import { LANGUAGE_MODEL, type LanguageModel } from '../../../model/language-model.ts';
import { LanguageModelPolicy, type LanguageModelPolicySettings } from '../language-model-policy.ts';

/** A MiniMind model: Qwen-style tool calls, thoughts opened or closed by the cue. */
@policy({
  name: 'minimind',
  description: 'A MiniMind model folder, the starter model included, generating in this process.',
  settings: Type.Object({
    thinking: Type.Boolean({
      description: 'Let the model think before it speaks.',
      default: false,
    }),
  }),
})
export class MiniMindPolicy extends LanguageModelPolicy {
  constructor(
    @inject(LANGUAGE_MODEL) model: LanguageModel,
    @inject(GENERATOR) generator: Generator,
    @inject(SETTINGS) settings: LanguageModelPolicySettings,
  ) {
    super(model, generator, settings);
  }
}
