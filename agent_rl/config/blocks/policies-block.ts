import { Type } from '../../core/typebox.ts';
import { text } from './block.ts';
import { ModelBlock } from './model-block.ts';
import { partBlock } from './plugin-blocks.ts';
import { PolicyBlock } from './policy-block.ts';

/** The pattern of names. A checkpoint has a folder of each name, and its folder `drawn` is something else. */
const namePattern = '^(?!(policy|drawn)$)[a-zA-Z][a-zA-Z0-9_-]*$';

const { path: _path, ...modelSettings } = ModelBlock.properties;
// Limits and sampling are of the run: they hold for every policy.
const { sampling: _sampling, maxTurnTokens: _limit, ...policySettings } = PolicyBlock.properties;

const NamedPolicyBlock = Type.Object(
  {
    model: Type.Optional(
      Type.Object(
        { path: text('Model folder or checkpoint', { minLength: 1 }), ...modelSettings },
        {
          additionalProperties: false,
          description: 'As model at the top level, which is used if this block is left out',
        },
      ),
    ),
    policy: Type.Optional(
      Type.Object(policySettings, {
        description:
          'As policy at the top level, which is used if this block is left out; without sampling and maxTurnTokens',
      }),
    ),
    generator: partBlock(
      'a generator',
      'engine',
      'Samples its tokens; by default in this process, whatever generator is at the top level',
    ),
    learner: Type.Optional(
      Type.Object(
        { type: text('Name of a learner', { minLength: 1, default: 'engine' }) },
        { description: 'Trains it; without this block its weights never change' },
      ),
    ),
  },
  { additionalProperties: false },
);

/** `policies:` policies beside the one that the top level describes, by name. */
export const PoliciesBlock = Type.Record(Type.String({ pattern: namePattern }), NamedPolicyBlock, {
  default: {},
  additionalProperties: false,
  description:
    'More policies, each with its own weights, beside the one at the top level. Names have letters, digits, _ and -, except policy and drawn',
});
