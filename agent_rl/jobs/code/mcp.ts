import type { SettingsInCode } from './agent-in-code.ts';

/**
 * The tools of an MCP server, for `tools` of an agent in code: `mcp('npx -y @modelcontextprotocol/server-filesystem shared')`.
 *
 * @param server its address over HTTP, or the command that starts it: words between spaces, or a list of them
 * @param settings of the tool `mcp`, such as `allow` and `isolation`
 */
export function mcp(
  server: string | readonly string[],
  settings: Readonly<Record<string, unknown>> = {},
): SettingsInCode {
  const isAddress = typeof server === 'string' && /^https?:\/\//.test(server);
  const words = typeof server === 'string' ? server.trim().split(/\s+/) : [...server];
  return { type: 'mcp', ...(isAddress ? { url: server } : { command: words }), ...settings };
}
