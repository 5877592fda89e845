import { describe, expect, test } from '@jest/globals';

import { reportsOf } from '#agent_rl/runs/run-reports.ts';
import type { PluginReport, ToolShared } from '#agent_rl/core/plugins/tool.ts';
import { joinWebReports } from '#agent_rl/search/web/index.ts';

const reporting = (session: PluginReport, more: Partial<ToolShared> = {}) =>
  new Map([['search', { report: () => session, ...more }]]);

describe('The report of tools on a run', () => {
  test('is their report of its only session', () => {
    expect(reportsOf(reporting({ calls: 2 }))).toEqual({ search: { calls: 2 } });
    expect(reportsOf(new Map([['quiet', {}]]))).toEqual({});
  });

  test('adds up over sessions, also counts of one session alone', () => {
    const earlier = { search: { calls: 5, late: 1 } };
    expect(reportsOf(reporting({ calls: 2, lost: 3 }), earlier)).toEqual({
      search: { calls: 7, late: 1, lost: 3 },
    });
  });

  test('is merged as the tool says, where it says how', () => {
    const joinReports = (_earlier: PluginReport, session: PluginReport) => session;
    const scale = reporting({ floor: 0.5 }, { joinReports });
    expect(reportsOf(scale, { search: { floor: 0.4 } })).toEqual({ search: { floor: 0.5 } });
  });

  test('keeps the report of a removed tool, and begins with a new one', () => {
    const earlier = { open_page: { requests: 1 } };
    expect(reportsOf(reporting({ calls: 2 }), earlier)).toEqual({
      open_page: { requests: 1 },
      search: { calls: 2 },
    });
  });
});

test('adds up counts and money of the web, with shares over all requests', () => {
  const report = (
    requests: number,
    networkCalls: number,
    hits: number,
    rate: number,
    cost: number,
  ) => ({ requests, networkCalls, cassetteHits: hits, cassetteHitRate: rate, cost });
  const earlier = report(30, 25, 6, 0.2, 0.5);
  // 15 of 40, and neither 1.1 nor the mean of the two shares.
  const both = report(40, 26, 15, 0.375, 0.75);
  expect(joinWebReports(earlier, report(10, 1, 9, 0.9, 0.25))).toEqual(both);
  const none = report(0, 0, 0, 0, 0);
  expect(joinWebReports(none, none)).toEqual(none);
});
