import type { DoubleAnswer } from './http-double.ts';
import { drop, pour } from './loopback-service.ts';

/** A gigabyte, as fast as it is read. */
export const gigabyte: DoubleAnswer = (response) => {
  response.writeHead(200, { 'content-length': 2 ** 30 });
  pour(response, 2 ** 30);
};

/** A body that goes on and on, a space at a time. */
export const slowBody: DoubleAnswer = (response) => {
  response.writeHead(200).write('{');
  drop(response);
};

/** A body that ends before the length that was promised. */
export const cutBody: DoubleAnswer = (response) => {
  response.writeHead(200, { 'content-length': 999 }).write('{"choices"');
  setTimeout(() => response.destroy(), 10);
};
