import type ts from '@typescript/typescript6'

/** Levels of members that are followed. */
const MAX_DEPTH = 6

/** Types of the standard library that are encoded as a whole. */
const LEAVES =
  /^(?:Date|Buffer|ArrayBuffer|SharedArrayBuffer|DataView|(?:Uint|Int|Float|BigInt|BigUint)\d+(?:Clamped)?Array|RegExp|\w*Error|String|Number|Boolean|BigInt)$/

/** Finds what the codec refuses (`core/codec/unencodable.ts`) in the types of results. What may be anything is accepted. */
export class ResultTypes {
  readonly #checker: ts.TypeChecker
  readonly #ts: typeof ts

  constructor(checker: ts.TypeChecker, typescript: typeof ts) {
    this.#checker = checker
    this.#ts = typescript
  }

  /** Return why the results of an exported function cannot be encoded: `return.a is a function`. */
  whyUnencodable(exported: ts.Symbol): string | undefined {
    const { SymbolFlags } = this.#ts
    const symbol = exported.flags & SymbolFlags.Alias ? this.#checker.getAliasedSymbol(exported) : exported
    const type = this.#checker.getTypeOfSymbol(symbol)
    const run = type.getProperty('params') && type.getProperty('run')
    const [signature] = (run ? this.#checker.getTypeOfSymbol(run) : type).getCallSignatures()
    if (!signature) return undefined
    for (const result of this.#settled(signature.getReturnType())) {
      const why = this.#reasonIn(result, 'return', [])
      if (why !== undefined) return why
    }
    return undefined
  }

  /** Return the types that a call gives: that of a promise, or of the rows and the end of a generator. */
  #settled(type: ts.Type): readonly ts.Type[] {
    if (/^(?:Async)?Generator$/.test(nameOf(type))) return this.#argumentsOf(type).slice(0, 2)
    return [this.#checker.getAwaitedType(type) ?? type]
  }

  #argumentsOf = (type: ts.Type): readonly ts.Type[] =>
    this.#checker.getTypeArguments(type as ts.TypeReference)

  #reasonIn(type: ts.Type, path: string, above: readonly ts.Type[]): string | undefined {
    const { TypeFlags } = this.#ts
    if (type.isUnion()) return first(type.types, (member) => this.#reasonIn(member, path, above))
    if (type.flags & TypeFlags.ESSymbolLike) return `${path} is a symbol`
    if (!(type.flags & (TypeFlags.Object | TypeFlags.Intersection))) return undefined
    if (type.getCallSignatures().length > 0 || type.getConstructSignatures().length > 0)
      return `${path} is a function`
    if (LEAVES.test(nameOf(type)) || above.includes(type) || above.length > MAX_DEPTH) return undefined
    return this.#inside(type, path, [...above, type])
  }

  #inside(type: ts.Type, path: string, above: readonly ts.Type[]): string | undefined {
    const name = nameOf(type)
    if (name === 'Promise') return `${path} is a promise; await it`
    const isList = this.#checker.isArrayType(type) || this.#checker.isTupleType(type)
    if (isList || /^(?:Readonly)?Set$/.test(name))
      return first(this.#argumentsOf(type), (item) => this.#reasonIn(item, `${path}[]`, above))
    if (/^(?:Readonly)?Map$/.test(name)) return this.#map(type, path, above)
    const toJson = type.getProperty('toJSON')
    const [shown] = toJson ? this.#checker.getTypeOfSymbol(toJson).getCallSignatures() : []
    if (shown) return this.#reasonIn(shown.getReturnType(), path, above)
    return this.#members(type, path, above)
  }

  #map(type: ts.Type, path: string, above: readonly ts.Type[]): string | undefined {
    const [key, value] = this.#argumentsOf(type)
    const isMap = key && key.flags & this.#ts.TypeFlags.Object && !LEAVES.test(nameOf(key))
    if (isMap) return `${path} has a key that is an array or a map`
    return value && this.#reasonIn(value, `${path}[…]`, above)
  }

  #members(type: ts.Type, path: string, above: readonly ts.Type[]): string | undefined {
    const values = [type.getStringIndexType(), type.getNumberIndexType()].filter((one) => one !== undefined)
    return (
      first(type.getProperties().filter(this.#isOwn), (member) =>
        this.#reasonIn(this.#checker.getTypeOfSymbol(member), `${path}.${member.getName()}`, above),
      ) ?? first(values, (value) => this.#reasonIn(value, `${path}[…]`, above))
    )
  }

  /** Whether a member is one of the object itself. The methods of a class belong to its prototype, and are not encoded. */
  #isOwn = ({ flags, declarations = [] }: ts.Symbol): boolean => {
    const { SymbolFlags } = this.#ts
    if (flags & SymbolFlags.Accessor) return false
    return (
      !(flags & SymbolFlags.Method) ||
      declarations.some(({ parent }) => this.#ts.isObjectLiteralExpression(parent))
    )
  }
}

const nameOf = (type: ts.Type): string => type.symbol?.getName() ?? ''

function first<T>(items: readonly T[], look: (item: T) => string | undefined): string | undefined {
  for (const item of items) {
    const why = look(item)
    if (why !== undefined) return why
  }
  return undefined
}
