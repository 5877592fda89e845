import type { Answered, Asked } from './loopback-service.ts';

/** What a server behind a proxy answers; undefined where it is not there. */
export async function passedOn(
  target: string,
  { method, path, headers, bytes }: Asked,
): Promise<Answered | undefined> {
  const carried = ['content-type', 'authorization'].flatMap((name) => {
    const value = headers[name];
    return value === undefined ? [] : [[name, String(value)] as [string, string]];
  });
  try {
    const answer = await fetch(target + path, {
      method,
      redirect: 'manual',
      headers: carried,
      ...(bytes.length > 0 && { body: new Uint8Array(bytes) }),
    });
    const to = answer.headers.get('location');
    return {
      status: answer.status,
      type: answer.headers.get('content-type') ?? '',
      // Through this server again.
      ...(to !== null && { location: new URL(to).pathname }),
      body: Buffer.from(await answer.arrayBuffer()),
    };
  } catch {
    // It is not there.
    return undefined;
  }
}
