import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Runs a body beside so many processes that compute without a pause. */
export async function besideBusyLoops<Result>(
  count: number,
  body: () => Promise<Result>,
): Promise<Result> {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  );
  try {
    await Promise.all(loops.map(async (loop) => once(loop, 'spawn')));
    return await body();
  } finally {
    for (const loop of loops) loop.kill('SIGKILL');
  }
}
