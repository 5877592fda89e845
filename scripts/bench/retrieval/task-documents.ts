import { openTaskDocuments } from '../../../agent_rl/search/corpus/index.ts';
import { quantile } from '../statistics.ts';

/** What an index of its own costs an episode. */
export type TaskReport = Awaited<ReturnType<typeof measureTaskDocuments>>;

const documents = 8;
const episodes = 500;

async function episode(index: number): Promise<number> {
  const start = performance.now();
  const backend = await openTaskDocuments(
    Array.from({ length: documents }, (_, place) => ({
      id: `d${place}`,
      title: `Town ${place}`,
      text: `The mayor of town ${place} in episode ${index} is number ${place * index}.`,
    })),
  );
  const hits = await backend.search({ query: `mayor of town ${index % documents}`, topK: 3 });
  await backend.close();
  if (!hits[0]?.text.includes(`episode ${index}`)) throw new Error('An episode read another one.');
  return performance.now() - start;
}

/**
 * Opens, asks and closes the documents of many tasks, one by one and then 64 at once. Memory that has grown is the
 * resident memory after all but the last 64, less that after the first tenth.
 */
export async function measureTaskDocuments() {
  const times: number[] = [];
  let before = 0;
  for (let index = 0; index < episodes; index++) {
    if (index === episodes / 10) before = process.memoryUsage.rss();
    times.push(await episode(index));
  }
  const grownMiB = (process.memoryUsage.rss() - before) / 2 ** 20;
  const start = performance.now();
  await Promise.all(Array.from({ length: 64 }, (_, index) => episode(index)));
  const perSecond = 64_000 / (performance.now() - start);
  const warm = times.slice(episodes / 10);
  const [p50Ms, p95Ms] = [quantile(warm, 0.5), quantile(warm, 0.95)];
  return { episodes, documents, p50Ms, p95Ms, perSecond, grownMiB };
}
