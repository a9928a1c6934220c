/**
 * What the author API must refuse at compile time. Checked by `tsc` (test/unit/author/types.test.ts): each line marked
 * `@ts-expect-error` has to be an error, everything else has to compile.
 */
import { type Context, engine, executor, fn, matcher, outputter, p, type Virtual } from 'salt-ts'

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
