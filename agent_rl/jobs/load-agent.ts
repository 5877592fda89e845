import type { LoadAgentOptions, LoadedAgent } from './code/open-loaded-agent.ts';

/**
 * Opens a trained agent to be asked.
 *
 * @param checkpoint a run folder, a checkpoint or a model folder
 * @throws AgentRlError for what the user can fix
 * @example
 * ```ts
 * const agent = await loadAgent('runs/trainAgent-seed42', { tools: [add] });
 * console.log((await agent.ask('What is 17 + 25?')).text);
 * await agent.close();
 * ```
 */
export async function loadAgent(
  checkpoint: string,
  options: LoadAgentOptions = {},
): Promise<LoadedAgent> {
  const { openLoadedAgent } = await import('./code/open-loaded-agent.ts');
  return openLoadedAgent(checkpoint, options);
}
