import { readFixture } from '../exchanges.ts';
import type { Recording } from './exchanges.ts';

/** What SkyRL's server said; written by `tests/real/tinker.test.ts`. */
export const recording = (): Recording => readFixture('tinker/skyrl.json') as Recording;
