import { HuggingFacePolicy, MiniMindPolicy } from './hugging-face-policies.ts';
import { TransformersJsPolicy } from './transformers-js-policy.ts';

export { HuggingFacePolicy, MiniMindPolicy, TransformersJsPolicy };
export { LanguageModelPolicy, type LanguageModelPolicySettings } from './language-model-policy.ts';
export * from './tool-call-formats/index.ts';

/** Every policy that ships with the framework. */
export const builtinPolicies = [MiniMindPolicy, HuggingFacePolicy, TransformersJsPolicy].map(
  (plugin) => ({ plugin, source: 'built in' }),
);
