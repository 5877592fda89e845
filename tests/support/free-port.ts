import { loopbackServer } from './loopback-service.ts';

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const { url, close } = await loopbackServer(() => undefined);
  await close();
  return Number(new URL(url).port);
}
