/** Words of a command line (wire protocol §10.1): each becomes a value, and the values are bound to parameters or refused. */
import { readFileSync } from 'node:fs'
import { type Params, p } from '../../../core/author/index.ts'
import { decode, encodeLocal, encodeNetwork } from '../../../core/codec/index.ts'
import { splitArguments } from '../../../core/loader/calls/arguments.ts'
import { bind } from '../../../core/loader/calls/bind.ts'
import { typedWords, untyped, withWords } from '../../../core/loader/calls/typed.ts'
import { makeCheck } from '../../../core/loader/calls/validate.ts'
import { parseInput, splitWords, yamlify } from '../../../core/loader/calls/words.ts'
import { readRawArguments } from '../../../core/wire/raw-arguments.ts'
import { vectors } from '../../harness/vectors.ts'
import { must, outcomeOf, type Target } from '../target.ts'

/** Between the words of an input. */
const BREAK = '\x1f'

const functions: readonly Params[] = [
  {
    text: p.string(),
    times: p.default(p.integer({ minimum: 1, maximum: 9 }), 1),
    loud: p.optional(p.boolean()),
  },
  { first: p.any(), rest: p.rest(p.any()), others: p.keywords(p.any()) },
  {
    list: p.array(p.string(), { minItems: 1 }),
    map: p.optional(p.record(p.number())),
    either: p.optional(p.union(p.integer(), p.boolean())),
  },
  {
    shape: p.object({ a: p.integer(), b: p.optional(p.array(p.any())) }),
    key: p.optional(p.secret(p.string())),
  },
  { name: p.string({ pattern: '^[a-z]+$' }), rest: p.rest(p.integer()) },
]
const checks = functions.map(makeCheck)

const recorded: [string][] = JSON.parse(
  readFileSync(new URL('../../fixtures/recorded/words.json', import.meta.url), 'utf8'),
)
const { parse_input } = vectors<{ parse_input: { args: string[] }[] }>('args')
const seeds = [
  ...recorded.filter((_, index) => index % 5 === 0).map(([word]) => word),
  ...parse_input.map(({ args }) => args.join(BREAK)),
  ...[
    'a=1',
    'x=[1, 9007199254740993]',
    `a${BREAK}y={b: [1, ~]}`,
    `hello${BREAK}3${BREAK}loud=yes`,
    `{a: 1, b: [x]}${BREAK}key=secret`,
    `[a, b]${BREAK}map={x: 1.5}${BREAK}either=no`,
  ],
].map((text) => Buffer.from(text))

const words = [
  '=',
  ': ',
  ', ',
  '[',
  ']',
  '{',
  '}',
  '"',
  "'",
  '\\',
  '\\U0010ffff',
  '\\x',
  '!!',
  '!',
  '&a ',
  '*a',
  '#',
  ' #',
  '|',
  '>',
]
const names = [
  BREAK,
  'text=',
  'loud=',
  'times=',
  'map=',
  '__kwarg__=',
  '__proto__=',
  '__pub_jid=',
  'constructor: ',
  '? ',
  '<<',
]
const numbers = [
  '1_0',
  '0x',
  '0b1',
  '0o7',
  '1:30:00',
  '1.5e+3',
  '.inf',
  '9007199254740993',
  '99999999999999999999',
  '20261120120000123456',
  '-0.0',
]

export default (): Target => ({ form: 'text', words: [...words, ...names, ...numbers], seeds, run })

function run(input: Buffer): string {
  const given = input.toString().split(BREAK)
  for (const word of given) yamlify(word)
  const arg = parseInput(given, ['text'])
  must(!arg.some((value) => value === undefined), 'A word has no value')
  splitWords(given, ',', 1 + (input.length % 3))
  const sent = decode(encodeNetwork(arg)) as unknown[]
  const typed = readRawArguments(decode(encodeNetwork(typedWords(given) ?? null)))
  const outcomes = functions.map((params, index) =>
    outcomeOf(() => {
      const { args, kwargs } = withWords(
        splitArguments(sent),
        typed && !Array.isArray(typed) ? (typed as never) : undefined,
      )
      const values = bind(
        { name: 'mod.fun', args, kwargs, pub: { jid: '1' } },
        params,
        checks[index] as never,
      )
      must(
        Object.keys(values).every((name) => Object.hasOwn(params, name)),
        'A value has no parameter',
      )
      encodeLocal(Object.values(values).map(untyped))
      return 'bound'
    }, ['INVOCATION', 'INVALID_ARGUMENTS']),
  )
  return outcomes.join(' ')
}
