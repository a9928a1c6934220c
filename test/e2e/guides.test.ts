import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { create } from '../../core/cli/authoring/create.ts'
import { loadMasterConfig, loadMinionConfig } from '../../core/config/index.ts'
import { Cluster } from '../harness/daemons.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { type Step, stepsOf, writeStep } from '../harness/guide.ts'
import { freePort } from '../harness/ports.ts'
import { typeCheck } from '../harness/type-check.ts'

const project = fileURLToPath(new URL('../../', import.meta.url))
/** Pages whose examples are carried out here; other tests run those that need a running fleet or a store. */
const guides = [
  ...readdirSync(join(project, 'docs')).filter((name) => /^write-a.*\.md$/.test(name)),
  ...[
    'check.md',
    'cookbook.md',
    'develop.md',
    'from-python.md',
    'http-api.md',
    'listen-to-events.md',
    'templates.md',
  ],
].map((name) => `docs/${name}`)

const urlOf = (name: string) => pathToFileURL(join(project, name))
/** The configuration of salt-api that one of the guides has its reader write. */
const api = guides.flatMap((name) => stepsOf(urlOf(name))).find(isApi)

function isApi(step: Step): step is Extract<Step, { file: string }> {
  return 'file' in step && step.file === 'master.d/api.conf'
}

let port: number
let shared: Promise<Cluster> | undefined
/** The master and minions of all guides whose commands need them, started by the first one. */
function sharedCluster(): Promise<Cluster> {
  shared ??= openCluster()
  return shared
}
async function openCluster(): Promise<Cluster> {
  const master = parse(api!.text.replaceAll('8000', String(port)))
  const cluster = await Cluster.open({
    minions: ['web1', 'web2'],
    master: { ...master, api_logfile: '/api' },
  })
  await cluster.master.logged('salt-api is ready')
  return cluster
}
beforeAll(async () => {
  port = await freePort()
})
afterAll(async () => {
  await (await shared)?.close()
})

describe.each(guides)('the guide %s', (name) => {
  const guide = urlOf(name)
  const needsMaster = stepsOf(guide).some(isApi) || readFileSync(guide, 'utf8').includes('\nsalt-run ')
  /** Its reader has installed salt-ts beside the program. */
  const isForPrograms = /from 'salt-ts\/(client|http)'/.test(readFileSync(guide, 'utf8'))
  const installed = (name: string) => join(folder, 'node_modules', name)
  const linkPackage = async () => {
    await mkdir(installed(''))
    await symlink(project, installed('salt-ts'))
    if (/from 'ws'/.test(readFileSync(guide, 'utf8'))) await link('ws')
    const manifest = join(folder, 'package.json')
    if (!existsSync(manifest)) await writeFile(manifest, '{ "type": "module" }')
  }
  const link = (name: string) => symlink(join(project, 'node_modules', name), installed(name))
  let folder: string
  let cluster: Cluster | undefined
  beforeAll(async () => {
    if (needsMaster) cluster = await sharedCluster()
    folder = await temporaryFolder('salt-guide-')
    if (isForPrograms) await linkPackage()
    await mkdir(join(folder, 'etc'), { mode: 0o700 })
    await writeFile(join(folder, 'etc/minion'), `id: web1\nroot_dir: ${folder}/root\n`, { mode: 0o600 })
  })
  afterAll(() => removeFolder(folder))

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

  test('shows commands whose output is as written, step by step', async () => {
    for (const step of stepsOf(guide)) {
      if ('file' in step)
        await writeStep(folder, { ...step, text: step.text.replaceAll(':8000', `:${port}`) })
      else {
        const { code, shown } = await type(step.commands)
        const expected = step.shown?.trimEnd() ?? shown
        expect({ commands: step.commands, code, shown }).toEqual({ ...step, shown: expected })
      }
    }
  })

  test('has files that type-check', async () => {
    if (!isForPrograms) await linkPackage()
    await mkdir(installed('@types'))
    for (const name of ['@types/node', '@types/ws']) await link(name)
    await create({ kind: 'module', name: 'another', directory: folder }) // writes tsconfig.json, too
    expect(await typeCheck(folder)).toBe('')
  })

  test('has an example of configuration that loads without a warning, if any', () => {
    const written = stepsOf(guide).map((step) => ('file' in step ? step.file : ''))
    if (written.includes('minion')) expect(loadMinionConfig({ configDir: folder }).warnings).toEqual([])
    if (written.includes('master')) expect(loadMasterConfig({ configDir: folder }).warnings).toEqual([])
  })
})
