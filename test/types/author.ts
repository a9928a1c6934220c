/**
 * What the author API must refuse at compile time. Checked by `tsc` (test/unit/author/types.test.ts): each line marked
 * `@ts-expect-error` has to be an error, everything else has to compile.
 */

import { type Context, engine, executor, fn, matcher, outputter, p, type Virtual } from 'salt-ts'
import { z } from 'zod'
import type { ArgumentsOf } from '../../core/author/calls.ts'

declare const context: Context

// A parameter has the type that was declared.
fn({ text: p.string() }, ({ text }) => text.toUpperCase())
// @ts-expect-error a string is no number
fn({ text: p.string() }, ({ text }) => text * 2)
// @ts-expect-error there is no such parameter
fn({ text: p.string() }, ({ txt }) => txt)

// What may be left out may be undefined; what has a default may not.
// @ts-expect-error may be undefined
fn({ times: p.optional(p.number()) }, ({ times }) => times + 1)
fn({ times: p.default(p.number(), 1) }, ({ times }) => times + 1)
// @ts-expect-error a default of another type
p.default(p.number(), 'one')
// @ts-expect-error not one of the words
p.default(p.enum('s', 'ms'), 'minutes')
fn({ unit: p.enum('s', 'ms') }, ({ unit }) => {
  // @ts-expect-error can never be that word
  return unit === 'h'
})

// Composite parameters.
fn({ names: p.array(p.string()) }, ({ names }) => names.map((name) => name.length))
// @ts-expect-error elements are strings
fn({ names: p.array(p.string()) }, ({ names }) => names.map((name) => name.toFixed()))
fn({ at: p.object({ x: p.number(), y: p.optional(p.number()) }) }, ({ at }) => at.x + (at.y ?? 0))
// @ts-expect-error a key that was not declared
fn({ at: p.object({ x: p.number() }) }, ({ at }) => at.z)
fn({ one: p.union(p.string(), p.number()) }, ({ one }) =>
  typeof one === 'string' ? one.trim() : one.toFixed(),
)
// @ts-expect-error may be a number
fn({ one: p.union(p.string(), p.number()) }, ({ one }) => one.trim())
// @ts-expect-error rest is a list, and no element of one
p.array(p.rest(p.string()))
// @ts-expect-error rest cannot be optional: it is empty when nothing is left
p.optional(p.rest(p.string()))
fn({ args: p.rest(p.number()), kwargs: p.keywords(p.any()) }, ({ args, kwargs }) => [args[0], kwargs.any])

// The context: what is read-only stays as it is; the exit code is for the function to set.
context.retcode = 1
// @ts-expect-error the grains are read-only
context.grains.os = 'other'
// @ts-expect-error the id is read-only
context.id = 'other'
// @ts-expect-error there is no such member
context.salt

// Plugins have their obligatory members.
outputter({ render: (value) => String(value) })
// @ts-expect-error an outputter renders
outputter({ print: (value: unknown) => String(value) })
// @ts-expect-error a verdict is no text
matcher({ match: () => 'yes' })
export const virtual: Virtual = ({ grains }) => grains.kernel === 'Linux' || 'needs Linux'
// @ts-expect-error no number decides
export const wrong: Virtual = () => 1

// An executor gets the call and the context of a function, and may give anything.
executor({ execute: ({ fun, args, run }, { signal }) => (signal.aborted ? [fun, ...args] : run()) })
executor({ execute: () => null, allowMissingFunc: (fun) => fun.startsWith('far.') })
// @ts-expect-error without execute it is none
executor({ allowMissingFunc: () => true })

// An engine gets its options as it declares them.
engine({
  options: { seconds: p.default(p.number(), 1) },
  async start({ options, events, signal }) {
    for await (const { tag } of events.listen()) await events.fire(tag, { seconds: options.seconds + 1 })
    signal.throwIfAborted()
  },
})
// @ts-expect-error there is no such option
engine({ options: { from: p.string() }, start: async ({ options }) => void options.form })

// Parameters that are converted have the type of the result; callers give what they are made of.
const at = fn(
  { at: p.date(), wait: p.duration(), data: p.bytes(), to: p.nullable(p.literal(5)) },
  (given) => {
    given.at.getTime()
    given.wait.toFixed()
    given.data.readUInt8(0)
    // @ts-expect-error may be null
    given.to.toFixed()
    return given.to
  },
)
export const calls: ArgumentsOf<typeof at>[] = [
  [{ at: '2026-01-31', wait: '5m', data: 'aGk=', to: null }],
  // @ts-expect-error callers write dates as text
  [{ at: new Date(), wait: 5, data: Buffer.alloc(0), to: 5 }],
]
p.refine(p.integer(), (n) => n % 2 === 0, 'must be even')
// @ts-expect-error the value is a number
p.refine(p.integer(), (n) => n.startsWith('x'), 'must be x')
// @ts-expect-error a default is written as callers write it
p.default(p.date(), new Date())

// Schemas that follow Standard Schema are declarations; what accepts undefined may be left out.
const port = z.object({ host: z.string(), port: z.number().default(80) })
const connect = fn({ to: port, times: z.number().optional() }, ({ to, times }) => {
  // @ts-expect-error may be left out
  times.toFixed()
  return `${to.host}:${to.port.toFixed()}`
})
export const given: ArgumentsOf<typeof connect> = [{ to: { host: 'x' } }]
// @ts-expect-error the host is a text
export const wrongly: ArgumentsOf<typeof connect> = [{ to: { host: 5 } }]
fn({}, () => ({ host: 'x', port: 80 }), { returns: port })
// @ts-expect-error the result has a host
fn({}, () => ({ port: 80 }), { returns: port })
p.array(port)
