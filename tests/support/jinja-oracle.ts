import { Worker } from 'node:worker_threads';

/** What Python made of a template: its text, or the error with its class. */
export type Rendering = { text: string } | { error: string };

/** A template and what it is given, as JSON text, so that 1.0 stays a float and keys keep their order. */
export interface RenderingCase {
  source: string;
  values: string;
}

export type JinjaOracle = Awaited<ReturnType<typeof jinjaOracle>>;

/** Jinja2 in Pyodide, set up as transformers does it; today is 2024-07-26. Takes about 2 seconds: start one for a test file. */
export async function jinjaOracle() {
  const thread = new Worker(new URL('../fixtures/jinja/oracle-thread.mjs', import.meta.url));
  let last: Promise<unknown> = Promise.resolve();
  const ask = (requests: readonly string[]) =>
    new Promise<readonly string[]>((resolve, reject) => {
      thread.removeAllListeners().once('message', resolve).once('error', reject);
      thread.postMessage(requests, []);
    });
  const renderAll = async (cases: readonly RenderingCase[]): Promise<readonly Rendering[]> => {
    const requests = cases.map(
      ({ source, values }) => `{"source":${JSON.stringify(source)},"values":${values}}`,
    );
    const answers = last.then(() => ask(requests));
    last = answers.catch(() => undefined);
    return (await answers).map((answer) => JSON.parse(answer) as Rendering);
  };
  await renderAll([]);
  return {
    renderAll,
    render: async (source: string, values = '{}'): Promise<Rendering> => {
      const [rendering] = await renderAll([{ source, values }]);
      if (rendering === undefined) throw new Error('The oracle answered nothing.');
      return rendering;
    },
    close: () => thread.terminate(),
  };
}
