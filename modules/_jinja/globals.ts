/** The functions that each template may call. */
import { TemplateError } from './errors.ts'
import { bind, REQUIRED } from './values/arguments.ts'
import { setKey } from './values/dicts.ts'
import { mapOfKeys, pairs } from './values/methods.ts'
import { integer } from './values/numbers.ts'
import { type CallArguments, Callable, HostObject, Range } from './values/objects.ts'
import { text } from './values/text.ts'

/** A longer range is refused, as in Jinja's sandbox. */
const MAX_RANGE = 100_000

const functions: Readonly<Record<string, (given: CallArguments) => unknown>> = {
  range,
  dict: toMap,
  odict: toMap,
  cycler,
  joiner(given) {
    const { sep } = bind({ sep: ', ' }, given)
    let isUsed = false
    return new Callable('joiner', () => {
      const between = isUsed ? sep : ''
      isUsed = true
      return between
    })
  },
  namespace,
  raise(given) {
    throw new TemplateError(text(bind({ msg: REQUIRED }, given).msg))
  },
}

const members: Readonly<Record<string, Record<string, unknown>>> = {
  dict: { fromkeys: new Callable('fromkeys', mapOfKeys) },
}

export const globals: ReadonlyMap<string, unknown> = new Map(
  Object.entries(functions).map(([name, run]) => [
    name,
    new Callable(name, run, { members: members[name] ?? {} }),
  ]),
)

function range({ args }: CallArguments): Range {
  const [first = 0, second, step = 1] = args.map(integer)
  if (args.length === 0 || args.length > 3) throw new TemplateError('range takes 1 to 3 numbers')
  if (step === 0) throw new TemplateError('range() arg 3 must not be zero')
  const [start, stop] = second === undefined ? [0, first] : [first, second]
  const length = Math.max(Math.ceil((stop - start) / step), 0)
  if (length > MAX_RANGE)
    throw new TemplateError(`Range too big. The sandbox blocks ranges larger than MAX_RANGE (${MAX_RANGE}).`)
  const all = Array.from({ length }, (_, at) => start + at * step)
  return new Range(all, `range(${start}, ${stop}${step === 1 ? '' : `, ${step}`})`)
}

function toMap({ args, kwargs }: CallArguments): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>()
  for (const other of args) for (const [key, value] of pairs(other)) setKey(map, key, value)
  for (const [key, value] of kwargs) map.set(key, value)
  return map
}

function cycler({ args }: CallArguments): unknown {
  if (args.length === 0) throw new TemplateError('at least one item has to be provided')
  let at = 0
  return new HostObject({
    typeName: 'Cycler',
    member(name) {
      if (name === 'current') return args[at]
      if (name === 'next') return new Callable('next', () => args[at++ % args.length] ?? null)
      if (name !== 'reset') return undefined
      return new Callable('reset', () => {
        at = 0
        return null
      })
    },
  })
}

function namespace(given: CallArguments): unknown {
  const values = toMap(given)
  return new HostObject({
    typeName: 'namespace',
    member: (name) => values.get(name),
    assign: (name, value) => values.set(name, value),
    text: () => `<Namespace ${text(values)}>`,
  })
}
