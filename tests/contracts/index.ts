export * from './environment-contract.ts';
export * from './tool-contract.ts';
