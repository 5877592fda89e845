export * from './advantage-contract.ts';
export * from './environment-contract.ts';
export * from './loss-contract.ts';
export * from './policy-contract.ts';
export * from './reward-contract.ts';
export * from './reward-manager-contract.ts';
export * from './tool-call-format-contract.ts';
export * from './tool-contract.ts';
