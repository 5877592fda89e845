export * from './hugging-face-policies.ts';
export { LanguageModelPolicy } from './language-model-policy.ts';
export * from './tool-call-formats/index.ts';
