import type { Argspec, Context, Log } from '../author/context.ts'
import { type Fn, isFn } from '../author/fn.ts'
import { type Param, type Params, p } from '../author/params.ts'
import { SaltError } from '../base/errors.ts'
import { component } from '../log/component.ts'
import { bind, invalid, nameOfKind, positionalNames } from './calls/bind.ts'
import { convertedValues } from './calls/converted-values.ts'
import { hideSecrets } from './calls/masking-log.ts'
import { withTexts } from './calls/result-texts.ts'
import { collectRows, type RowSink } from './calls/rows.ts'
import { type Check, makeCheck } from './calls/validate.ts'
import type { Namespace } from './files/import-file.ts'
import { isPrivate } from './names.ts'

/** A function ready to be called. */
export interface LoadedFunction {
  /** The name it was requested by: `test.ping`. */
  readonly name: string
  readonly params: Params
  /** The declared result, if any. */
  readonly returns?: Param<unknown, 'value'>
  /** The outputter that the module declares for it. */
  readonly outputter?: string
  /**
   * Convert the arguments of a call to the values of the parameters. `pub` holds facts about the job: `jid` is passed only to
   * a parameter that is declared as `__pub_jid`. Throws SaltError INVALID_ARGUMENTS or INVOCATION.
   */
  bind(
    args: readonly unknown[],
    kwargs: Readonly<Record<string, unknown>>,
    pub?: Readonly<Record<string, unknown>>,
  ): Record<string, unknown>
  /** Run the function. For a generator that returns nothing, resolves with the list of the values it yielded. */
  run(args: Record<string, unknown>, context: Context, rows?: RowSink): Promise<unknown>
}

/** Exports that the loader reads, unless `fn` made them. */
const conventions = new Set(['virtual', 'virtualName', 'virtualAliases', 'init', 'load'])
/** Parameters of plain functions, which do not declare any. */
export const plainParams: Params = { args: p.rest(p.any()) }

/**
 * Return the functions of a file by the names it exports: those made by `fn`, and plain functions. If the file exports
 * `load`, only those it lists. Throws an error with a sentence if `load` is malformed.
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

/** Return the exported names that `load` lists, by the functions themselves or by their names. */
function readLoad(load: unknown, namespace: Namespace): ReadonlySet<string> {
  if (!Array.isArray(load))
    throw new Error("load is not a list; write 'export const load = [ping, echo]' with functions of the file")
  const names = new Set<string>()
  for (const [index, item] of load.entries()) {
    const listed = Object.keys(namespace).filter((name) =>
      typeof item === 'string' ? name === item : namespace[name] === item && name !== 'default',
    )
    if (listed.length === 0) {
      const what = typeof item === 'string' ? `lists '${item}', which` : `has an item, load[${index}], that`
      throw new Error(
        `load ${what} the file does not export; write 'export const ping = fn(…)' for each function`,
      )
    }
    for (const name of listed) names.add(name)
  }
  return names
}

/**
 * Return a function made by `fn`, or wrap a plain one, which takes positional values as they are; undefined for other
 * values.
 */
export function asFunction(value: unknown): Fn | undefined {
  if (isFn(value)) return value
  if (typeof value !== 'function' || /^class\b/.test(Function.prototype.toString.call(value)))
    return undefined
  return { params: plainParams, run: ({ args }) => value(...(args as unknown[])) }
}

/**
 * Make a function ready to be called.
 * @param logName the component of its log: `loaded.int.module.test`
 */
export function makeLoaded(
  name: string,
  { params, run, returns }: Pick<Fn, 'params' | 'run' | 'returns'>,
  outputters?: unknown,
  logName?: string,
): LoadedFunction {
  const own = name.slice(name.indexOf('.') + 1)
  const outputter = outputterOf(outputters, own)
  let check: Check | undefined
  const fitting = returns ? resultCheck(name, returns) : async (result: unknown) => result
  return {
    name,
    params,
    ...(returns && { returns }),
    ...(outputter !== undefined && { outputter }),
    bind: (args, kwargs, pub) => {
      check ??= makeCheck(params)
      return bind({ name, args, kwargs, ...(pub && { pub }) }, params, check)
    },
    run: async (args, context, rows) => {
      hideSecrets(context.log, args, params)
      const own = logName === undefined ? context : withLogOf(context, logName)
      const values = await convertedValues(args, params, (_, wrong) => invalid({ name }, wrong))
      return fitting(await collectRows(await run(values, own), rows, context.signal))
    },
  }
}

/** Copy a context, with its getters and setters, and give it the log of a component. */
function withLogOf(context: Context, name: string): Context {
  let own: Log | undefined
  const log = { get: () => (own ??= component(context.log, name)), enumerable: true }
  return Object.defineProperties({} as Context, { ...Object.getOwnPropertyDescriptors(context), log })
}

/** Return a check that rejects for a result that differs from the declared one. */
function resultCheck(fun: string, returns: Param<unknown, 'value'>): (result: unknown) => Promise<unknown> {
  const params = { result: returns }
  const check = makeCheck(params)
  const invalidResult = (wrong: string) =>
    new SaltError('RESULT_INVALID', `The result of ${fun} is not what it declares in 'returns': ${wrong}`, {
      fun,
    })
  return async (result) => {
    const missing = result === undefined || result === null
    if (missing && returns.optional) return result
    const values = { result: returns.convert ? withTexts(result ?? null, returns.schema) : (result ?? null) }
    const wrong = check(values)
    if (wrong !== undefined) throw invalidResult(wrong)
    await convertedValues(values, params, (_, wrong) => invalidResult(wrong))
    return result
  }
}

/**
 * Read the outputter of a function: `export const outputter = { list: 'txt' }`. An export made by `fn` is a function
 * for users instead.
 */
function outputterOf(outputters: unknown, name: string): string | undefined {
  if (typeof outputters !== 'object' || outputters === null || isFn(outputters)) return undefined
  const found: unknown = Object.hasOwn(outputters, name) ? Reflect.get(outputters, name) : undefined
  return typeof found === 'string' ? found : undefined
}

/** Return a signature in Salt's form. */
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
