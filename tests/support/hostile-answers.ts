import type { DoubleAnswer } from './http-double.ts';

/** A gigabyte, as fast as it is read. */
export const gigabyte: DoubleAnswer = (response) => {
  const piece = Buffer.alloc(2 ** 20, 'x');
  response.writeHead(200, { 'content-length': 2 ** 30 });
  const write = (): void => {
    while (!response.destroyed && response.write(piece));
    if (!response.destroyed) response.once('drain', write);
  };
  write();
};

/** A body that goes on and on, a space at a time. */
export const slowBody: DoubleAnswer = (response) => {
  response.writeHead(200).write('{');
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
};

/** A body that ends before the length that was promised. */
export const cutBody: DoubleAnswer = (response) => {
  response.writeHead(200, { 'content-length': 999 }).write('{"choices"');
  setTimeout(() => response.destroy(), 10);
};
