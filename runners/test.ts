/** Small functions to test that runners work. */

import { setTimeout } from 'node:timers/promises'
import { fn, p } from 'salt-ts'
import { masked } from '../modules/_config/mask.ts'

const anything = { args: p.rest(p.any()), kwargs: p.keywords(p.any()) }

/**
 * Return the arguments.
 *
 * @example salt-run test.arg 1 two three=3
 */
export const arg = fn(anything, ({ args, kwargs }) => ({ args, kwargs }))

/**
 * Return the arguments. Salt has the function under two names.
 *
 * @example salt-run test.raw_arg 1 two three=3
 */
export const raw_arg = fn(anything, ({ args, kwargs }) => ({ args, kwargs }))

/**
 * Wait, then return true.
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
 * Return metasyntactic names, as used in the US or the UK.
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
 * Run for 99 seconds and report the progress in an event every second.
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

/**
 * Return the configuration of the master. Values with names like those of secrets are masked.
 *
 * @example salt-run test.get_opts
 */
export const get_opts = fn((_, { opts }) => masked(opts))
