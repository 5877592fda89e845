export * from './compare.ts';
export * from './judge.ts';
export * from './open-sandbox.ts';
