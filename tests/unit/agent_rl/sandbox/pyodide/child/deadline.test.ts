import { expect, test } from '@jest/globals';

import { Deadline } from '#agent_rl/sandbox/pyodide/child/deadline.ts';

/** A deadline of one second, and a function that lets wall and processor time pass. */
function deadlineOfOneSecond(): { deadline: Deadline; pass: (wall: number, cpu: number) => void } {
  let [wallMs, cpuMs] = [5000, 300];
  const deadline = new Deadline(1000, { wallMs: () => wallMs, cpuMs: () => cpuMs });
  const pass = (wall: number, cpu: number): void => {
    wallMs += wall;
    cpuMs += cpu;
  };
  return { deadline, pass };
}

test('A program that has the processor is interrupted at its time and killed a second later', () => {
  const { deadline, pass } = deadlineOfOneSecond();
  pass(999, 2000);
  expect([deadline.step(), deadline.passed]).toEqual(['continue', false]);
  pass(1, 1);
  expect([deadline.step(), deadline.passed]).toEqual(['interrupt', true]);
  pass(999, 1500);
  expect(deadline.step()).toBe('continue');
  pass(1, 1);
  expect(deadline.step()).toBe('kill');
});

test('A program that is starved is interrupted at its time, and has longer to end', () => {
  const { deadline, pass } = deadlineOfOneSecond();
  pass(1000, 10);
  expect([deadline.isLate(), deadline.step()]).toEqual([true, 'interrupt']);
  pass(1100, 200);
  expect(deadline.step()).toBe('continue');
  pass(100, 700);
  expect(deadline.step()).toBe('kill');
});

test('A program that is idle is killed 2.6 s after its time', () => {
  const { deadline, pass } = deadlineOfOneSecond();
  pass(1000, 0);
  expect(deadline.step()).toBe('interrupt');
  pass(2599, 0);
  expect(deadline.step()).toBe('continue');
  pass(1, 0);
  expect(deadline.step()).toBe('kill');
});

test('An answer that came in time is not late because it is checked later', () => {
  const { deadline, pass } = deadlineOfOneSecond();
  pass(999, 999);
  const cameAt = 5999;
  pass(500, 500);
  expect(deadline.passed).toBe(false);
  expect([cameAt, cameAt + 1].map((at) => deadline.isLate(at))).toEqual([false, true]);
});
