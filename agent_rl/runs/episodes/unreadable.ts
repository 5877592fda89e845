/** Places of unreadable lines that are kept. */
export const mostUnreadable = 20;

/** Lines that cannot be used, each with its place; only the first are kept. */
export class Unreadable {
  readonly first: string[] = [];
  count = 0;

  add(text: string): void {
    this.count += 1;
    if (this.first.length < mostUnreadable) this.first.push(text);
  }

  facts(): { count: number; first: readonly string[] } {
    const { count, first } = this;
    return { count, first };
  }
}
