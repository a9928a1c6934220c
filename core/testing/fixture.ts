/** Recorded jobs as files: the function with its arguments, the minion, and the result. */
import { deepStrictEqual } from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import type { FunctionName } from '../author/calls.ts'
import { messageOf, SaltError } from '../base/errors.ts'
import { MASK } from '../base/secret.ts'
import { type AnyRequest, hasReturned, type JobRequest, type LocalClient } from '../client/index.ts'
import { createMasterServices, type MasterStores } from '../client/services/master-services.ts'
import type { MasterConfig } from '../config/index.ts'
import { splitArguments } from '../loader/index.ts'
import { fromJson, toJson } from './notation.ts'
import { recordingLog } from './recording-log.ts'
import { type RunSettings, runWith } from './run.ts'

type Values = Readonly<Record<string, unknown>>

/** The run of one function on one minion. */
export interface JobFixture {
  readonly fun: string
  readonly args: readonly unknown[]
  readonly kwargs: Values
  readonly id: string
  readonly jid: string
  readonly return: unknown
  readonly retcode: number
  readonly success: boolean
}

/** Run a job and record it, one fixture for each minion that returned. */
export async function recordRun<const F extends FunctionName>(
  client: Pick<LocalClient, 'cmdIter'>,
  request: JobRequest<F>,
): Promise<JobFixture[]> {
  const { fun, arg = [], kwarg = {} }: AnyRequest & { readonly fun: string } = request
  const { args, kwargs } = splitArguments(arg)
  const fixtures: JobFixture[] = []
  for await (const result of await client.cmdIter(request)) {
    if (!hasReturned(result)) continue
    const { id, jid, retcode, success } = result
    fixtures.push({
      fun,
      args,
      kwargs: { ...kwargs, ...kwarg },
      id,
      jid,
      return: result.return,
      retcode,
      success,
    })
  }
  return fixtures
}

/** A source of stored jobs: the host of a master, by its configuration, or a cluster in this process. */
export interface JobSource {
  readonly config: MasterConfig
  readonly stores?: MasterStores
}

/** Record a job that a master has in its job cache. */
export async function recordStored({ config, stores }: JobSource, jid: string): Promise<JobFixture[]> {
  const client = () =>
    Promise.reject(new SaltError('MASTER_UNREACHABLE', 'Reading the job cache does not need a master.'))
  const { services, close } = createMasterServices({ config, log: recordingLog(() => {}), client, stores })
  try {
    const stored = await services.jobs.get(jid)
    if (!stored)
      throw new SaltError('INVOCATION', `The job cache in ${config.cachedir} has no job ${jid}.`, { jid })
    const { fun, arg } = stored.load
    if (typeof fun !== 'string')
      throw new SaltError('INVOCATION', `Job ${jid} runs several functions; a fixture has only one.`, { jid })
    const given = splitArguments(Array.isArray(arg) ? arg : [])
    const returns = await services.jobs.returns(jid)
    return returns.map(({ id, return: value, retcode = 0, success = true }) => {
      return { fun, ...given, id, jid, return: value, retcode, success }
    })
  } finally {
    await close()
  }
}

/**
 * Run the function with the recorded arguments, and compare. Rejects with an AssertionError that shows the differences in
 * result, exit code, or the reason of a failure. `surroundings` provides what was not recorded: grains, calls and others.
 */
export async function replay(
  fixture: JobFixture,
  tested: unknown,
  surroundings: RunSettings = {},
): Promise<void> {
  const { fun, id, jid } = fixture
  refuseMasked(fixture)
  const around = { id, job: { jid, fun }, name: fun, ...surroundings }
  const now = await runWith(tested, fixture, around).then(
    ({ result, retcode }) => ({ return: toJson(result), retcode }),
    (error: unknown) => ({ return: reasonIn(fixture, messageOf(error)), retcode: 1 }),
  )
  deepStrictEqual(now, { return: toJson(fixture.return), retcode: fixture.retcode })
}

/** Return the recorded message if it contains that of the error, since it has further text. */
function reasonIn({ return: recorded, success }: JobFixture, message: string): unknown {
  const same = !success && typeof recorded === 'string' && recorded.includes(message)
  return same ? recorded : `It failed: ${message}`
}

function refuseMasked({ fun, args, kwargs }: JobFixture): void {
  if (![...args, ...Object.values(kwargs)].includes(MASK)) return
  throw new SaltError(
    'INVOCATION',
    `Secret arguments of ${fun} were not recorded; provide them: replay({ ...fixture, kwargs: { … } }, …).`,
  )
}

export async function saveFixture(file: string, fixture: JobFixture): Promise<void> {
  await writeFile(file, `${JSON.stringify(toJson(fixture), undefined, 2)}\n`)
}

export async function loadFixture(file: string): Promise<JobFixture> {
  try {
    return fromJson(JSON.parse(await readFile(file, 'utf8'))) as JobFixture
  } catch (error) {
    throw new SaltError('INVOCATION', `The fixture ${file} cannot be read: ${messageOf(error)}`, { file })
  }
}
