#!/usr/bin/env node
import { runProgram } from '../agent_rl/cli/run-program.ts';

await runProgram('agent-rl');
