import { Type } from '../../core/typebox.ts';
import { block, choice, optionalText, text, variable } from './block.ts';

/** How external agents reach the model. */
export const GatewayBlock = block(
  {
    history: choice(
      "Context of later turns: sampled keeps the model's own tokens; sent uses the turns that the client sends back, and a changed turn starts a new sequence",
      ['sampled', 'sent'],
      'sampled',
    ),
    unsupported: choice(
      'Unsupported request options, such as response_format or a forced tool: ignore them (counted in gateway/ignored), or refuse the request with status 400',
      ['ignore', 'refuse'],
      'ignore',
    ),
    others: Type.Record(
      Type.String({ minLength: 1 }),
      Type.Object(
        {
          url: text("Base URL of the model's API, ending in /v1", { pattern: '^https?://.+' }),
          model: optionalText('Model name on that server; defaults to the name used here'),
          apiKeyEnv: variable('Environment variable with the API key'),
        },
        { additionalProperties: false },
      ),
      {
        default: {},
        description:
          'Models that are not trained, such as a judge or an embedder. Each key is a model name in requests; the trained model answers requests with any other name',
      },
    ),
  },
  'How external agents reach the model',
);
