/** What a template is parsed to. */
export type Expression =
  | { kind: 'constant'; value: null | boolean | bigint | number | string }
  | { kind: 'name'; name: string }
  | { kind: 'list' | 'tuple' | 'concat'; items: readonly Expression[] }
  | { kind: 'dict'; entries: readonly (readonly [Expression, Expression])[] }
  | { kind: 'choice'; test: Expression; yes: Expression; no?: Expression }
  | { kind: 'and' | 'or'; left: Expression; right: Expression }
  | { kind: 'not' | 'minus' | 'plus'; of: Expression }
  | { kind: 'arithmetic'; operator: Arithmetic; left: Expression; right: Expression }
  | {
      kind: 'compare';
      first: Expression;
      rest: readonly (readonly [Comparison, Expression])[];
    }
  | { kind: 'attribute'; of: Expression; name: string }
  | { kind: 'item'; of: Expression; index: Expression }
  | { kind: 'slice'; of: Expression; bounds: readonly (Expression | undefined)[] }
  | { kind: 'call'; callee: Expression; args: Arguments }
  | (Application & { kind: 'filter' | 'test'; of: Expression });

/** A filter or test with its arguments. */
export interface Application {
  name: string;
  args: Arguments;
  line: number;
}

export type Arithmetic = '+' | '-' | '*' | '/' | '//' | '%' | '**';
export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';

export interface Arguments {
  positional: readonly Expression[];
  keywords: readonly (readonly [string, Expression])[];
  /** `*list` */
  rest?: Expression;
  /** `**dict` */
  keywordRest?: Expression;
}

/** A filter that the text of a block goes through. */
export type BlockFilter = Application & { kind: 'filter' };

/** What a value is assigned to. */
export type Target =
  | { kind: 'name'; name: string }
  | { kind: 'tuple'; items: readonly Target[] }
  | { kind: 'member'; namespace: string; name: string };

export interface Parameter {
  name: string;
  byDefault?: Expression;
}

export type Block = readonly Statement[];

export type Statement =
  | { kind: 'text'; text: string }
  | { kind: 'output'; value: Expression }
  | { kind: 'if'; branches: readonly { test: Expression; body: Block }[]; otherwise: Block }
  | For
  | { kind: 'set'; target: Target; value: Expression }
  | { kind: 'set block'; target: Target; filters: readonly BlockFilter[]; body: Block }
  | Macro
  | { kind: 'call block'; call: Expression & { kind: 'call' }; macro: Macro }
  | { kind: 'filter block'; filters: readonly BlockFilter[]; body: Block }
  | { kind: 'with'; values: readonly (readonly [Target, Expression])[]; body: Block }
  | { kind: 'break' | 'continue' };

export interface For {
  kind: 'for';
  target: Target;
  over: Expression;
  test?: Expression;
  body: Block;
  otherwise: Block;
}

export interface Macro {
  kind: 'macro';
  name: string;
  parameters: readonly Parameter[];
  body: Block;
}
