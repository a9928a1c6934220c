import { expect, test } from 'vitest'
import path from 'node:path'
import { openLoader } from '../../../core/loader/index.ts'
const log = { trace() {}, debug() {}, info() {}, warn() {}, error: console.log }
test('try', async () => {
  const t = performance.now()
  const loader = openLoader('modules', { config: { module_dirs: [path.resolve('test/fixtures'), path.resolve('test/fixtures/broken')] }, grains: { os: 'x' }, log, timeoutMs: 3000 })
  const get = async (n: string, args: unknown[] = [], kw = {}) => {
    const f = await loader.get(n); if (!f) return loader.why(n)
    return f.run(f.bind(args, kw), {} as never).catch((e) => e.message)
  }
  for (const [n, a] of [['greet.hello', ['x', '2']], ['greet.delete'], ['plain.add', [1, 2]], ['pkg.install'], ['pkg.list'], ['pkg.nope'], ['falsy.never'], ['syntax.a'], ['syntaxjs.a'], ['throws.x'], ['hangs.never'], ['foo.bar'], ['refuses.x']] as [string, unknown[]][]) { const t = performance.now(); console.log(n, await get(n, a), Math.round(performance.now() - t)) }

})
