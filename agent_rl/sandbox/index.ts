export * from './compare-outputs.ts';
export * from './compare-values.ts';
export * from './judge-code-request.ts';
export * from './judge.ts';
export * from './open-sandbox.ts';
