export { ConversionsEnvironment } from './conversions-environment.ts';
export { ConvertTool } from './convert-tool.ts';
export { extraCalls } from './extra-calls-reward.ts';
