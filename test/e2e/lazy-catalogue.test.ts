/** Modules that were never called are imported when the minion is idle, or never; before, the master knows only their text. */
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Catalogues } from '../../core/cache/catalogues.ts'
import { minionDataDirectory } from '../../core/config/cachedir.ts'
import { readCatalogue } from '../../core/loader/describe/read-catalogue.ts'
import { Cluster } from '../harness/daemons.ts'
import { until } from '../harness/until.ts'

const NEVER = 3600

let cluster: Cluster
const ran = (id: string) => join(cluster.root, `${id}-imported`)

beforeAll(async () => {
  cluster = await Cluster.open()
  const open = async (id: string, options: Record<string, unknown>) => {
    const modules = join(cluster.root, `${id}-modules`)
    await mkdir(modules)
    await writeFile(
      join(modules, 'hello.mjs'),
      `import { writeFileSync } from 'node:fs'\nwriteFileSync(${JSON.stringify(ran(id))}, '')\n` +
        "export const greet = (name) => 'hello ' + name\n",
    )
    await cluster.addMinion(id, { module_dirs: [modules], ...options })
  }
  await open('busy', { catalogue_idle_time: NEVER })
  await open('never', { catalogue_idle_time: 0, catalogue_imports: false })
  await open('idle', { catalogue_idle_time: 1 })
}, 120_000)
afterAll(() => cluster?.close())

async function functionsOf(id: string): Promise<Readonly<Record<string, unknown>> | undefined> {
  const catalogues = Catalogues.open(minionDataDirectory(cluster.config))
  try {
    const hash = catalogues.hash(id)
    return hash === undefined ? undefined : readCatalogue(catalogues.text(hash) ?? '')?.functions
  } finally {
    await catalogues.close()
  }
}

test('an idle minion imports a module, a busy one does not, and one with catalogue_imports: false never does', async () => {
  for (const id of ['busy', 'never', 'idle'])
    await until(`the catalogue of ${id}`, async () =>
      Object.hasOwn((await functionsOf(id)) ?? {}, 'hello.greet'),
    )
  await until('the idle one to import it', () => existsSync(ran('idle')))
  expect([existsSync(ran('busy')), existsSync(ran('never'))]).toEqual([false, false])
})

test("a call of a function that is not in the module's text is refused; a correct call imports the module", async () => {
  // A minion that is not known to be connected yet, or is slow to answer, gets the job instead.
  await until('the call to be refused', async () => {
    const { stdout, stderr, code } = await cluster.salt('never', 'hello.grete', 'you')
    expect(code).not.toBe(0)
    return (stdout + stderr).includes("Did you mean 'hello.greet'?")
  })
  expect((await cluster.salt('never', 'hello.greet', 'you', '--out', 'txt')).stdout).toBe(
    'never: hello you\n',
  )
})
