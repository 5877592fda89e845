export * from './code-task-dataset.ts';
export * from './code-task-sampler.ts';
export * from './demonstrations.ts';
export * from './conversations.ts';
export * from './plain-task-dataset.ts';
export * from './task-sampler.ts';
