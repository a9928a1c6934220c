/** Groups minions by what they return, and shows how the groups differ. */
import { type Context, fn, jsonText, p, SaltInvocationError, type TargetExpression, untyped } from 'salt-ts'
import { unifiedDiff } from './_survey/diff.ts'
import { tgt } from './_target.ts'

const params = {
  tgt,
  fun: p.string(),
  args: p.rest(p.any()),
  tgt_type: p.default(p.string(), 'compound'),
  survey_sort: p.default(p.enum('down', 'up'), 'down'),
  kwargs: p.keywords(p.any()),
}
interface Survey {
  readonly tgt: TargetExpression
  readonly fun: string
  readonly args: readonly unknown[]
  readonly tgt_type: string
  readonly survey_sort: 'down' | 'up'
  readonly kwargs: Readonly<Record<string, unknown>>
}

interface Pool {
  readonly pool: string[]
  readonly result: unknown
}

/**
 * Run a function on minions and return `{pool, result}` for each different result, the most common first; last with
 * `survey_sort=up`.
 *
 * @example salt-run survey.hash '*' file.get_hash /etc/salt/minion survey_sort=up
 */
export const hash = fn(params, (survey, { master }) => pools(master, survey))

/**
 * Run a function on minions like `survey.hash`, and show how each further result differs from the first (as `diff -u0`).
 *
 * @example salt-run survey.diff '*' cmd.run 'cat /etc/hosts'
 */
export const diff = fn(params, async (survey, { master }) => {
  const [first, ...others] = await pools(master, survey)
  if (!first) return []
  const [from] = first.pool
  return [
    first,
    ...others.map(({ pool, result }) => ({
      pool,
      diff: unifiedDiff(textOf(first.result), textOf(result), `${from}`, `${pool[0]}`),
    })),
  ]
})

async function pools(master: Context['master'], survey: Survey): Promise<Pool[]> {
  const { tgt, fun, args: arg, tgt_type: tgtType, survey_sort, kwargs } = survey
  const own = Object.fromEntries(Object.entries(kwargs).filter(([name]) => !name.startsWith('_')))
  if (!fun.includes('.'))
    throw new SaltInvocationError(`'${fun}' is not a function. The target comes first, then the function.`)
  const found = new Map<string, Pool>()
  for await (const { id, return: result, missing } of master.run({
    tgt,
    tgtType,
    fun: untyped(fun),
    arg,
    kwarg: own,
  })) {
    if (missing !== undefined) continue
    const same = found.get(textOf(result)) ?? { pool: [], result }
    same.pool.push(id)
    found.set(textOf(result), same)
  }
  const sign = survey_sort === 'up' ? 1 : -1
  for (const { pool } of found.values()) pool.sort()
  return [...found.values()].sort(
    (a, b) => sign * (a.pool.length - b.pool.length) || (first(a) < first(b) ? -1 : 1),
  )
}

const first = ({ pool }: Pool): string => pool[0] ?? ''

/** Return a text as it is; any other value as JSON with sorted keys, one line per member. */
function textOf(value: unknown): string {
  return typeof value === 'string' ? value : jsonText(value, { step: 2, order: inOrder })
}

function inOrder(map: unknown): [unknown, unknown][] {
  const members = map instanceof Map ? [...map] : Object.entries(map as object)
  return members.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1))
}
