export default {
  // Machines differ in speed; no test asserts one.
  testTimeout: 120_000,
  maxWorkers: '100%',
  testMatch: ['<rootDir>/tests/**/*.test.ts'],
  testEnvironment: '<rootDir>/tests/support/shared-typed-arrays-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist', '<rootDir>/runs', '<rootDir>/.cache'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        jsc: {
          parser: { syntax: 'typescript', decorators: true },
          transform: { legacyDecorator: true },
          target: 'es2023',
        },
        module: { type: 'es6' },
      },
    ],
  },
};
