import { expect } from '@jest/globals';

/** Waits for up to a minute. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 600 && !holds(); tries++)
    await new Promise((resolve) => setTimeout(resolve, 100));
  expect(holds()).toBe(true);
}
