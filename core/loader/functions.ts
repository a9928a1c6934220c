import type { Argspec, Context, Log } from '../author/context.ts'
import { type Fn, isFn } from '../author/fn.ts'
import { type Param, type Params, p } from '../author/params.ts'
import { SaltError } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { bind, nameOfKind, positionalNames } from './bind.ts'
import type { Namespace } from './import-file.ts'
import { hideSecrets } from './masking-log.ts'
import { isPrivate } from './names.ts'
import { collectRows, type RowTaker } from './rows.ts'
import { type Check, makeCheck } from './validate.ts'

/** A function ready to be called by users. */
export interface LoadedFunction {
  /** As it was asked for: `test.ping`. */
  readonly name: string
  readonly params: Params
  /** Outputter the module declares for it. */
  readonly outputter?: string
  /**
   * Turn the arguments of a call into the values of the parameters. `pub` is what the job says of itself:
   * `jid` reaches only a parameter that is declared as `__pub_jid`. Throws SaltError INVALID_ARGUMENTS or INVOCATION.
   */
  bind(
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    pub?: Readonly<Record<string, unknown>>,
  ): Record<string, unknown>
  /** The value of the call; of a function that yields, all it has yielded, unless it returns something itself. */
  run(args: Record<string, unknown>, context: Context, rows?: RowTaker): Promise<unknown>
}

/** Exports the loader reads itself unless `fn` made them. */
const conventions = new Set(['virtual', 'virtualName', 'virtualAliases', 'init', 'load'])
/** Of plain functions: what they take only they know. */
export const plainParams: Params = { args: p.rest(p.any()) }

/**
 * What a file offers to users, by the names it exports: what `fn` made, and plain functions; only those of `load`, if
 * that is there. Throws a sentence if `load` is not understood.
 */
export function listFunctions(namespace: Namespace): Map<string, Fn> {
  const functions = new Map<string, Fn>()
  for (const [name, value] of Object.entries(namespace)) {
    const found = conventions.has(name) && !isFn(value) ? undefined : asFunction(value)
    if (found && name !== 'default' && !isPrivate(name)) functions.set(name, found)
  }
  const { load } = namespace
  if (load === undefined || isFn(load)) return functions
  const loaded = readLoad(load, namespace)
  return new Map([...functions].filter(([name]) => loaded.has(name)))
}

/** Exported names that `load` lists: the functions themselves, or their names. */
function readLoad(load: unknown, namespace: Namespace): ReadonlySet<string> {
  if (!Array.isArray(load))
    throw new Error("load is not a list; write 'export const load = [ping, echo]' with functions of the file")
  const names = new Set<string>()
  for (const [index, item] of load.entries()) {
    const meant = Object.keys(namespace).filter((name) =>
      typeof item === 'string' ? name === item : namespace[name] === item && name !== 'default',
    )
    if (meant.length === 0) {
      const what = typeof item === 'string' ? `lists '${item}', which` : `has an item, load[${index}], that`
      throw new Error(
        `load ${what} the file does not export; write 'export const ping = fn(…)' for each function`,
      )
    }
    for (const name of meant) names.add(name)
  }
  return names
}

/** What `fn` made, or a plain function, which takes positional values as they are; undefined for anything else. */
export function asFunction(value: unknown): Fn | undefined {
  if (isFn(value)) return value
  if (typeof value !== 'function' || /^class\b/.test(Function.prototype.toString.call(value)))
    return undefined
  return { params: plainParams, run: ({ args }) => value(...(args as unknown[])) }
}

/** @param logName component that its log writes under, `loaded.int.module.test` */
export function makeLoaded(
  name: string,
  { params, run, returns }: Pick<Fn, 'params' | 'run' | 'returns'>,
  outputters?: unknown,
  logName?: string,
): LoadedFunction {
  const own = name.slice(name.indexOf('.') + 1)
  const outputter = outputterOf(outputters, own)
  let check: Check | undefined
  const fitting = returns ? resultCheck(name, returns) : (result: unknown) => result
  return {
    name,
    params,
    ...(outputter !== undefined && { outputter }),
    bind: (args, kwargs, pub) => {
      check ??= makeCheck(params)
      return bind({ name, args, kwargs, ...(pub && { pub }) }, params, check)
    },
    run: async (args, context, rows) => {
      hideSecrets(context.log, args, params)
      const own = logName === undefined ? context : withLogOf(context, logName)
      return fitting(await collectRows(await run(args, own), rows, context.signal))
    },
  }
}

/** Copy a context, getters and setters too, with the log of a component. */
function withLogOf(context: Context, name: string): Context {
  let own: Log | undefined
  const log = { get: () => (own ??= component(context.log, name)), enumerable: true }
  return Object.defineProperties({} as Context, { ...Object.getOwnPropertyDescriptors(context), log })
}

/** Refuses a result that is not what the function says it gives. */
function resultCheck(fun: string, returns: Param<unknown, 'value'>): (result: unknown) => unknown {
  const check = makeCheck({ result: returns })
  return (result) => {
    const missing = result === undefined || result === null
    if (missing && returns.optional) return result
    const wrong = check({ result: result ?? null })
    if (wrong === undefined) return result
    throw new SaltError('RESULT_INVALID', `${fun} does not give what it declares in returns: ${wrong}`, {
      fun,
    })
  }
}

/** `export const outputter = { list: 'txt' }`; a function of that name is one for users. */
function outputterOf(outputters: unknown, name: string): string | undefined {
  if (typeof outputters !== 'object' || outputters === null || isFn(outputters)) return undefined
  const found: unknown = Object.hasOwn(outputters, name) ? Reflect.get(outputters, name) : undefined
  return typeof found === 'string' ? found : undefined
}

/** Salt's description of a signature. */
export function argspecOf(params: Params): Argspec {
  const args = positionalNames(params)
  const firstOptional = args.findIndex((name) => params[name]?.optional)
  const trailing = firstOptional < 0 ? [] : args.slice(firstOptional)
  return {
    args: args.length > 0 ? args : null,
    defaults: trailing.length > 0 ? trailing.map((name) => params[name]?.default ?? null) : null,
    varargs: nameOfKind(params, 'rest') === undefined ? null : true,
    kwargs: nameOfKind(params, 'keywords') === undefined ? null : true,
  }
}
