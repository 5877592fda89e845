import { environment, project } from './jest.config.js';

/** Tests that take minutes, gigabytes or a machine of their own: `npm run test:real`. */
export default {
  testTimeout: 3_600_000,
  maxWorkers: 1,
  projects: [project('real', ['real'], environment('shared-typed-arrays'))],
};
