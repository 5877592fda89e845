import { Type } from 'typebox';

import { block, choice, optionalText, text, variable } from './block.ts';

/** How agents with a loop of their own reach the model. */
export const GatewayBlock = block(
  {
    history: choice(
      'What the model reads of its earlier turns. sampled: the tokens that it sampled, whatever the client sends back. sent: what the client sends back, as a server elsewhere would; each turn that differs begins another sequence',
      ['sampled', 'sent'],
      'sampled',
    ),
    unsupported: choice(
      'A request for what the model cannot do, such as response_format or a forced tool. ignore: it is answered without and counted in gateway/ignored. refuse: it is answered with status 400',
      ['ignore', 'refuse'],
      'ignore',
    ),
    others: Type.Record(
      Type.String({ minLength: 1 }),
      Type.Object(
        {
          url: text('Where the API of this model is, ending in /v1', { pattern: '^https?://.+' }),
          model: optionalText('What it is called there; the same by default'),
          apiKeyEnv: variable('Environment variable that holds its key'),
        },
        { additionalProperties: false },
      ),
      {
        default: {},
        description:
          'Models that are not trained, such as a judge or an embedder, by the name that requests give. Requests of any other name are answered by the model that is trained',
      },
    ),
  },
  'How agents with a loop of their own (environment external) reach the model',
);
