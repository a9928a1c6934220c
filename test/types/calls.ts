/** What typed calls and declared results must refuse. As author.ts: lines after `@ts-expect-error` have to be errors. */
import { type Context, fn, p, type Result, type ResultOf, untyped } from 'salt-ts'

declare const context: Context
/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
declare function same<A, B>(yes: Same<A, B>): void

// A function keeps the type of what it gives.
export const ping = fn(() => true)
same<ResultOf<typeof ping>, boolean>(true)
export const greet = fn(
  { name: p.string(), times: p.default(p.integer(), 1), title: p.optional(p.secret(p.string())) },
  async ({ name, times }) => Array.from({ length: times }, () => `Hello, ${name}!`),
)
same<ResultOf<typeof greet>, string[]>(true)
export const tail = fn({ paths: p.rest(p.string()) }, async function* ({ paths }) {
  for (const path of paths) yield { path }
})
same<ResultOf<typeof tail>, { path: string }[]>(true)
export const count = fn({ extra: p.keywords(p.any()) }, async function* () {
  yield 'one'
  return 1
})
same<ResultOf<typeof count>, number>(true)
same<Result<AsyncGenerator<string, number | undefined>>, number | string[]>(true)
/** Gives what another gives. */
export const again = fn((_, { call }) => call('hello.greet', { name: 'Ada' }))
same<ResultOf<typeof again>, string[]>(true)
/** A function without `fn`. */
export const plain = (text: string, times = 1): string => text.repeat(times)

// The result that is declared is the one that is given.
fn({}, () => 1, { returns: p.number() })
fn({}, (): readonly string[] => ['a'], { returns: p.array(p.string()) })
fn({}, (): { readonly rows: readonly string[][] } => ({ rows: [] }), { returns: p.object({ rows: p.array(p.array(p.string())) }) }) // biome-ignore format: one line
fn({}, async () => 'a' as const, { returns: p.enum('a', 'b') })
export const word = fn({}, () => 'a', { returns: p.enum('a', 'b') })
same<ResultOf<typeof word>, 'a' | 'b'>(true)
// @ts-expect-error gives a text
fn({}, () => 'one', { returns: p.number() })
// @ts-expect-error gives the promise of a text
fn({}, async () => 'one', { returns: p.number() })
// @ts-expect-error may give nothing
fn({ n: p.number() }, ({ n }) => (n > 1 ? n : undefined), { returns: p.number() })
fn({ n: p.number() }, ({ n }) => (n > 1 ? n : undefined), { returns: p.optional(p.number()) })
// @ts-expect-error a key is missing
fn({}, () => ({ x: 1 }), { returns: p.object({ x: p.number(), y: p.number() }) })
export const rows = fn({}, async function* () { yield 1 }, { returns: p.array(p.number()) }) // biome-ignore format: one line
same<ResultOf<typeof rows>, number[]>(true)
fn({}, async function* () { yield 'one'; return 1 }, { returns: p.number() }) // biome-ignore format: one line
// @ts-expect-error rows are texts
fn({}, async function* () { yield 'one' }, { returns: p.array(p.number()) }) // biome-ignore format: one line

// Bytes and dates may be given as such, or as their texts.
export const now = fn({}, () => new Date(), { returns: p.dateTime() })
same<ResultOf<typeof now>, string | Date>(true)
fn({}, () => Buffer.alloc(1), { returns: p.bytes() })
const days = p.object({
  of: p.array(p.nullable(p.date())),
  by: p.optional(p.record(p.dateTime())),
  raw: p.bytes(),
})
declare const several: (Date | string | null)[]
fn({}, async () => ({ of: several, by: { a: new Date() }, raw: Buffer.alloc(1) }), { returns: days })
fn({}, async function* () { yield new Date() }, { returns: p.array(p.date()) }) // biome-ignore format: one line
// @ts-expect-error no date is declared
fn({}, () => new Date(), { returns: p.string() })
// @ts-expect-error numbers are no dates
fn({}, () => ({ of: several, by: { a: 5 }, raw: '' }), { returns: days })
// @ts-expect-error a key is missing
fn({}, () => ({ of: several }), { returns: days })

declare module 'salt-ts' {
  interface Functions {
    'hello.ping': typeof ping
    'hello.greet': typeof greet
    'hello.tail': typeof tail
    'hello.count': typeof count
    'hello.again': typeof again
    'hello.plain': typeof plain
  }
}

// By name.
const { call } = context
call('hello.ping')
call('hello.greet', { name: 'Ada' })
call('hello.greet', { name: 'Ada', times: 2, title: 'Countess' })
// @ts-expect-error an argument is missing
call('hello.greet')
// @ts-expect-error the name is missing
call('hello.greet', { times: 2 })
// @ts-expect-error there is no such parameter
call('hello.greet', { name: 'Ada', tiems: 2 })
// @ts-expect-error of another type
call('hello.greet', { name: 'Ada', times: 'two' })
// @ts-expect-error takes no arguments
call('hello.ping', { loud: true })
// @ts-expect-error a text cannot be multiplied
call('hello.plain', [1])
// Whatever `keywords` takes may have any name; what `rest` takes has none.
call('hello.count', { whatever: 1 })
// @ts-expect-error given by position only
call('hello.tail', { paths: ['/tmp'] })

// By position, and both.
call('hello.greet', ['Ada', 2])
call('hello.greet', ['Ada'], { times: 2 })
call('hello.tail', ['/tmp', '/var'])
// @ts-expect-error no parameter is a date
call('hello.greet', [new Date()])
// @ts-expect-error no parameter is called so
call('hello.greet', ['Ada'], { tiems: 2 })
// @ts-expect-error takes no arguments
call('hello.ping', [true])

// Results.
same<Awaited<ReturnType<typeof call<'hello.greet'>>>, string[]>(true)
const returned = async () => (await call('hello.greet', { name: 'Ada' })).map((line) => line.length)
same<Awaited<ReturnType<typeof returned>>, number[]>(true)
// @ts-expect-error a list is no text
const _wrong = async () => (await call('hello.greet', { name: 'Ada' })).trim()

// What comes with salt-ts is known without anything else.
call('cmd.run', { cmd: 'id' })
call('cmd.run', ['id'], { cwd: '/' })
// @ts-expect-error no such parameter
call('cmd.run', { command: 'id' })
const _lines = async () => (await call('cmd.run', { cmd: 'id' })).split('\n')
const _code = async () => (await call('cmd.run_all', { cmd: 'id' })).retcode.toFixed()

// A name that nobody declares does not compile, but for that of `untyped`, which takes anything and gives something unknown.
// @ts-expect-error no such function
call('hello.gret', { name: 'Ada' })
call(untyped('ours.unheard_of'), ['a', 1], { b: 2 })
call(untyped('ours.unheard_of'), { b: 2 })
declare const name: string
// @ts-expect-error any text may be the name of nothing
call(name, ['a'])
// @ts-expect-error unknown
const _odd = async () => (await call(untyped(name))).length
