import { messageOf } from '../../core/errors.ts';
import { visibleControls } from '../../telemetry/visible-controls.ts';
import { serveRpc } from '../../threads/rpc.ts';
import { type AgentFileStart, openAgentFile } from './agent-file.ts';
import type { AgentCall } from './agent-runner.ts';

/* Entry of the thread that all rollouts of an agent share. */

// An unhandled rejection of one agent must not end the rollouts of the others.
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (thrown: unknown) => {
    console.error(visibleControls(`Unhandled error of the agent: ${messageOf(thrown)}`));
  });

const methodsOf = (play: Awaited<ReturnType<typeof openAgentFile>>) => ({
  run: ([call]: [AgentCall], signal: AbortSignal) => play(call, signal),
  ping: () => true,
});

export type AgentThreadMethods = ReturnType<typeof methodsOf>;

await serveRpc(async (start: AgentFileStart) => methodsOf(await openAgentFile(start)));
