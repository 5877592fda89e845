import {
  HuggingFacePolicy,
  MiniMindPolicy,
  TransformersJsPolicy,
} from './hugging-face-policies.ts';

export { HuggingFacePolicy, MiniMindPolicy, TransformersJsPolicy };
export { LanguageModelPolicy, type LanguageModelPolicySettings } from './language-model-policy.ts';
export * from './tool-call-formats/index.ts';

/** Every policy that ships with the framework. */
export const builtinPolicies = [MiniMindPolicy, HuggingFacePolicy, TransformersJsPolicy].map(
  (plugin) => ({ plugin, source: 'built in' }),
);
