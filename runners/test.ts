/** Small functions that prove that runners run. */
import { setTimeout } from 'node:timers/promises'
import { fn, p } from 'salt-ts'

const anything = { args: p.rest(p.any()), kwargs: p.keywords(p.any()) }

/**
 * The arguments as they arrived.
 *
 * @example salt-run test.arg 1 two three=3
 */
export const arg = fn(anything, ({ args, kwargs }) => ({ args, kwargs }))

/**
 * The same; Salt has it under two names.
 *
 * @example salt-run test.raw_arg 1 two three=3
 */
export const raw_arg = fn(anything, ({ args, kwargs }) => ({ args, kwargs }))

/**
 * Wait, and answer true.
 *
 * @example salt-run test.sleep 2
 */
export const sleep = fn(
  { s_time: p.default(p.number({ minimum: 0 }), 10) },
  async ({ s_time }, { signal }) => {
    await setTimeout(s_time * 1000, undefined, { signal })
    return true
  },
)

const words = {
  us: 'foo bar baz qux quux quuz corge grault garply waldo fred plugh xyzzy thud',
  uk: 'wibble wobble wubble flob',
}

/**
 * Names for things that need none, as used in the US or the UK.
 *
 * @example salt-run test.metasyntactic locality=uk
 */
export const metasyntactic = fn({ locality: p.default(p.string(), 'us') }, ({ locality }) =>
  locality === 'us' || locality === 'uk' ? words[locality].split(' ') : null,
)

/**
 * Print `foo` and return `bar`.
 *
 * @example salt-run test.stdout_print
 */
export const stdout_print = fn(() => {
  process.stdout.write('foo\n')
  return 'bar'
})

/**
 * Work for 99 seconds and tell of the progress in an event every second.
 *
 * @example salt-run test.stream
 */
export const stream = fn(async (_, { master, signal }) => {
  for (let percent = 1; percent < 100; percent++) {
    await master.progress({ message: `Runner is ${percent}% done` })
    await setTimeout(1000, undefined, { signal })
  }
  return true
})

const SECRET = /pass(word|wd|phrase)?$|secret|token$|_key$|credentials?$/i

/**
 * The configuration of the master; values named like secrets are masked.
 *
 * @example salt-run test.get_opts
 */
export const get_opts = fn((_, { opts }) =>
  Object.fromEntries(
    Object.entries(opts).map(([key, value]) => [
      key,
      SECRET.test(key) && typeof value === 'string' && value !== '' ? '**********' : value,
    ]),
  ),
)
