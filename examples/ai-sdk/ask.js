// The same agent in production, with the trained model behind agent-rl serve: node ask.js "Who governs Ferzuri?"
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';

import { searchAgent } from './agent.js';

const baseURL = process.env.OPENAI_BASE_URL ?? 'http://127.0.0.1:8000/v1';
const served = createOpenAICompatible({ name: 'agent-rl', baseURL });
const answer = searchAgent(served('policy'));
console.log(await answer(process.argv[2] ?? 'Who governs Ferzuri?'));
