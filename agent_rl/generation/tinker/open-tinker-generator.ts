import { AgentRlError } from '../../core/errors.ts';
import { generator } from '../../core/plugins/model/generator.ts';
import { Lost } from '../../tinker/tinker-client.ts';
import { TinkerSession } from '../../tinker/tinker-session.ts';
import { TinkerSettings } from '../../tinker/tinker-settings.ts';
import { requireAsked, TinkerGenerator } from './tinker-generator.ts';

/** Samples at a Tinker service. @throws AgentRlError `CONFIG_INVALID` for a service that does not suit the run */
export const tinkerGenerator = generator({
  name: 'tinker',
  description:
    'Samples at the Tinker service where learner tinker learns: the weights stay there. Without a learner, from the model that it holds.',
  settings: TinkerSettings,
})(async (settings: TinkerSettings, host) => {
  const { environment, warn, signal, maxContextTokens, vocabSize, episodes } = host;
  for (const sampling of host.samplings) requireAsked(sampling);
  const user = { block: 'generator', code: 'GENERATION_FAILED', requests: episodes } as const;
  const session = await TinkerSession.open(settings, { ...user, environment, warn, signal });
  try {
    return await TinkerGenerator.open({ session, maxContextTokens, vocabSize }, signal);
  } catch (thrown) {
    await session.close();
    if (!(thrown instanceof Lost)) throw thrown;
    throw new AgentRlError('CONFIG_INVALID', `generator.url: ${thrown.message}`, {
      cause: thrown,
    });
  }
});
