import { request } from 'node:http';

import { expect } from '@jest/globals';

/** Headers of what a web page can send to a server of this machine, by what they are. */
const foreign = {
  'under a name that is rebound to this machine': { host: 'evil.example' },
  'from a page of another site': { origin: 'http://evil.example' },
  'from a page of another port': { origin: 'http://127.0.0.1:1' },
  'from a page without an origin': { origin: 'null' },
  'without the mode of a page of its own': { 'sec-fetch-site': 'cross-site' },
};

const statusOf = (url: string, method: string, headers: Readonly<Record<string, string>>) =>
  new Promise<{ status: number; text: string }>((resolve, reject) => {
    const sent = request(url, { method, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    sent.on('error', reject).end();
  });

/** Expects a server on a loopback address to refuse all of them, the key notwithstanding, and to answer its own names. */
export async function expectStrangersRefused(
  url: string,
  {
    requests,
    answered,
    headers = {},
  }: {
    /** One of each path. */
    requests: readonly (readonly [method: string, path: string])[];
    /** A path that GET answers. */
    answered: string;
    headers?: Readonly<Record<string, string>>;
  },
): Promise<void> {
  for (const [how, stranger] of Object.entries(foreign))
    for (const [method, path] of requests) {
      const { status, text } = await statusOf(url + path, method, { ...headers, ...stranger });
      expect({ how, method, path, status, text }).toMatchObject({
        status: 403,
        text: expect.stringMatching(/does not answer to the name|from other web sites/),
      });
    }
  for (const host of ['127.0.0.1', 'localhost:1', '[::1]:7']) {
    const { status } = await statusOf(url + answered, 'GET', { ...headers, host });
    expect([host, status]).toEqual([host, 200]);
  }
}
