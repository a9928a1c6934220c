/** What templates may use. */

import type { WhiteSpace } from './syntax/lexer.ts'
import type { Format } from './syntax/nodes.ts'
import type { CallArguments, Given } from './values/objects.ts'

/** May be asynchronous. */
export type Filter = (value: unknown, given: CallArguments, environment: Environment) => unknown
export type Test = (
  value: unknown,
  given: CallArguments,
  environment: Environment,
) => boolean | Promise<boolean>

export interface Environment {
  readonly filters: ReadonlyMap<string, Filter>
  readonly tests: ReadonlyMap<string, Test>
  /** The names that each template sees, also one that is imported without its context. */
  readonly globals: ReadonlyMap<string, unknown>
  readonly whiteSpace: WhiteSpace
  /** A name that is not there gives an empty text, as with `allow_undefined`. */
  readonly allowsUndefined: boolean
  /** Return the text of another template; undefined if there is none. `from` is the name of the one that asks. */
  load(name: string, from: string | undefined): Promise<string | undefined>
  /** Parse what `load_yaml` and `import_json` give. */
  parseData(text: string, format: Format): unknown
  /** Call a function of Salt. @throws CalledFunctionError */
  callFunction(name: string, given: Given): Promise<unknown>
  readonly signal: AbortSignal
}
