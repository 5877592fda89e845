import { describe, expect, test } from '@jest/globals';
import { Type } from 'typebox';

import { validateBlock } from '#agent_rl/config/index.ts';
import { thrownBy } from '#tests/support/thrown.ts';

const schema = Type.Object({
  timeoutS: Type.Number({ default: 5, minimum: 1, description: 'Deadline' }),
  mode: Type.Enum(['fast', 'safe'], { default: 'safe' }),
  nested: Type.Object({ depth: Type.Integer({ default: 2 }) }, { default: {} }),
});
const place = { path: 'tools.0', places: new Map() };

describe("A plugin's own block", () => {
  test('gets defaults, also nested ones, and is frozen without changing the input', () => {
    const given = { timeoutS: 7 };
    const settings = validateBlock(schema, given, place);
    expect(settings).toEqual({ timeoutS: 7, mode: 'safe', nested: { depth: 2 } });
    expect(Object.isFrozen(settings.nested)).toBe(true);
    expect(given).toEqual({ timeoutS: 7 });
  });

  test('refuses unknown keys by default', () => {
    const { message } = thrownBy(() =>
      validateBlock(schema, { timeoutSs: 7, nested: { dept: 1 } }, place),
    );
    expect(message).toContain('tools.0.timeoutSs: is not a known key. Did you mean "timeoutS"?');
    expect(message).toContain('tools.0.nested.dept: is not a known key. Did you mean "depth"?');
  });

  test('reports wrong values with the allowed ones', () => {
    const { message } = thrownBy(() => validateBlock(schema, { timeoutS: 0, mode: 'fats' }, place));
    expect(message).toContain('tools.0.timeoutS: must be >= 1, got 0.');
    expect(message).toContain(
      'tools.0.mode: expected one of fast, safe, got "fats". Did you mean "fast"?',
    );
  });
});
