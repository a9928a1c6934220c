/** Publish jobs and run runners from a minion, as far as the options `peer` and `peer_run` of its master allow it. */
import { setTimeout } from 'node:timers/promises'
import { CommandExecutionError, type Context, fn, p, SaltInvocationError } from 'salt-ts'

/** Interval of requests for returns. */
const POLL_MS = 300

const request = {
  tgt: p.any({ description: 'Target of the job.' }),
  fun: p.string({ minLength: 1 }),
  arg: p.optional(p.any({ description: 'One argument, or a list of them; `name=value` is a keyword.' })),
  tgt_type: p.default(p.string(), 'glob'),
  returner: p.default(p.string(), ''),
  timeout: p.default(p.number({ minimum: 0, description: 'Seconds to wait for returns.' }), 5),
}

interface Wanted {
  readonly tgt: unknown
  readonly fun: string
  readonly arg?: unknown
  readonly tgt_type: string
  readonly returner: string
  readonly timeout: number
}

interface Returned {
  readonly ret: unknown
  readonly out?: string
}

/**
 * Publish a job to other minions and return what they return within `timeout`: a map of minion id to value.
 *
 * @example salt web1 publish.publish 'db*' test.ping
 * @example salt web1 publish.publish 'os:Debian' cmd.run 'uptime' tgt_type=grain timeout=10
 */
export const publish = fn(
  {
    ...request,
    via_master: p.optional(
      p.string({ description: 'The master to use. Accepted only if it is the only master of this minion.' }),
    ),
  },
  async ({ via_master, ...wanted }, context) => {
    const returns = await published(wanted, 'clean', context, via_master)
    return Object.fromEntries(Object.entries(returns).map(([id, { ret }]) => [id, ret]))
  },
)

/**
 * Publish a job as `publish.publish` does, and return a map of minion id to `{ret, out}`.
 *
 * @example salt web1 publish.full_data 'db*' cmd.run 'ls -la /tmp'
 */
export const full_data = fn(request, (wanted, context) => published(wanted, 'full', context))

/**
 * Have the master run a runner, and return its result.
 *
 * @example salt web1 publish.runner manage.down
 * @example salt web1 publish.runner jobs.lookup_jid 20261122101112131415
 */
export const runner = fn(
  { fun: p.string({ minLength: 1 }), arg: request.arg, timeout: request.timeout },
  async ({ fun, arg, timeout }, context) => {
    const { id, opts } = context
    const load = { cmd: 'minion_runner', fun, arg: listOf(arg), tmo: timeout, id }
    const answer = await asked({ ...load, no_parse: opts.no_parse ?? [], explain: true }, context)
    if (answer === NO_MASTER) return 'No access to master. If using salt-call with --local, please remove.'
    return explained(answer, `run the runner ${fun}`, 'peer_run')
  },
)

/** Publish a job, and wait for its returns. As in Salt, a job whose function publishes is answered with nothing. */
async function published(
  wanted: Wanted,
  form: 'clean' | 'full',
  context: Context,
  via_master?: string,
): Promise<Readonly<Record<string, Returned>>> {
  const { fun, tgt, tgt_type, returner, timeout } = wanted
  const { minion, id, opts, job, log, signal } = context
  const publishes = fun.split(',').find((name) => name.startsWith('publish.'))
  if (publishes !== undefined) {
    log.error(
      `${publishes} cannot be published by a minion, because minions could then publish jobs without end.`,
    )
    return {}
  }
  if (job?.id !== undefined)
    throw new SaltInvocationError(
      `This job was published by the minion ${String(job.id)}, so it cannot publish another job.`,
    )
  checkMaster(via_master, context)
  const load = { cmd: 'minion_pub', fun, arg: listOf(wanted.arg), tgt, tgt_type, ret: returner, tmo: timeout }
  const answer = await asked({ ...load, form, id, no_parse: opts.no_parse ?? [], explain: true }, context)
  if (answer === NO_MASTER) {
    log.error(`${fun} was not published: this minion has no master, or runs with --local.`)
    return {}
  }
  const { jid, minions } = jobIn(explained(answer, `publish ${fun}`, 'peer'))
  if (minions.length === 0) return {}
  for (const end = Date.now() + timeout * 1000; ; ) {
    const returns = returnsIn(await minion.request({ cmd: 'pub_ret', id, jid }))
    const left = end - Date.now()
    if (left <= 0 || minions.every((one) => Object.hasOwn(returns, one))) return returns
    await setTimeout(Math.min(POLL_MS, left), undefined, { signal })
  }
}

const NO_MASTER = Symbol('no master')

/** Send a request to the master; `NO_MASTER` if this minion is to work without one. */
async function asked(load: Readonly<Record<string, unknown>>, { minion, opts }: Context): Promise<unknown> {
  try {
    return await minion.request(load)
  } catch (error) {
    const isAlone = opts.file_client === 'local' || opts.master_type === 'disable'
    if (isAlone && (error as { code?: unknown }).code === 'MASTER_UNREACHABLE') return NO_MASTER
    throw error
  }
}

/** Throw if the master refused the request. A Python Salt master refuses a job with an empty map, without a reason. */
function explained(answer: unknown, what: string, option: string): unknown {
  if (!isRecord(answer)) return answer
  const { refused } = answer
  if (isRecord(refused) && Object.keys(answer).length === 1 && typeof refused.reason === 'string')
    throw new CommandExecutionError(`The master did not ${what}. ${refused.reason}`)
  if (Object.keys(answer).length === 0 && option === 'peer')
    throw new CommandExecutionError(
      `The master did not ${what}. Allow it for this minion in the option ${option} of the master.`,
    )
  return answer
}

function jobIn(answer: unknown): { jid: unknown; minions: readonly string[] } {
  if (isRecord(answer) && Array.isArray(answer.minions))
    return { jid: answer.jid, minions: answer.minions.map(String) }
  throw new CommandExecutionError('The master returned an invalid answer. Its log may contain the reason.')
}

const returnsIn = (answer: unknown): Readonly<Record<string, Returned>> =>
  isRecord(answer) ? (answer as Record<string, Returned>) : {}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const listOf = (arg: unknown): readonly unknown[] =>
  arg === undefined || arg === null ? [] : Array.isArray(arg) ? arg : [arg]

/** Accept `via_master` only if it is the minion's only master: requests of a job go to the master it came from. */
function checkMaster(wanted: string | undefined, { opts }: Context): void {
  const masters = [opts.master].flat().map(String)
  if (wanted === undefined || (masters.length === 1 && masters[0] === wanted)) return
  throw new SaltInvocationError(
    `via_master is ${wanted}, but a job is published by the master it came from. Send the job from ${wanted}.`,
  )
}
