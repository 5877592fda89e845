import { describe, expect, test } from '@jest/globals';
import { describeToolContract } from 'agent_rl/contracts';

import { ConvertTool } from '../plugins/convert-tool.ts';
import { convert } from '../plugins/units.ts';

// What every tool promises: a usable spec, text for every call, no exceptions, the same answer to the same call.
describeToolContract('convert', {
  plugin: ConvertTool,
  create: () => new ConvertTool(),
  goodArguments: { value: 12, from: 'inches', to: 'cm' },
  badArguments: { value: 12, from: 'inches', to: 'grams' },
});

describe('convert', () => {
  test.each([
    [12, 'inches', 'cm', '30.48'],
    [3, 'feet', 'inches', '36'],
    [5, 'kg', 'pounds', '11.02'],
    [2, 'gallons', 'pints', '16'],
  ])('converts %d %s to %s', (value, from, to, expected) => {
    expect(convert(value, from, to)).toBe(expected);
  });

  test('returns undefined for units that do not fit together', () => {
    expect(convert(1, 'inches', 'grams')).toBeUndefined();
    expect(convert(1, 'parsecs', 'km')).toBeUndefined();
  });
});
