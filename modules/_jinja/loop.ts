import { TemplateError } from './errors.ts'
import { bind, REQUIRED } from './values/arguments.ts'
import { isEqual } from './values/dicts.ts'
import { type CallArguments, Callable, HostObject, Undefined } from './values/objects.ts'

/** The variable `loop`. */
export class Loop {
  readonly object: unknown
  readonly #items: readonly unknown[]
  readonly #depth: number
  #at = 0
  #last: readonly unknown[] | undefined

  constructor(
    items: readonly unknown[],
    depth: number,
    again: ((over: unknown) => Promise<string>) | undefined,
  ) {
    this.#items = items
    this.#depth = depth
    this.object = new HostObject({
      typeName: 'LoopContext',
      member: (name) => this.#member(name),
      text: () => `<LoopContext ${this.#at + 1}/${items.length}>`,
      invoke(given: CallArguments) {
        if (!again)
          throw new TemplateError("The loop must have the 'recursive' marker to be called recursively.")
        return again(bind({ over: REQUIRED }, given).over)
      },
    })
  }

  /** Go on to the next element. */
  next(): void {
    this.#at++
  }

  #member(name: string): unknown {
    const { length } = this.#items
    const at = this.#at
    switch (name) {
      case 'index':
        return at + 1
      case 'index0':
        return at
      case 'revindex':
        return length - at
      case 'revindex0':
        return length - at - 1
      case 'first':
        return at === 0
      case 'last':
        return at === length - 1
      case 'length':
        return length
      case 'depth':
        return this.#depth + 1
      case 'depth0':
        return this.#depth
      case 'previtem':
        return at > 0 ? this.#items[at - 1] : new Undefined('there is no previous item')
      case 'nextitem':
        return at < length - 1 ? this.#items[at + 1] : new Undefined('there is no next item')
      case 'cycle':
        return new Callable('cycle', ({ args }) => this.#cycle(args))
      case 'changed':
        return new Callable('changed', ({ args }) => this.#changed(args))
    }
    return undefined
  }

  #cycle(args: readonly unknown[]): unknown {
    if (args.length === 0) throw new TemplateError('no items for cycling given')
    return args[this.#at % args.length]
  }

  #changed(args: readonly unknown[]): boolean {
    const isSame = this.#last !== undefined && isEqual(this.#last, args)
    this.#last = args
    return !isSame
  }
}
