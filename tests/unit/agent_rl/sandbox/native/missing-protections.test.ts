import { expect, test } from '@jest/globals';

import { missingProtections } from '#agent_rl/sandbox/native/native-sandbox.ts';
import type { Hello } from '#agent_rl/sandbox/native/protocol.ts';

const hello = (level: 'ns' | 'lite', tasks: 'own' | 'shared', fixedAddresses = true): Hello => ({
  level,
  python: '3.11.2',
  fixedAddresses,
  walls: { landlock: 7, seccomp: true, user: 'same', tasks },
  swept: 0,
});
const kindsOf = (greeting: Hello): string[] => missingProtections(greeting).map(({ kind }) => kind);

test('A native sandbox reports the protections of its level that this machine lacks', () => {
  expect(kindsOf(hello('ns', 'own'))).toEqual([]);
  expect(kindsOf(hello('ns', 'own', false))).toEqual(['addresses']);
  expect(kindsOf(hello('ns', 'shared'))).toEqual(['threads']);
  expect(kindsOf(hello('ns', 'shared', false))).toEqual(['addresses', 'threads']);
});

test('A native sandbox of level lite reports no shared threads, which it always has without root', () => {
  expect(kindsOf(hello('lite', 'shared'))).toEqual([]);
});
