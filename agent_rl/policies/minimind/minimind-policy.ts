import { injectFromBase } from 'inversify';

import { policy } from '../../core/plugins/policy.ts';
import { HuggingFacePolicy } from '../hugging-face/hugging-face-policy.ts';
import { languageModelPolicySettings } from '../language-model-policy.ts';

/** A MiniMind model: Qwen-style tool calls, thoughts opened or closed by the cue. */
@policy({
  name: 'minimind',
  description: 'A MiniMind model folder, the starter model included, generating in this process.',
  settings: languageModelPolicySettings,
})
@injectFromBase()
export class MiniMindPolicy extends HuggingFacePolicy {}
