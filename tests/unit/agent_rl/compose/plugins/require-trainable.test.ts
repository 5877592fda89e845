import { expect, test } from '@jest/globals';

import { builtinPlugins } from '../../../../../agent_rl/compose/plugins/builtin-plugins.ts';
import { requireTrainable } from '../../../../../agent_rl/compose/plugins/require-trainable.ts';
import { loadConfig } from '../../../../../agent_rl/config/index.ts';
import { temporaryFolder, writeBelow } from '../../../../support/temporary-folder.ts';
import { thrownBy } from '../../../../support/thrown.ts';

const file = writeBelow(
  temporaryFolder(),
  'run.yaml',
  'environment: {type: code_exec}\ntools: [{type: code_exec}]\ndataset: {dir: tasks}\n',
);
const loaded = (type: string) => loadConfig({ file, overrides: [`policy.type=${type}`] });

test('a policy with a generator of its own is refused where training would begin, with its place', () => {
  const error = thrownBy(() => requireTrainable(loaded('transformers-js'), builtinPlugins()));
  expect(error).toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringMatching(
      /policy\.type=transformers-js policy\.type: policy transformers-js brings its own generator/,
    ),
  });
});

test.each(['minimind', 'huggingface'])('%s is trained', (type) => {
  expect(() => requireTrainable(loaded(type), builtinPlugins())).not.toThrow();
});
