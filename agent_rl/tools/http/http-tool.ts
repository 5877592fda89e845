import { Type } from '../../core/typebox.ts';
import { messageOf } from '../../core/errors.ts';
import { tool } from '../../core/plugins/tool.ts';
import type { Tool, ToolContext, ToolResult } from '../../core/plugins/tool.ts';
import { WebFailure, type WebRequest } from '../../search/web/index.ts';
import { callName, failed } from '../web-call.ts';
import { configureHttp } from './configure-http.ts';
import { type Arguments, fillJson, fillUrl, withQuery } from './fill-template.ts';
import { openHttp, type SharedHttp } from './open-http.ts';
import { HttpSettings } from './settings.ts';

/** Asks a server over HTTP: name, parameters and request are described in YAML alone. */
@tool({
  name: 'http',
  description: 'Ask a server over HTTP, as its settings in the run file describe.',
  parameters: Type.Object({}, { additionalProperties: false }),
  settings: HttpSettings,
  configure: (settings) => configureHttp(settings as HttpSettings),
  open: (settings, host) => openHttp(settings as HttpSettings, host),
})
export class HttpTool implements Tool {
  constructor(private readonly given: { shared: SharedHttp; settings: HttpSettings }) {}

  async call(args: unknown, { random, signal }: ToolContext): Promise<ToolResult> {
    let request: WebRequest;
    try {
      request = this.#request(args as Arguments);
    } catch (error) {
      return { content: `Error: ${messageOf(error)}.`, isError: true };
    }
    try {
      const { status, text } = await this.given.shared.ask(request, callName(random), signal);
      if (status < 300) return { content: text === '' ? '[no content]' : text, data: { status } };
      const said = text.slice(0, 300);
      const content = `Error: the server answers ${status}${said === '' ? '.' : `: ${said}`}`;
      return { content, isError: true, data: { status } };
    } catch (error) {
      if (!(error instanceof WebFailure)) throw error;
      return failed(`the request failed: ${error.message}`, { failure: error.kind });
    }
  }

  /** @throws Error for values that have no place in a URL. */
  #request(values: Arguments): WebRequest {
    const { url, method, query, body } = this.given.settings;
    const target = withQuery(fillUrl(url, values), query, values);
    if (body === undefined) return { url: target, method };
    return { url: target, method, body: JSON.stringify(fillJson(body, values)) };
  }
}
