import { expect, test } from '@jest/globals';

import { referenceNames, usedNames } from '#dataset/tasks/mbpp/reference-names.ts';

test('A reference defines what stands at the outermost level of its source', () => {
  const source = `import math, os.path as p
import collections.abc
from heapq import heappush as push, heappop  # two
from typing import *
LIMIT = 3
late == 4
def f(x): return x
async def g(x):
    inner = 1
    def hidden(): pass
class Node(object):
    field = 1
class Empty: pass
print(LIMIT)
if LIMIT: pass
`;
  const { defined, classes, imports } = referenceNames(source);
  expect([...defined]).toEqual(['LIMIT', 'f', 'g', 'Node', 'Empty']);
  expect([...classes]).toEqual(['Node', 'Empty']);
  expect([...imports]).toEqual([
    ['math', 'import math'],
    ['p', 'import os.path as p'],
    ['collections', 'import collections.abc'],
    ['push', 'from heapq import heappush as push'],
    ['heappop', 'from heapq import heappop'],
  ]);
});

test('A piece of source uses names, but none in its strings and no attributes', () => {
  const source = 'assert f(a.b, "x \\" y", \'z\') == g(1e5) and """p\nq""" != r[0]';
  expect([...usedNames(source)]).toEqual(['assert', 'f', 'a', 'g', 'and', 'r']);
});
