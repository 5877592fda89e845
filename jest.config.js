export const environment = (name) => `<rootDir>/tests/support/${name}-environment.mjs`;

export const project = (displayName, folders, testEnvironment) => ({
  displayName,
  // Machines differ in speed; no test asserts one.
  testMatch: folders.map((folder) => `<rootDir>/tests/${folder}/**/*.test.ts`),
  // Alone: a project made inside the checkout has tests of its own, for its own jest.
  roots: ['agent_rl', 'dataset', 'model', 'scripts', 'tests'].map((name) => `<rootDir>/${name}`),
  testEnvironment,
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
});

export default {
  testTimeout: 120_000,
  maxWorkers: '100%',
  projects: [
    project('unit', ['unit', 'property', 'architecture'], environment('no-process')),
    {
      ...project('sandbox', ['sandbox'], environment('shared-typed-arrays')),
      globalSetup: '<rootDir>/tests/support/offered-levels-setup.mjs',
    },
    project('e2e', ['e2e'], environment('shared-typed-arrays')),
  ],
};
