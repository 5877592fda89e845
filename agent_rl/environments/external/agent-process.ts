import { text } from 'node:stream/consumers';

import { type AgentFileStart, openAgentFile } from './agent-file.ts';
import type { AgentCall } from './agent-runner.ts';

/* Entry of a process that plays one rollout with an agent file: it reads the call and prints the result. */

// What the agent prints is for people.
const print = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);

const play = await openAgentFile(JSON.parse(process.argv[2] ?? '') as AgentFileStart);
const call = JSON.parse(await text(process.stdin)) as AgentCall;
const output = JSON.stringify(await play(call, new AbortController().signal));
// Timers and connections that the agent left open end with it.
print(output, () => process.exit(0));
