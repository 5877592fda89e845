export * from './judge/compare-outputs.ts';
export * from './judge/compare-values.ts';
export * from './judge/judge-code-request.ts';
export * from './judge/judge.ts';
export * from './open-sandbox.ts';
