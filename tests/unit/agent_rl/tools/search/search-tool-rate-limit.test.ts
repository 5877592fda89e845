import { channel } from 'node:diagnostics_channel';

import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';

import { openSearch } from '#agent_rl/tools/search/open-search.ts';
import { SearchTool } from '#agent_rl/tools/search/search-tool.ts';
import { callOf, searching } from '#tests/support/searching.ts';
import { json, webServer } from '#tests/support/web-server.ts';

const server = webServer();
// A key of its own for each limit: a key has one.
const environment = { KEY_50: 'secret-0123456789', KEY_20: 'secret-9876543210' };
const { settingsOf } = searching(server, environment);

/** Requests that undici has begun, as times of the fake clock, and how many of them are not answered yet. */
const starts: number[] = [];
const under = { way: 0 };
const created = channel('undici:request:create');
const answered = channel('undici:request:trailers');
const begin = (): void => {
  starts.push(Date.now());
  under.way += 1;
};
const end = (): void => {
  under.way -= 1;
};

beforeEach(() => {
  starts.length = 0;
  under.way = 0;
  created.subscribe(begin);
  answered.subscribe(end);
  // The network runs by the real clock; everything that waits, by a fake one.
  jest.useFakeTimers({
    now: 1_000_000,
    doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'],
  });
});
afterEach(() => {
  jest.useRealTimers();
  created.unsubscribe(begin);
  answered.unsubscribe(end);
});

const turnOfTheLoop = () => new Promise((resolve) => setImmediate(resolve));

/** Moves the fake clock on, half a second at a time, and never while an answer is on its way. */
async function untilSettled<Value>(work: Promise<Value>): Promise<Value> {
  const clock = { running: true };
  const stop = (): void => {
    clock.running = false;
  };
  work.then(stop, stop);
  while (clock.running) {
    do {
      for (let turn = 0; turn < 5; turn++) await turnOfTheLoop();
    } while (under.way > 0);
    await jest.advanceTimersByTimeAsync(500);
  }
  return work;
}

/** Most starts in any window of a minute, ends excluded: a start and one exactly 60 s later share no window. */
const mostInAMinute = (times: readonly number[]): number =>
  Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + 60_000).length));

test.each([
  ['tavily', 50],
  ['brave', 20],
])(
  '64 episodes that search %s at once never start more than %i requests in any sliding minute',
  async (provider, limit) => {
    // One request in five fails and is made again: that is a start as well.
    let request = 0;
    server.received.length = 0;
    server.answer = (received, response) => {
      request += 1;
      json({}, request % 5 === 0 ? 500 : 200)(received, response);
    };
    const settings = settingsOf({
      provider,
      apiKeyEnv: `KEY_${limit}`,
      rateLimitPerMin: limit,
      maxRetries: 10,
      backoffFactor: 0.1,
      timeoutS: 600,
      deadlineS: 3600,
    });
    const shared = await openSearch(settings, { environment });
    const episode = async (index: number): Promise<string[]> => {
      const tool = new SearchTool({ shared, settings });
      // Not all at the same time, so that windows do not line up with the clock.
      await new Promise((resolve) => setTimeout(resolve, index * 997));
      const contents: string[] = [];
      for (let turn = 0; turn < 2; turn++) {
        const query = `question ${index}, turn ${turn}`;
        contents.push((await tool.call({ query }, callOf(turn, index))).content);
      }
      return contents;
    };
    const all = Promise.all(Array.from({ length: 64 }, (_, index) => episode(index)));
    const contents = (await untilSettled(all)).flat();
    await shared.close();
    expect(contents).toEqual(Array.from({ length: 128 }, () => 'No results.'));
    // 128 answers, and the requests that failed: every fifth of them all.
    expect(server.received).toHaveLength(starts.length);
    expect(starts.length - Math.floor(starts.length / 5)).toBe(128);
    expect(mostInAMinute(starts)).toBe(limit);
  },
);
