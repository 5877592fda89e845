import { configureGlobal } from 'fast-check';

// fast-check for our tests, with one seed: a property that holds today is tried on the same values tomorrow, so a test
// fails because of a change, not by chance. AGENT_RL_PROPERTY_SEED=NUMBER tries other values.

const usual = 20_261_123;
const asked = process.env['AGENT_RL_PROPERTY_SEED'];
const seed = asked === undefined ? usual : Number(asked);

if (asked?.trim() === '' || !Number.isInteger(seed))
  throw new Error(`AGENT_RL_PROPERTY_SEED must be a whole number, not "${asked}".`);

configureGlobal({ seed });

export * from 'fast-check';
