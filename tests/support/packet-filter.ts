/** What the kernel knows of a system call when a filter looks at it. */
export interface SystemCall {
  number: number;
  machine: number;
  args?: readonly number[];
}

/** Offsets of `struct seccomp_data`: number, machine, instruction pointer, six arguments of eight bytes. */
function dataOf({ number, machine, args = [] }: SystemCall): Buffer {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(number >>> 0, 0);
  data.writeUInt32LE(machine >>> 0, 4);
  args.forEach((value, i) => data.writeBigUInt64LE(BigInt.asUintN(64, BigInt(value)), 16 + 8 * i));
  return data;
}

/** The kernel's packet filter machine, as far as our filters use it: what a program of eight-byte instructions returns. */
export function runFilter(program: Buffer, call: SystemCall): number {
  const data = dataOf(call);
  let accumulator = 0;
  for (let at = 0; at < program.length / 8; at++) {
    const operation = program.readUInt16LE(8 * at);
    const [ifTrue, ifFalse] = [program[8 * at + 2] ?? 0, program[8 * at + 3] ?? 0];
    const value = program.readUInt32LE(8 * at + 4);
    if (operation === 0x20) accumulator = data.readUInt32LE(value);
    else if (operation === 0x54) accumulator = (accumulator & value) >>> 0;
    else if (operation === 0x05) at += value;
    else if (operation === 0x15) at += accumulator === value ? ifTrue : ifFalse;
    else if (operation === 0x35) at += accumulator >= value ? ifTrue : ifFalse;
    else if (operation === 0x45) at += (accumulator & value) !== 0 ? ifTrue : ifFalse;
    else if (operation === 0x06) return value;
    else throw new Error(`Instruction ${at} is 0x${operation.toString(16)}.`);
  }
  throw new Error('The filter ends without a verdict.');
}
