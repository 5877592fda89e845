import type { GeneratorHost } from '#agent_rl/core/plugins/model/generator.ts';
import type { Generator } from '#agent_rl/core/services/generator.ts';
import { openaiGenerator } from '#agent_rl/generation/openai/open-openai.ts';
import { generatorHost } from '../generator-host.ts';
import { remoteSettingsOf, starter } from '../vllm/opened-vllm.ts';

/** Opens `generator: openai` on servers for an evaluation, with what it says to the log. */
export async function openedOpenai(
  urls: readonly string[],
  settings: object = {},
  host: Partial<GeneratorHost> = {},
): Promise<{ generator: Generator; warnings: string[] }> {
  const warnings: string[] = [];
  const generator = await openaiGenerator(
    remoteSettingsOf(urls, settings),
    generatorHost(starter, { trains: false, warn: (text) => warnings.push(text), ...host }),
  );
  return { generator, warnings };
}
