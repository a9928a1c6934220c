/** Small functions that test the connection between master and minion, and show what a function receives. */
import { createHash, getHashes, randomInt } from 'node:crypto'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import {
  CommandExecutionError,
  CommandNotFoundError,
  type Context,
  fn,
  p,
  SaltInvocationError,
  untyped,
} from 'salt-ts'
import { masked } from './_config/mask.ts'
import { jobKwargs } from './_test/job.ts'
import { collatzSteps, fibonacci, timed } from './_test/numbers.ts'
import { readVersions, saltVersion, versionsText } from './_test/versions.ts'
import { pythonRepr, pythonTuple, pythonType } from './_values/python.ts'

const anything = { args: p.rest(p.any()), kwargs: p.keywords(p.any()) }

/**
 * Return true: the minion is up, signed in and runs jobs. This is not an ICMP ping.
 *
 * @example salt '*' test.ping
 */
export const ping = fn(() => true)

/**
 * Return a value unchanged.
 *
 * @example salt '*' test.echo 'foo bar baz quo qux'
 */
export const echo = fn({ text: p.any() }, ({ text }) => text)

/**
 * Sleep for `length` seconds, then return true. Wakes early when the job is killed.
 *
 * @example salt '*' test.sleep 20
 */
export const sleep = fn({ length: p.number({ minimum: 0 }) }, async ({ length }, { signal }) => {
  await setTimeout(length * 1000, undefined, { signal })
  return true
})

/**
 * Sleep for a random number of seconds, at most `max`, then return true.
 *
 * @example salt '*' test.rand_sleep 60
 */
export const rand_sleep = fn(
  { max: p.default(p.integer({ minimum: 0 }), 60) },
  async ({ max }, { signal }) => {
    await setTimeout(randomInt(max + 1) * 1000, undefined, { signal })
    return true
  },
)

/**
 * Return the version of the minion.
 *
 * @example salt '*' test.version
 */
export const version = fn(() => saltVersion)

/**
 * Return the versions of the minion, of its libraries and of its system, as a map.
 *
 * @example salt '*' test.versions_information
 */
export const versions_information = fn((_, { grains }) => readVersions(grains))

/**
 * Return the versions of the minion, of its libraries and of its system, as text.
 *
 * @example salt '*' test.versions_report
 */
export const versions_report = fn((_, { grains }) => versionsText(readVersions(grains)))

/**
 * Return the value of `test.foo` in the minion's configuration.
 *
 * @example salt '*' test.conf_test
 */
export const conf_test = fn((_, { call }) => call('config.option', ['test.foo']))

/**
 * Return the configuration of the minion. Values of keys that look like names of secrets are masked.
 *
 * @example salt '*' test.get_opts
 */
export const get_opts = fn((_, { opts }) => masked(opts))

/**
 * Return the configuration of the minion with its grains. Values of keys that look like names of secrets are masked.
 *
 * @example salt '*' test.opts_pkg
 */
export const opts_pkg = fn((_, { opts, grains }) => masked({ ...opts, grains }))

/**
 * Call another function from within this one.
 *
 * @example salt '*' test.cross_test 'test.echo' args='["hello"]'
 */
export const cross_test = fn(
  { func: p.string(), args: p.optional(p.array(p.any())) },
  ({ func, args }, { call }) => call(untyped(func), args ?? []),
)

/**
 * Return the keyword arguments, with the fields of the job as `__pub_*`.
 *
 * @example salt '*' test.kwarg num=1 txt="two" env='{a: 1, b: "every"}'
 */
export const kwarg = fn({ kwargs: p.keywords(p.any()) }, ({ kwargs }, context) => ({
  ...kwargs,
  ...jobKwargs(context),
}))

/**
 * Return all arguments: `args` by position, `kwargs` by name, with the fields of the job as `__pub_*`.
 *
 * @example salt '*' test.arg 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'
 */
export const arg = fn(anything, ({ args, kwargs }, context) => ({
  args,
  kwargs: { ...kwargs, ...jobKwargs(context) },
}))

/**
 * Return the types of all arguments, with their Python names.
 *
 * @example salt '*' test.arg_type 1 'int'
 */
export const arg_type = fn(anything, ({ args, kwargs }, context) => {
  const byName = Object.entries({ ...kwargs, ...jobKwargs(context) })
  return {
    args: args.map(pythonType),
    kwargs: Object.fromEntries(byName.map(([name, value]) => [name, pythonType(value)])),
  }
})

/**
 * Return all arguments as Python's `repr` writes them.
 *
 * @example salt '*' test.arg_repr 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'
 */
export const arg_repr = fn(anything, ({ args, kwargs }, context) => ({
  args: pythonTuple(args),
  kwargs: pythonRepr({ ...kwargs, ...jobKwargs(context) }),
}))

/**
 * Return all arguments as `test.arg` does, without the fields of the job (`__pub_*`) and other names that begin with `__`.
 *
 * @example salt '*' test.arg_clean 1 "two" 3.1 txt="hello" wow='{a: 1, b: "hello"}'
 */
export const arg_clean = fn(anything, ({ args, kwargs }) => ({
  args,
  kwargs: Object.fromEntries(Object.entries(kwargs).filter(([name]) => !name.startsWith('__'))),
}))

/**
 * Return the num-th Fibonacci number, and the seconds it took.
 *
 * @example salt '*' test.fib 3
 */
export const fib = fn({ num: p.integer({ minimum: 0, maximum: 92 }) }, ({ num }) =>
  timed(() => fibonacci(num)),
)

/**
 * Return the Collatz sequence from a number down to 1, and the seconds it took.
 *
 * @example salt '*' test.collatz 3
 */
export const collatz = fn({ start: p.integer({ minimum: 1, maximum: 1e9 }) }, ({ start }) =>
  timed(() => collatzSteps(start)),
)

/**
 * Return data unchanged, to see how an outputter displays it.
 *
 * @example salt '*' test.outputter foobar
 */
export const outputter = fn({ data: p.any() }, ({ data }) => data)

/**
 * Return true, but set this return code.
 *
 * @example salt '*' test.retcode 42
 */
export const retcode = fn({ code: p.default(p.integer(), 42) }, ({ code }, context) => {
  context.retcode = code
  return true
})

/**
 * Return the name of the file that provides a module, which may differ from the module's name.
 *
 * @example salt '*' test.provider service
 */
export const provider = fn({ module: p.string() }, async ({ module }, { loader }) => {
  const found = new Map(Object.entries(await loader.providers())).get(module)
  return found === undefined ? '' : fileName(found)
})

/**
 * Return the names of the files that provide the modules, by module.
 *
 * @example salt '*' test.providers
 */
export const providers = fn(async (_, { loader }) => {
  const files = Object.entries(await loader.providers())
  return Object.fromEntries(files.map(([name, file]) => [name, fileName(file)]))
})

/** `modules/test.ts` → `test`, `modules/test/index.ts` → `test` */
function fileName(file: string): string {
  const { name, dir } = path.parse(file)
  return name === 'index' ? path.basename(dir) : name
}

/**
 * List the module files that are not loaded: they declined to load, are disabled, or failed to load.
 *
 * @example salt '*' test.not_loaded
 */
export const not_loaded = fn(async (_, { loader }) =>
  Object.keys(await loader.failures())
    .map(fileName)
    .sort(),
)

/**
 * Return the hash of a random number below `size`, in hexadecimal; by default with the minion's `hash_type`.
 *
 * @example salt '*' test.random_hash
 * @example salt '*' test.random_hash hash_type=sha512
 */
export const random_hash = fn(
  { size: p.default(p.integer({ minimum: 1 }), 9_999_999_999), hash_type: p.optional(p.string()) },
  ({ size, hash_type }, { opts }) => {
    const type = hash_type ?? String(opts.hash_type ?? 'sha256')
    if (!getHashes().includes(type))
      throw new SaltInvocationError(`There is no hash type '${type}' on this minion`)
    return createHash(type)
      .update(String(randomInt(size)))
      .digest('hex')
  },
)

/**
 * Throw an error.
 *
 * @example salt '*' test.exception 'Oh noes!'
 */
export const exception = fn({ message: p.default(p.string(), 'Test Exception') }, ({ message }) => {
  throw new Error(message)
})

/**
 * Throw an error with this name. Its message consists of the arguments.
 *
 * @example salt '*' test.raise_exception TypeError "An unexpected keyword argument 'foo'"
 * @example salt '*' test.raise_exception salt.exceptions.CommandExecutionError "Something went wrong"
 */
export const raise_exception = fn(
  { name: p.string(), args: p.rest(p.any()), kwargs: p.keywords(p.any()) },
  ({ name, args }) => {
    const short = name.slice(name.lastIndexOf('.') + 1)
    const message = args.map(String).join(' ')
    const known = raisable.get(short)
    if (known) throw new known(message)
    throw namedError(short, message)
  },
)

/** Create an error whose name is also in its stack. */
function namedError(name: string, message: string): Error {
  const error = Object.assign(new Error(message), { name })
  return Object.assign(error, { stack: error.stack?.replace(/^Error/, name) })
}

const raisable = new Map<string, new (message: string) => Error>([
  ['CommandExecutionError', CommandExecutionError],
  ['CommandNotFoundError', CommandNotFoundError],
  ['SaltInvocationError', SaltInvocationError],
])

/**
 * Return the stack at this point.
 *
 * @example salt '*' test.stack
 */
export const stack = fn(() => new Error('stack').stack?.split('\n').slice(1).join('\n') ?? '')

/**
 * Moved to cmd.tty.
 *
 * @example salt '*' cmd.tty tty0 'This is a test'
 */
export const tty = fn(anything, () => 'ERROR: This function has been moved to cmd.tty')

/**
 * Run another function. If it fails, return null, or with `return_try_exception` the error's message.
 *
 * @example salt '*' test.try module=test.ping
 */
const attempt = fn(
  { module: p.string(), return_try_exception: p.default(p.boolean(), false), kwargs: p.keywords(p.any()) },
  async ({ module, return_try_exception, kwargs }, { call }) => {
    try {
      return await call(untyped(module), [], kwargs)
    } catch (error) {
      return return_try_exception ? String(error instanceof Error ? error.message : error) : null
    }
  },
)

/**
 * Fail unless the value is true.
 *
 * @example salt '*' test.assertion False
 */
export const assertion = fn({ assertion: p.any() }, ({ assertion: value }) => {
  if (isFalse(value)) throw namedError('AssertionError', `${pythonRepr(value)} is not true`)
  return null
})

/** Whether Python considers a value false. */
function isFalse(value: unknown): boolean {
  if (value instanceof Number) return value.valueOf() === 0
  if (value instanceof Map) return value.size === 0
  return !value || (typeof value === 'object' && Object.keys(value).length === 0)
}

/**
 * Return true.
 *
 * @example salt '*' test.true
 */
const yes = fn(() => true)

/**
 * Return false.
 *
 * @example salt '*' test.false
 */
const no = fn(() => false)

/**
 * Log a deprecation warning, and return true.
 *
 * @example salt '*' test.deprecation_warning
 */
export const deprecation_warning = fn((_, { log }) => {
  log.warn("This is a test deprecation warning: 'test.deprecation_warning' is here to stay.")
  return true
})

/**
 * Return the grains, through a call of another function.
 *
 * @example salt '*' test.attr_call
 */
export const attr_call = fn((_, { call }) => call('grains.items'))

/**
 * List all functions, and those among them that cannot be loaded.
 *
 * @example salt '*' test.module_report
 */
export const module_report = fn(async (_, { loader }: Context) => {
  const functions = await loader.functions()
  const checked = await Promise.all(functions.map(async (name) => ({ name, there: await loader.has(name) })))
  const there = checked.filter((entry) => entry.there).map(({ name }) => name)
  const missing = checked.filter((entry) => !entry.there).map(({ name }) => name)
  const modules = await loader.modules()
  return {
    functions,
    function_attrs: there,
    function_subs: there,
    modules,
    module_attrs: modules,
    missing_attrs: missing,
    missing_subs: missing,
  }
})

// `test.missing_func` is missing on purpose: calling it shows the error for an unknown function.
export { attempt as try, no as false, random_hash as rand_str, versions_report as versions, yes as true }
