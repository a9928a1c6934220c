import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { loadMasterConfig, loadMinionConfig } from '../../core/config/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { stepsOf, writeStep } from '../harness/guide.ts'
import { freePort } from '../harness/ports.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
const guides = ['core/author/docs', 'core/api/docs', 'core/client/docs'].flatMap((docs) =>
  readdirSync(join(project, docs))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${docs}/${name}`),
)

describe.each(guides)('the guide %s', (name) => {
  const guide = pathToFileURL(join(project, name))
  const api = stepsOf(guide).find((step) => 'file' in step && step.file === 'master.d/api.conf')
  const needsMaster = api !== undefined || readFileSync(guide, 'utf8').includes('\nsalt-run ')
  /** Its reader has installed salt-ts beside the program. */
  const isForPrograms = readFileSync(guide, 'utf8').includes("from 'salt-ts/client'")
  const linkPackage = async () => {
    const modules = join(folder, 'node_modules')
    await mkdir(modules)
    await symlink(project, join(modules, 'salt-ts'))
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) await writeFile(manifest, '{ "type": "module" }')
  }
  let port: number
  let folder: string
  let cluster: Cluster | undefined
  beforeAll(async () => {
    port = await freePort()
    const master = api && 'file' in api ? parse(api.text.replaceAll('8000', String(port))) : {}
    if (needsMaster)
      cluster = await Cluster.open({ minions: ['web1', 'web2'], master: { ...master, api_logfile: '/api' } })
    if (api) await cluster?.master.logged('salt-api is ready')
    folder = await mkdtemp(join(tmpdir(), 'salt-guide-'))
    if (isForPrograms) await linkPackage()
    await mkdir(join(folder, 'etc'), { mode: 0o700 })
    await writeFile(join(folder, 'etc/minion'), `id: web1\nroot_dir: ${folder}/root\n`, { mode: 0o600 })
  })
  afterAll(async () => {
    await cluster?.close()
    await rm(folder, { recursive: true, force: true })
  })

  /** Type commands in the reader's folder; what is shown there has no path of it. */
  async function type(commands: string): Promise<{ code: number | undefined; shown: string }> {
    const path = [join(project, 'bin'), process.env.PATH].join(delimiter)
    const env = {
      PATH: path,
      SALT_CONFIG_DIR: cluster?.configDir ?? join(folder, 'etc'),
      NODE_OPTIONS: '',
      NODE_TEST_CONTEXT: undefined,
    }
    const run = await execa('sh', ['-c', commands.replaceAll(':8000', `:${port}`)], {
      cwd: folder,
      env,
      reject: false,
      all: true,
    })
    return { code: run.exitCode, shown: run.all.replaceAll(`${folder}/`, '').trimEnd() }
  }

  test('does what it says, step by step', async () => {
    for (const step of stepsOf(guide)) {
      if ('file' in step) await writeStep(folder, step)
      else {
        const { code, shown } = await type(step.commands)
        const expected = step.shown?.trimEnd() ?? shown
        expect({ commands: step.commands, code, shown }).toEqual({ ...step, shown: expected })
      }
    }
  })

  test('has files that type-check', async () => {
    if (!isForPrograms) await linkPackage()
    await mkdir(join(folder, 'node_modules/@types'))
    await symlink(join(project, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
    await execa(join(project, 'bin/salt-ts'), ['create', 'module', 'another'], { cwd: folder }) // with it comes tsconfig.json
    const tsc = await execa(join(project, 'node_modules/.bin/tsc'), [], {
      cwd: folder,
      reject: false,
      all: true,
    })
    expect(tsc.all).toBe('')
  })

  test('has an example of configuration that loads without a warning, if any', () => {
    const written = stepsOf(guide).map((step) => ('file' in step ? step.file : ''))
    if (written.includes('minion')) expect(loadMinionConfig({ configDir: folder }).warnings).toEqual([])
    if (written.includes('master')) expect(loadMasterConfig({ configDir: folder }).warnings).toEqual([])
  })

  test('is linked from the README', () => {
    expect(readFileSync(join(project, 'README.md'), 'utf8')).toContain(`(${name})`)
  })
})
