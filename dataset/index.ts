export * from './code-task-dataset.ts';
export * from './code-task-sampler.ts';
export * from './mixed-sampler.ts';
export * from './search-task-dataset.ts';
export * from './task-sampler.ts';
