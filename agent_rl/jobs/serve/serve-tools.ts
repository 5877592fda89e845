import { randomUUID } from 'node:crypto';
import { once } from 'node:events';

import { openAgent } from '../../compose/open-agent.ts';
import { resolveRun } from '../../compose/resolve-run.ts';
import { AgentRlError, messageOf } from '../../core/errors.ts';
import { optionalPackage } from '../../core/wire/optional-package.ts';
import { packageVersion } from '../../core/package-root.ts';
import { Cleanup } from '../../core/stopping/cleanup.ts';
import { underSignals } from '../../core/stopping/abort.ts';
import type { JobOptions, JobResult } from '../job.ts';
import { silentPolicy } from '../silent-policy.ts';

const sdk = () =>
  optionalPackage(
    async () => {
      const server = await import('@modelcontextprotocol/server');
      return { ...server, ...(await import('@modelcontextprotocol/server/stdio')) };
    },
    { user: 'serve --mcp', install: '@modelcontextprotocol/server@2' },
  );

/**
 * Offers the tools of a run file to a client of MCP over standard input and output, until the client goes or the signal is
 * aborted. The client is one episode: a session of the sandbox is its own.
 *
 * @returns how many calls were answered, and how many of them were errors
 * @throws AgentRlError for what the user can fix
 */
export async function serveTools(options: JobOptions): Promise<JobResult> {
  const { signal } = options;
  const { Server, StdioServerTransport } = await sdk();
  const run = await resolveRun(options, { ...options, trains: false });
  if (run.chosen.tools.length === 0)
    throw new AgentRlError(
      'CONFIG_INVALID',
      `${run.file} has no tools to offer. Add some to tools.`,
    );
  const policy = silentPolicy('A server of tools');
  const agent = await openAgent(run, { workers: 1, trains: false, policy, signal });
  const start = randomUUID();
  const opened = new Cleanup();
  opened.add(agent);
  const counts = { calls: 0, errors: 0 };
  try {
    const tools = opened.add(agent.tools('mcp'));
    const server = new Server(
      { name: 'agent_rl', version: packageVersion() },
      { capabilities: { tools: {} } },
    );
    server.setRequestHandler('tools/list', () => ({
      tools: agent.toolRunner.specs.map(({ name, description, parameters }) => ({
        name,
        description,
        inputSchema: { ...parameters, type: 'object' as const },
      })),
    }));
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      const index = counts.calls++;
      const call = { id: `call_${index}`, name: params.name, arguments: params.arguments ?? {} };
      const { result, status, problem } = await agent.toolRunner.run(call, {
        tools: tools.byName,
        inputs: {},
        randomPath: [run.config.run.seed, 'mcp', index],
        idempotencyKey: `${start}/${call.id}`,
        signal: mcpReq.signal,
      });
      if (problem !== undefined) options.print(problem);
      const isError = status !== 'ok';
      counts.errors += Number(isError);
      return { content: [{ type: 'text' as const, text: result.content }], isError };
    });
    const gone = new AbortController();
    // The server has no events but these.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    server.onclose = () => gone.abort();
    // oxlint-disable-next-line unicorn/prefer-add-event-listener
    server.onerror = (error) => options.print(`A message failed: ${messageOf(error)}`);
    process.stdin.once('end', () => gone.abort());
    await server.connect(new StdioServerTransport());
    await underSignals([signal, gone.signal], async (over) => {
      if (!over.aborted) await once(over, 'abort');
    });
    await server.close();
    return counts;
  } finally {
    await opened.close();
  }
}
