#!/usr/bin/env node
import { train } from '../agent_rl/cli/commands/train.ts';
import { runProgram } from '../agent_rl/cli/run-program.ts';

await runProgram('train-code-exec-agent', train);
