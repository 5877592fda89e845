import { HuggingFacePolicy } from './hugging-face/hugging-face-policy.ts';
import { MiniMindPolicy } from './minimind/minimind-policy.ts';
import { TransformersJsPolicy } from './transformers-js/transformers-js-policy.ts';

export { HuggingFacePolicy } from './hugging-face/hugging-face-policy.ts';
export { LanguageModelPolicy, type LanguageModelPolicySettings } from './language-model-policy.ts';
export { MiniMindPolicy } from './minimind/minimind-policy.ts';
export * from './tool-call-formats/index.ts';
export { TransformersJsPolicy } from './transformers-js/transformers-js-policy.ts';

/** Every policy that ships with the framework. */
export const builtinPolicies = [MiniMindPolicy, HuggingFacePolicy, TransformersJsPolicy].map(
  (plugin) => ({
    plugin,
    source: 'built in',
  }),
);
