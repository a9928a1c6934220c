import { execFile } from 'node:child_process'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { stepsOf, writeStep } from '../../harness/guide.ts'

const project = fileURLToPath(new URL('../../../', import.meta.url))

test('the example registers an SDK that is given the spans of jobs', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'salt-tracing-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(join(project, 'node_modules'), join(folder, 'node_modules'))
  for (const step of stepsOf(new URL('../../../core/tracing/README.md', import.meta.url)))
    if ('file' in step) await writeStep(folder, step)
  const note = `
    const { jobTracer } = await import('${project}dist/core/tracing/index.js')
    const tracer = await jobTracer()
    tracer.note({ part: 'client', jid: '20261122112205123456', fun: 'test.ping', start: Date.now() })`
  const args = ['--import', join(folder, 'tracing.mjs'), '--input-type=module', '-e', note]
  const { stdout } = await promisify(execFile)(process.execPath, args)
  expect(stdout).toMatch(/traceId: '00000000000020261122112205123456'/)
})

test('without an SDK and without metrics_port, nothing is loaded that serves them', async () => {
  const look = `
    const before = new Set(process.moduleLoadList)
    const { jobTracer } = await import('${project}dist/core/tracing/index.js')
    const { meterFor } = await import('${project}dist/core/metrics/index.js')
    await jobTracer()
    await meterFor({ metrics_port: 0, metrics_interface: '' }, 'x')
    const loaded = process.moduleLoadList.filter((name) => !before.has(name))
    console.log(JSON.stringify(loaded))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', look])
  const loaded = JSON.parse(stdout) as string[]
  expect(loaded.filter((name) => /http|perf_hooks|net$/.test(name))).toEqual([])
})
