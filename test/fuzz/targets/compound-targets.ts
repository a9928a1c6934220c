/** Targets of every type (wire protocol §15): each selects a minion or not, or is refused with a sentence; none takes long. */
import { messageOf, SaltError } from '../../../core/base/errors.ts'
import { parseCompound } from '../../../core/dialect/compound-target.ts'
import { checkTarget, createMatcher, type Target as JobTarget } from '../../../core/targets/index.ts'
import { allMatchers } from '../../harness/matchers.ts'
import { vectors } from '../../harness/vectors.ts'
import { must, outcomeOf, type Target } from '../target.ts'

const { nodegroups, minions, rows } = vectors<{
  nodegroups: Record<string, unknown>
  minions: Record<string, { grains: Record<string, unknown>; pillar?: Record<string, unknown> }>
  rows: { type: string; expr: unknown }[]
}>('matchers')
const plugins = await allMatchers()
const types = ['compound', ...[...plugins.keys()].filter((type) => type !== 'compound'), 'nosuch']
const subjects = [
  ...Object.entries(minions).map(([id, data]) => ({ id, ...data })),
  { id: 'long', grains: { text: 'a'.repeat(200), list: Array.from({ length: 50 }, (_, n) => `${n}`) } },
  { id: 'bare' },
]

let reasons: string[] = []
const matcher = createMatcher({
  matchers: (type) => plugins.get(type),
  nodegroups: { ...nodegroups, loop: 'N@pool', pool: 'N@loop' },
  onInvalid: (reason) => reasons.push(reason),
})

const seeds = [
  ...rows
    .filter((_, index) => index % 3 === 0)
    .map(({ type, expr }) => seed(type, typeof expr === 'string' ? expr : JSON.stringify(expr))),
  seed('compound', '( web* or G@os:Debian ) and not E@db\\d+ and not ( S@10.0.0.0/8 or L@a,b )'),
  seed('compound', 'N@loop'),
  seed('compound', 'G|@meta|dc|ams or P@os:(?:D|R) or J@role:^x$ or I@a:b'),
  seed('pcre', '(?P<a>x)(?P=a)|[^\\]a-z]{2,3}?(?!b)\\Z'),
  seed('pcre', '^(a+)+$'),
  seed('ipcidr', '10.0.0.0/255.255.0.0'),
  seed('ipcidr', 'fe80::/10'),
]

function seed(type: string, text: string): Buffer {
  return Buffer.concat([Buffer.from([Math.max(0, types.indexOf(type))]), Buffer.from(text)])
}

const words = [
  'and',
  'or',
  'not',
  '(',
  ')',
  ' ',
  'G@',
  'P@',
  'I@',
  'J@',
  'L@',
  'N@',
  'S@',
  'E@',
  'R@',
  'D@',
  '@',
  ':',
]
const patterns = [
  '*',
  '?',
  '[!a]',
  '[z-a]',
  '.*',
  '\\d+',
  '(?i)',
  '(?P<n>',
  '(?P=n)',
  '(?<=a)',
  '\\1',
  '{2,}',
  '{,3}',
  '$|^',
]
const texts = [
  'web01',
  'os:Debian',
  'meta:dc:ams',
  'roles:*',
  '10.0.1.11',
  '::1',
  '/33',
  '/0',
  ',',
  '|',
  '%',
  'N@web',
  'N@loop',
]

export default (): Target => ({
  form: 'text',
  choices: [types.length],
  words: [...words, ...patterns, ...texts],
  seeds,
  run,
})

function run(input: Buffer): string {
  const tgt_type = types[(input[0] ?? 0) % types.length] as string
  const text = input.toString('utf8', 1)
  const target: JobTarget = { tgt: text, tgt_type }
  const codes = ['TARGET_INVALID'] as const
  const checked = outcomeOf(() => void checkTarget(target), codes)
  const parsed = tgt_type === 'compound' ? outcomeOf(() => void parseCompound(text), codes) : checked
  reasons = []
  const results = new Set(subjects.map((subject) => matcher.match(target, subject)))
  must(
    [...results].every((result) => [true, false, 'unknown'].includes(result)),
    'A match is neither true nor false',
  )
  const prepared = prepare(target)
  if (parsed !== 'fine' && tgt_type === 'compound')
    must(results.size === 1 && results.has(false), 'A malformed target selects a minion')
  for (const reason of reasons) must(/\S/.test(reason), 'An invalid target has no reason')
  expectSentence(target)
  return `${tgt_type} ${checked} ${prepared} ${[...results].sort()}`
}

const prepare = (target: JobTarget): string =>
  outcomeOf(() => void matcher.prepare(target), ['TARGET_INVALID'])

/** Errors of the language itself, such as "Invalid array length", are no reasons that a user can act on. */
function expectSentence(target: JobTarget): void {
  try {
    matcher.prepare(target)({ id: 'web01', grains: {}, pillar: {} })
  } catch (error) {
    const { cause } = error as SaltError
    const own =
      cause === undefined || SaltError.is(cause) || !/^(?:Type|Range|Reference)Error/.test(String(cause))
    must(own, `A target is refused by accident: ${messageOf(error)}`)
  }
}
