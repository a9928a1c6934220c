/**
 * The values of templates are those of jobs (null, booleans, numbers, `Float`, bigints, texts, bytes, lists, plain objects and Maps),
 * tuples, and the functions and objects of the engine that are here. They behave as those of Python.
 */
import { pythonText, typeName } from '../../_values/python.ts'
import { Tuple } from '../../_values/tuple.ts'
import { UndefinedError } from '../errors.ts'

/** What a name that is not there gives. To use it is an error, but for the test `defined` and the filter `default`. */
export class Undefined {
  readonly message: string
  /** With `allow_undefined` it is an empty text, an empty list, and false. */
  readonly isAllowed: boolean

  constructor(message: string, isAllowed = false) {
    this.message = message
    this.isAllowed = isAllowed
  }

  /** @throws UndefinedError */
  use(): never {
    throw new UndefinedError(this.message)
  }

  /** What it is inside a list. */
  toString(): string {
    return 'Undefined'
  }
}

/** What `keys`, `values` and `items` of a map give: elements that are no list. */
export class View {
  readonly typeName: string
  readonly #read: () => readonly unknown[]
  readonly #shown: string | undefined

  constructor(typeName: string, read: () => readonly unknown[], shown?: string) {
    this.typeName = typeName
    this.#read = read
    this.#shown = shown
  }

  /** The elements as they are now. */
  get items(): readonly unknown[] {
    return this.#read()
  }

  toString(): string {
    return this.#shown ?? `${this.typeName}(${pythonText(this.items)})`
  }
}

/** What `range` gives: unlike other views it has elements by index. */
export class Range extends View {
  constructor(items: readonly unknown[], shown: string) {
    super('range', () => items, shown)
  }
}

/** What `groupby` gives: a tuple of which the parts have names. */
export class Group extends Tuple {
  get grouper(): unknown {
    return this[0]
  }

  get list(): unknown {
    return this[1]
  }
}

/** What a call gives to a function. */
export interface Given {
  readonly args: readonly unknown[]
  readonly kwargs: ReadonlyMap<string, unknown>
}

export const nothingGiven: Given = { args: [], kwargs: new Map() }

/** The arguments of a call, and the name of the function, filter or test that gets them. */
export interface CallArguments extends Given {
  readonly name: string
}

/** A function: a macro, a method, one of the engine, or one of Salt. May be asynchronous. */
export class Callable {
  readonly name: string
  readonly #run: (given: CallArguments) => unknown
  /** Its attributes, such as `name` of a macro. */
  readonly members: Readonly<Record<string, unknown>>
  readonly #text: string

  constructor(
    name: string,
    run: (given: CallArguments) => unknown,
    {
      members = {},
      text = `<function ${name}>`,
    }: { readonly members?: Readonly<Record<string, unknown>>; readonly text?: string } = {},
  ) {
    this.name = name
    this.#run = run
    this.members = members
    this.#text = text
  }

  call(given: Given): unknown {
    return this.#run({ ...given, name: this.name })
  }

  toString(): string {
    return this.#text
  }
}

/** What an object with members of its own consists of. */
export interface HostParts {
  /** What its type is called in messages. */
  readonly typeName: string
  /** May be asynchronous. */
  member(name: string): unknown
  /** Change a member; only namespaces allow that. */
  assign?(name: string, value: unknown): void
  /** What `in` asks. */
  has?(name: string): boolean | Promise<boolean>
  /** What a call of it gives. */
  invoke?(given: CallArguments): unknown
  /** What it is as text. */
  text?(): string
}

/** An object with members of its own, such as `loop`, a namespace, or `salt`. */
export class HostObject {
  readonly parts: HostParts

  constructor(parts: HostParts) {
    this.parts = parts
  }

  toString(): string {
    return this.parts.text?.() ?? `<${this.parts.typeName}>`
  }
}

/** What Python calls the type of a value. */
export function typeOf(value: unknown): string {
  if (value instanceof Tuple) return 'tuple'
  if (value instanceof Callable) return 'function'
  if (value instanceof View) return value.typeName
  if (value instanceof HostObject) return value.parts.typeName
  return typeName(value)
}
