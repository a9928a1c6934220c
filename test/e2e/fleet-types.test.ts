/** A program on the master's host is typed by what the fleet offers. */
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Catalogues } from '../../core/cache/catalogues.ts'
import { minionDataDirectory } from '../../core/config/cachedir.ts'
import { readCatalogue } from '../../core/loader/describe/read-catalogue.ts'
import { Cluster, run } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { typeCheck } from '../harness/type-check.ts'
import { until } from '../harness/until.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))

const WEATHER = `import { fn, p } from 'salt-ts'

/** Tell the weather of a city. */
export const forecast = fn(
  { city: p.described(p.string(), 'A city, by its name.'), days: p.default(p.integer(), 1), unit: p.default(p.enum('C', 'F'), 'C'), since: p.optional(p.date()) },
  ({ city, days }) => ({ city, degrees: Array.from({ length: days }, () => 20) }),
  { returns: p.object({ city: p.string(), degrees: p.array(p.number()) }) },
)

/** Count calls. */
export const count = fn({ names: p.rest(p.string()) }, ({ names }) => names.length, { returns: p.integer() })
`

const RIGHT = `import { untyped } from 'salt-ts'
import { LocalClient, loadMasterConfig } from 'salt-ts/client'

export async function right(): Promise<number> {
  const client = await LocalClient.connect(loadMasterConfig().config)
  const { web1 } = await client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { city: 'Oslo', since: '2026-01-31' } })
  const first = web1?.state === 'returned' ? web1.return.degrees[0]?.toFixed() : undefined
  let sum = first === undefined ? 0 : Number(first)
  for await (const result of await client.cmdIter({ tgt: '*', fun: 'weather.count', arg: ['a', 'b'] }))
    if (result.state === 'returned') sum += result.return
  for await (const result of await client.cmdIter({ tgt: '*', fun: ['test.ping', 'weather.count'], arg: [[], ['a']] }))
    if (result.state === 'returned') sum += result.return['weather.count']
  const given = await client.cmd({ tgt: '*', fun: untyped('state.apply'), arg: ['web'] })
  if (given.web1?.state === 'returned') String(given.web1.return)
  return sum
}
`

/** Calls that cannot work, one a line. */
const WRONG = [
  "client.cmd({ tgt: '*', fun: 'weather.forcast', kwarg: { city: 'Oslo' } })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast' })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { town: 'Oslo' } })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { city: 5 } })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { city: 'Oslo', days: 'two' } })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { city: 'Oslo', unit: 'K' } })",
  "client.cmd({ tgt: '*', fun: 'weather.forecast', kwarg: { city: 'Oslo', since: new Date() } })",
  "client.cmd({ tgt: '*', fun: 'weather.count', arg: [1] })",
  "client.cmdIter({ tgt: '*', fun: 'test.pong' })",
  "client.cmdIter({ tgt: '*', fun: ['test.ping', 'weather.cont'], arg: [[], []] })",
  "client.cmdAsync({ tgt: '*', fun: 'cmd.run', kwarg: { command: 'id' } })",
  "client.cmd({ tgt: '*', fun: 'weather.count', arg: [] }).then(({ web1 }) => web1?.return.toFixed())",
]

let cluster: Cluster
let folder: string
beforeAll(async () => {
  folder = await temporaryFolder('salt-fleet-types-')
  cluster = await Cluster.open()
  const modules = join(cluster.root, 'fleet-modules')
  await mkdir(modules)
  await writeFile(join(modules, 'weather.ts'), WEATHER)
  await cluster.addMinion('web1', { module_dirs: [modules], catalogue_idle_time: 1 })
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  await symlink(project, join(folder, 'node_modules/salt-ts'))
  await symlink(join(project, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const compilerOptions = {
    target: 'es2023',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    noEmit: true,
    skipLibCheck: true,
  }
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions }))
}, 120_000)
afterAll(async () => {
  await cluster?.close()
  await removeFolder(folder)
})

async function isReported(): Promise<boolean> {
  const catalogues = Catalogues.open(minionDataDirectory(cluster.config))
  try {
    const hash = catalogues.hash('web1')
    return hash !== undefined && readCatalogue(catalogues.text(hash) ?? '')?.returns !== undefined
  } finally {
    await catalogues.close()
  }
}

test("salt-ts types --from-master writes types and documentation of the minions' functions", async () => {
  await until('the minion has described its modules', isReported)
  const { stdout, stderr, code } = await run('salt-ts', [
    'types',
    folder,
    '--from-master',
    '-c',
    cluster.configDir,
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /fleet-functions\.d\.ts written: 2 functions of 1 minions? \(\d+ more have types already\)\n$/,
  )
  const text = await readFile(join(folder, 'fleet-functions.d.ts'), 'utf8')
  expect(text).toContain(`    /**
     * Tell the weather of a city.
     *
     * Parameters:
     *
     *     city: string
     *         A city, by its name.
     *     days: integer, default 1
     *     unit: "C" or "F", default "C"
     *     since: string, a date such as 2026-01-31, optional
     *
     * Returns:
     *
     *     object with city (string) and degrees (array of numbers)
     *
     * All minions offer it.
     */
`)
})

test('salt-ts docs --from-master writes web pages about them', async () => {
  const site = join(folder, 'site')
  const words = ['docs', '--from-master', '-c', cluster.configDir, '--out', site]
  const { stdout, stderr, code } = await run('salt-ts', words)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/site\/index\.html written: \d+ functions on \d+ pages\n$/)
  const page = await readFile(join(site, 'modules/weather.html'), 'utf8')
  expect(page).toContain('<p>Tell the weather of a city.</p>')
  expect(page).toContain('<td><code>city</code></td><td>string</td><td>A city, by its name.</td>')
  expect(page).toContain('All minions offer it.')
})

test('correct calls have typed results', async () => {
  await writeFile(join(folder, 'right.ts'), RIGHT)
  expect(await typeCheck(folder)).toBe('')
})

test('each of twelve wrong calls is reported at its position', async () => {
  const head = ["import type { LocalClient } from 'salt-ts/client'", 'declare const client: LocalClient']
  await writeFile(
    join(folder, 'wrong.ts'),
    `${[...head, ...WRONG.map((call) => `await ${call}`)].join('\n')}\nexport {}\n`,
  )
  const lines = [...(await typeCheck(folder)).matchAll(/^wrong\.ts\((\d+),/gm)].map(([, line]) =>
    Number(line),
  )
  expect([...new Set(lines)]).toEqual(WRONG.map((_, index) => index + 1 + head.length))
})
