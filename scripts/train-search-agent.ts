#!/usr/bin/env node
import { trainFrom } from '../agent_rl/cli/commands/train.ts';
import { runProgram } from '../agent_rl/cli/run-program.ts';

await runProgram('train-search-agent', trainFrom('search_qa_grpo.yaml'));
