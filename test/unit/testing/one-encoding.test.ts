/** What a function gives is the same wherever it runs: on a minion, by salt-call, in a test, as a runner. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { MinionServices } from '../../../core/author/context.ts'
import { RunnerClient } from '../../../core/client/functions/runner-client.ts'
import { decode, encodeNetwork } from '../../../core/codec/index.ts'
import { loadMasterConfig, loadMinionConfig } from '../../../core/config/index.ts'
import { importFile } from '../../../core/loader/files/import-file.ts'
import { openLoader } from '../../../core/loader/index.ts'
import { callFunction } from '../../../core/minion/call.ts'
import { executeJob } from '../../../core/minion/jobs/job-runner.ts'
import { run } from '../../../core/testing/index.ts'
import { readJobLoad } from '../../../core/wire/publication.ts'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { fakeContext } from '../modules/context.ts'

const module = `
import { fn } from 'salt-ts'
class Point { x = 1; #y = 2 }
class Amount { toJSON() { return '3 EUR' } }
const circular = { a: {} }
circular.a.a = circular
export const date = fn(() => ({ at: new Date(0) }))
export const instance = fn(() => new Point())
export const error = fn(() => [new RangeError('too far')])
export const json = fn(() => ({ price: new Amount(), at: new URL('http://localhost/x') }))
export const nothing = fn(() => {})
export const holes = fn(() => ({ a: undefined, b: [undefined] }))
export const bigint = fn(() => [5n, 2n ** 60n, 2n ** 70n])
export const map = fn(() => new Map([[1, new Map([['a', 2]])]]))
export const set = fn(() => new Set(['a']))
export const text = fn(() => Buffer.from('text'))
export const bytes = fn(() => Buffer.of(0xff, 0xfe))
export const fails = fn(() => circular)
export const method = fn(() => ({ a: [() => 1] }))
export const promise = fn(() => ({ a: Promise.resolve(1) }))
export const rows = fn(async function* () { yield 1; yield new Date(0) })
export const badrows = fn(async function* () { yield 1; yield { a: Symbol('x') } })
`
const names = [...module.matchAll(/export const (\w+)/g)].map(([, name]) => name as string)

let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-ts-encoding-')
  for (const kind of ['modules', 'runners']) {
    await mkdir(join(folder, kind))
    await writeFile(join(folder, kind, 'gives.mjs'), module)
  }
})
afterAll(() => removeFolder(folder))

const { log } = fakeContext()
const settings = () => ({
  configDir: folder,
  overrides: { root_dir: folder, module_dirs: [folder], id: 'web1' },
})

async function onMinion(fun: string) {
  const { config } = loadMinionConfig(settings())
  const services = { fireMaster: async () => true } as unknown as MinionServices
  const loader = openLoader('modules', { config, log })
  const around = {
    id: 'web1',
    config,
    grains: {},
    pillar: {},
    loader,
    services,
    match: async () => true,
    log,
  }
  const job = readJobLoad({ fun, arg: [], tgt: '*', jid: '20261121120000000001', user: 'root' })!
  const ret = await executeJob(job, around, new AbortController().signal)
  return (decode(encodeNetwork(ret)) as { return: unknown }).return
}

async function bySaltCall(fun: string) {
  const { config } = loadMinionConfig(settings())
  const call = {
    config,
    local: true,
    returnToMaster: false,
    fun,
    args: [],
    kwargs: {},
    skipGrains: true,
    log,
  }
  return (await callFunction(call)).return
}

async function inTest(fun: string) {
  const name = fun.split('.')[1] as string
  const gives = await importFile({ path: join(folder, 'modules', 'gives.mjs'), builtIn: false })
  return run(gives[name]).then(
    ({ result }) => result,
    (error: Error) => `ERROR: ${error.message}`,
  )
}

async function asRunner(fun: string) {
  const client = new RunnerClient({ config: loadMasterConfig(settings()).config, log, user: 'ann' })
  try {
    const ran = await client.run(fun, [], {})
    return ran.success ? ran.return : `ERROR: ${ran.return}`
  } finally {
    await client.close()
  }
}

test.each(names)('%s', async (name) => {
  const given = await onMinion(`gives.${name}`)
  expect({
    bySaltCall: await bySaltCall(`gives.${name}`),
    inTest: await inTest(`gives.${name}`),
    asRunner: await asRunner(`gives.${name}`),
  }).toEqual({ bySaltCall: given, inTest: given, asRunner: given })
})

test('a value that cannot be encoded is a failure that names its place', async () => {
  expect(await onMinion('gives.fails')).toBe('ERROR: The value cannot be encoded: return.a.a is circular.')
  expect(await onMinion('gives.method')).toBe(
    'ERROR: The value cannot be encoded: return.a[0] is a function.',
  )
  expect(await onMinion('gives.badrows')).toBe('ERROR: The value cannot be encoded: rows[1].a is a symbol.')
})
