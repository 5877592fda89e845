export const environment = (name) => `<rootDir>/tests/support/${name}-environment.mjs`;

export const project = (displayName, folders, testEnvironment) => ({
  displayName,
  // Machines differ in speed; no test asserts one.
  testMatch: folders.map((folder) => `<rootDir>/tests/${folder}/**/*.test.ts`),
  // Alone: a project made inside the checkout has tests of its own, for its own jest.
  roots: ['agent_rl', 'dataset', 'model', 'scripts', 'tests'].map((name) => `<rootDir>/${name}`),
  testEnvironment,
  extensionsToTreatAsEsm: ['.ts'],
  modulePathIgnorePatterns: ['<rootDir>/dist/(?!tensorflow)', '<rootDir>/runs', '<rootDir>/.cache'],
  transform: {
    '\\.ts$': [
      '@swc/jest',
      {
        // In files beside the code: maps within it would be read with each module.
        sourceMaps: true,
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

const sandboxLevels = { globalSetup: '<rootDir>/tests/support/offered-levels-setup.mjs' };

/** A project and its twin of files named `*.slow.test.ts`, which `npm run test:all` runs and `npm test` does not. */
const withSlow = (name, folders, testEnvironment, more = {}) => {
  const whole = { ...project(name, folders, testEnvironment), ...more };
  const slow = folders.map((folder) => `<rootDir>/tests/${folder}/**/*.slow.test.ts`);
  return [
    { ...whole, testPathIgnorePatterns: ['/node_modules/', '\\.slow\\.test\\.ts$'] },
    { ...whole, displayName: `${name}-slow`, testMatch: slow },
  ];
};

export default {
  testTimeout: 120_000,
  maxWorkers: '100%',
  reporters: ['default', '<rootDir>/tests/support/seconds-reporter.mjs'],
  projects: [
    ...withSlow('unit', ['unit', 'property', 'architecture'], environment('no-process')),
    ...withSlow('sandbox', ['sandbox'], environment('shared-typed-arrays'), sandboxLevels),
    ...withSlow('e2e', ['e2e'], environment('shared-typed-arrays')),
  ],
};
