import { AsyncLocalStorage } from 'node:async_hooks'

interface Texts {
  stdout: string
  stderr: string
}

/** Where what is written goes, of the work that writes it: several may run at once. */
const capturing = new AsyncLocalStorage<Texts>()

for (const name of ['stdout', 'stderr'] as const) {
  const stream = process[name]
  const write = stream.write.bind(stream)
  stream.write = ((...given: Parameters<typeof write>) => {
    const texts = capturing.getStore()
    if (!texts) return write(...given)
    texts[name] += typeof given[0] === 'string' ? given[0] : Buffer.from(given[0]).toString()
    const done: unknown = given.at(-1)
    if (typeof done === 'function') done()
    return true
  }) as typeof write
}

/** Run something and give what it wrote to standard output and standard error, and what it gave. */
export async function captured<T>(
  work: () => Promise<T>,
): Promise<{ result: T; stdout: string; stderr: string }> {
  const texts = { stdout: '', stderr: '' }
  const result = await capturing.run(texts, work)
  return { result, ...texts }
}
