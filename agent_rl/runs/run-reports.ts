import type { PluginReport, ToolShared } from '../core/plugins/tool.ts';

/** By the plugin's name. */
export type Reports = Readonly<Record<string, PluginReport>>;

/** What tools and rewards report of a run. Plain JSON. */
export interface RunReports {
  tools: Reports;
  rewards: Reports;
}

/** What plugins report of this session and what they did of the earlier ones, as one. */
export function reportsOf(
  shared: ReadonlyMap<string, Omit<ToolShared, 'close'>>,
  earlier: Reports = {},
): Reports {
  const joined = new Map(Object.entries(earlier));
  for (const [name, one] of shared) {
    const session = one.report?.();
    if (session === undefined) continue;
    const before = joined.get(name);
    joined.set(name, before === undefined ? session : join(one, before, session));
  }
  return Object.fromEntries(joined);
}

function join(
  plugin: Pick<ToolShared, 'joinReports'>,
  earlier: PluginReport,
  session: PluginReport,
): PluginReport {
  if (plugin.joinReports !== undefined) return plugin.joinReports(earlier, session);
  const names = Object.keys({ ...earlier, ...session });
  return Object.fromEntries(
    names.map((name) => [name, (earlier[name] ?? 0) + (session[name] ?? 0)]),
  );
}
