import { afterAll, afterEach } from '@jest/globals';

type Closable = { close(): Promise<void> };

const closedBy = (hook: typeof afterEach) => (): Closable[] => {
  const open: Closable[] = [];
  hook(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
  });
  return open;
};

/** A list for what a test opens; closed after it, the newest first. */
export const closedAfterEach = closedBy(afterEach);

/** The same for the tests of a file or a group. */
export const closedAfterAll = closedBy(afterAll);
