/** For agents that are trained as they are: give `rolloutFetch` to any client of the OpenAI API. Importing this starts nothing. */
export { rolloutFetch } from './doors/rollout-fetch.ts';
export type { AgentContext, AgentFunction } from '../core/plugins/agent.ts';
