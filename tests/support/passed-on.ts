import type { Answered, Asked } from './loopback-service.ts';

/** What a server behind a proxy answers; undefined where it is not there. */
export async function passedOn(
  target: string,
  { method, path, headers, bytes }: Asked,
): Promise<Answered | undefined> {
  const type = headers['content-type'];
  try {
    const answer = await fetch(target + path, {
      method,
      redirect: 'manual',
      ...(type !== undefined && { headers: { 'content-type': type } }),
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
