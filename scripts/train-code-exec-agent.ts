#!/usr/bin/env node
import { trainFrom } from '../agent_rl/cli/commands/train.ts';
import { runProgram } from '../agent_rl/cli/run-program.ts';

await runProgram('train-code-exec-agent', trainFrom('workspace_grpo.yaml'));
