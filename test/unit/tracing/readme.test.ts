import { execFile } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { removeFolder, temporaryFolder } from '../../harness/folder.ts'
import { stepsOf, writeStep } from '../../harness/guide.ts'
import { SLOW } from '../../harness/slow.ts'

const project = fileURLToPath(new URL('../../../', import.meta.url))

/** The sources are read through tsx, as extensions of users are. */
const runModule = (text: string, options: readonly string[] = []) =>
  promisify(execFile)(process.execPath, [
    ...['--conditions=source', '--import', 'tsx', ...options],
    ...['--input-type=module', '-e', text],
  ])

test('the example registers an SDK that gets the spans of jobs', SLOW, async () => {
  const folder = await temporaryFolder('salt-tracing-')
  onTestFinished(() => removeFolder(folder))
  const installed = join(folder, 'node_modules')
  await mkdir(installed)
  await symlink(join(project, 'node_modules', '@opentelemetry'), join(installed, '@opentelemetry'))
  await symlink(project, join(installed, 'salt-ts'))
  for (const step of stepsOf(new URL('../../../docs/monitoring.md', import.meta.url)))
    if ('file' in step) await writeStep(folder, step)
  const note = `
    const { jobTracer } = await import('${project}core/tracing/index.ts')
    const tracer = await jobTracer()
    tracer.note({ part: 'client', jid: '20261122112205123456', fun: 'test.ping', start: Date.now() })`
  const { stdout } = await runModule(note, ['--import', join(folder, 'tracing.mjs')])
  expect(stdout).toMatch(/traceId: '00000000000020261122112205123456'/)
})

test('without an SDK and without metrics_port, nothing is loaded that serves them', SLOW, async () => {
  const look = `
    const before = new Set(process.moduleLoadList)
    const { jobTracer } = await import('${project}core/tracing/index.ts')
    const { meterFor } = await import('${project}core/metrics/index.ts')
    await jobTracer()
    await meterFor({ metrics_port: 0, metrics_interface: '' }, 'x')
    const loaded = process.moduleLoadList.filter((name) => !before.has(name))
    console.log(JSON.stringify(loaded))`
  const { stdout } = await runModule(look)
  const loaded = JSON.parse(stdout) as string[]
  expect(loaded.filter((name) => /http|perf_hooks|net$/.test(name))).toEqual([])
})
