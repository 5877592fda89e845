import { describe, expect, test } from '@jest/globals';

import { requestKey } from '../../../../agent_rl/sandbox/request-key.ts';

describe('requestKey', () => {
  test('is no longer for a request of megabytes than for a small one', () => {
    const small = requestKey('run', { code: 'print(1)' });
    const large = requestKey('run', { code: 'print(1)', stdin: '1234567 '.repeat(250_000) });
    expect(large).toHaveLength(small.length);
    expect(large.length).toBeLessThan(64);
  });

  test('tells apart large requests by their last character', () => {
    const stdin = 'x'.repeat(2_000_000);
    const keys = ['0', '1'].map((last) => requestKey('run', { code: '', stdin: stdin + last }));
    expect(new Set(keys).size).toBe(2);
  });

  test('tells apart broken halves of characters', () => {
    const keys = ['\ud800', '\ud801', '\ufffd'].map((code) => requestKey('run', { code }));
    expect(new Set(keys).size).toBe(3);
  });

  test('tells apart what is asked, and not who asks', () => {
    const request = { code: 'x', owner: 'ann' };
    expect(requestKey('run', request)).not.toBe(requestKey('judge', request));
    expect(requestKey('run', request)).toBe(requestKey('run', { code: 'x', owner: 'robert' }));
  });
});
