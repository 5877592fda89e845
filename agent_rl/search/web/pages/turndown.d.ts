/** What is used of turndown, which brings no types. */
declare module 'turndown' {
  export default class Turndown {
    constructor(options?: { readonly headingStyle?: 'atx'; readonly codeBlockStyle?: 'fenced' });
    /** Markdown of a DOM node or of HTML. */
    turndown(input: object | string): string;
  }
}
