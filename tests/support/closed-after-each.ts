import { afterEach } from '@jest/globals';

/** A list for what a test opens; closed after it, the newest first. */
export function closedAfterEach(): { close(): Promise<void> }[] {
  const open: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
  });
  return open;
}
