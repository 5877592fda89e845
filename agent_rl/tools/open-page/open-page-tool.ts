import { type Static, Type } from '../../core/typebox.ts';
import { flag, integer, within } from '../../config/blocks/block.ts';
import { tool } from '../../core/plugins/tool.ts';
import type {
  Tool,
  ToolContext,
  ToolFace,
  ToolResult,
  ToolShared,
} from '../../core/plugins/tool.ts';
import { checkBudget, PageReader, WebFailure, webProperties } from '../../search/web/index.ts';
import { callName, failed, graceS } from '../web-call.ts';

const OpenPageParameters = Type.Object(
  { url: Type.String({ description: 'Address of the page, with http:// or https://' }) },
  { additionalProperties: false },
);

const OpenPageSettings = Type.Object({
  maxContentChars: integer(
    'Maximum characters of a page shown; the cut is marked',
    within(40, 100_000, 4000),
  ),
  allowHosts: Type.Array(Type.String({ minLength: 1 }), {
    default: [],
    description: 'Hosts, with or without a port, that are allowed to have private addresses',
  }),
  proxyChecksAddresses: flag(
    'Whether a proxy checks addresses. If true, host names that do not resolve on this machine are passed to the proxy',
    false,
  ),
  ...webProperties,
});
type OpenPageSettings = Static<typeof OpenPageSettings>;

type SharedReader = ToolShared & Pick<PageReader, 'read'>;

function configureOpenPage({ budget, deadlineS, maxContentChars }: OpenPageSettings) {
  checkBudget(budget);
  return { deadlineS: deadlineS + graceS, maxContentChars } satisfies Partial<ToolFace>;
}

/** Shows the readable text of a page on the public web. */
@tool({
  name: 'open_page',
  description: 'Open a web page and read its text.',
  parameters: OpenPageParameters,
  settings: OpenPageSettings,
  configure: (settings) => configureOpenPage(settings as OpenPageSettings),
  open: async (settings, { environment }) =>
    new PageReader({ settings: settings as OpenPageSettings, scope: 'open_page', environment }),
})
export class OpenPageTool implements Tool<typeof OpenPageParameters> {
  constructor(private readonly given: { shared: SharedReader; settings: OpenPageSettings }) {}

  async call(
    { url }: Static<typeof OpenPageParameters>,
    { random, signal }: ToolContext,
  ): Promise<ToolResult> {
    try {
      const page = await this.given.shared.read(url.trim(), callName(random), signal);
      const heading = page.title === '' ? '' : `# ${page.title}\n\n`;
      const content = `${heading}${page.text || '[no readable text]'}`;
      // As much as is shown, so that a trajectory does not hold whole pages.
      const text = page.text.slice(0, this.given.settings.maxContentChars);
      return { content, data: { url: page.url, title: page.title, text } };
    } catch (error) {
      if (!(error instanceof WebFailure)) throw error;
      return failed(`the page cannot be opened: ${error.message}`, { failure: error.kind });
    }
  }
}
