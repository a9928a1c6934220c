/** The tree of a template. */

export type Expression =
  | { readonly type: 'constant'; readonly value: unknown }
  | { readonly type: 'name'; readonly name: string }
  | { readonly type: 'list' | 'tuple'; readonly items: readonly Expression[] }
  | { readonly type: 'dict'; readonly pairs: readonly (readonly [Expression, Expression])[] }
  | { readonly type: 'getattr'; readonly of: Expression; readonly name: string }
  | { readonly type: 'getitem'; readonly of: Expression; readonly key: Expression }
  | { readonly type: 'slice'; readonly of: Expression; readonly bounds: readonly (Expression | undefined)[] }
  | { readonly type: 'call'; readonly of: Expression; readonly given: Arguments }
  /** Without `of` it is that of a `{% filter %}` block. */
  | { readonly type: 'filter'; readonly of?: Expression; readonly name: string; readonly given: Arguments }
  | { readonly type: 'test'; readonly of: Expression; readonly name: string; readonly given: Arguments }
  | { readonly type: 'unary'; readonly operator: '-' | '+' | 'not'; readonly of: Expression }
  | {
      readonly type: 'binary'
      readonly operator: BinaryOperator
      readonly left: Expression
      readonly right: Expression
    }
  | { readonly type: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'compare'; readonly first: Expression; readonly others: readonly Comparison[] }
  | {
      readonly type: 'conditional'
      readonly test: Expression
      readonly then: Expression
      readonly else?: Expression
    }

export type ExpressionOf<T extends Expression['type']> = Extract<Expression, { readonly type: T }>
export type StatementOf<T extends Statement['type']> = Extract<Statement, { readonly type: T }>

export type BinaryOperator = '+' | '-' | '*' | '/' | '//' | '%' | '**' | '~'
export type ComparisonOperator = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in'

export interface Comparison {
  readonly operator: ComparisonOperator
  readonly with: Expression
}

export interface Arguments {
  readonly positional: readonly Expression[]
  readonly keywords: readonly (readonly [string, Expression])[]
  /** Those of `*list` and `**map`. */
  readonly list?: Expression
  readonly map?: Expression
}

/** What a value is assigned to: names, an attribute of a namespace, or several of them in order. */
export type Target =
  | { readonly type: 'target'; readonly name: string }
  | { readonly type: 'member'; readonly of: string; readonly name: string }
  | { readonly type: 'tuple'; readonly items: readonly Target[] }

export interface Parameter {
  readonly type: 'parameter'
  readonly name: string
  readonly fallback?: Expression
}

/** Which of the names that Jinja gives to a macro it takes: all others of its arguments, and what a call block gives. */
export interface Taken {
  readonly varargs: boolean
  readonly kwargs: boolean
  readonly caller: boolean
}

export type Statement = { readonly line: number } & (
  | { readonly type: 'data'; readonly text: string }
  | { readonly type: 'print'; readonly value: Expression }
  | { readonly type: 'do'; readonly value: Expression }
  | {
      readonly type: 'for'
      readonly target: Target
      readonly over: Expression
      readonly condition?: Expression
      readonly isRecursive: boolean
      readonly body: readonly Statement[]
      readonly otherwise: readonly Statement[]
    }
  | { readonly type: 'break' | 'continue' }
  | {
      readonly type: 'if'
      readonly branches: readonly { readonly test: Expression; readonly body: readonly Statement[] }[]
      readonly otherwise: readonly Statement[]
    }
  | { readonly type: 'set'; readonly target: Target; readonly value: Expression }
  | {
      readonly type: 'set block'
      readonly target: Target
      readonly filters: Expression | undefined
      readonly body: readonly Statement[]
    }
  | {
      readonly type: 'with'
      readonly values: readonly (readonly [Target, Expression])[]
      readonly body: readonly Statement[]
    }
  | {
      readonly type: 'macro'
      readonly name: string
      readonly parameters: readonly Parameter[]
      readonly takes: Taken
      readonly body: readonly Statement[]
    }
  | {
      readonly type: 'call block'
      readonly call: ExpressionOf<'call'>
      readonly parameters: readonly Parameter[]
      readonly takes: Taken
      readonly body: readonly Statement[]
    }
  | { readonly type: 'filter block'; readonly filters: Expression; readonly body: readonly Statement[] }
  | { readonly type: 'body'; readonly body: readonly Statement[] }
  | {
      readonly type: 'include'
      readonly template: Expression
      readonly isOptional: boolean
      readonly withContext: boolean
    }
  | {
      readonly type: 'import'
      readonly template: Expression
      readonly name: string
      readonly withContext: boolean
    }
  | {
      readonly type: 'from'
      readonly template: Expression
      readonly names: readonly (readonly [name: string, as: string])[]
      readonly withContext: boolean
    }
  | { readonly type: 'extends'; readonly template: Expression }
  | {
      readonly type: 'block'
      readonly name: string
      /** It sees the names of the place where it is, not only those of the template. */
      readonly isScoped: boolean
      readonly body: readonly Statement[]
    }
  /** `load_yaml`, `load_json` and `load_text`: parse what the body gives. */
  | {
      readonly type: 'load'
      readonly format: Format
      readonly name: string
      readonly body: readonly Statement[]
    }
  /** `import_yaml`, `import_json` and `import_text`: parse what another template gives. */
  | {
      readonly type: 'import data'
      readonly format: Format
      readonly template: Expression
      readonly name: string
    }
)

export type Format = 'yaml' | 'json' | 'text'

export interface Template {
  readonly name: string | undefined
  readonly body: readonly Statement[]
  readonly blocks: ReadonlyMap<string, readonly Statement[]>
}
