/** Documentation of functions: name → text. */
import { type Context, fn, type LoaderView } from 'salt-ts'

/**
 * Return the documentation of all runners.
 *
 * @example salt-run doc.runner
 */
export const runner = fn((_, { loader }) => docsOf(loader.of('runners')))

/**
 * Return the documentation of all wheel functions.
 *
 * @example salt-run doc.wheel
 */
export const wheel = fn((_, { loader }) => docsOf(loader.of('wheel')))

/**
 * Return the documentation of the execution functions of all minions, which are queried for it.
 *
 * @example salt-run doc.execution
 */
export const execution = fn(async (_, { master }: Context) => {
  const docs: Record<string, unknown> = {}
  for await (const { return: answer } of master.run({ tgt: '*', fun: 'sys.doc' })) {
    if (typeof answer === 'object' && answer !== null) Object.assign(docs, answer)
  }
  return sorted(Object.entries(docs))
})

async function docsOf(view: LoaderView | undefined): Promise<Record<string, unknown>> {
  const names = (await view?.functions()) ?? []
  return sorted(
    await Promise.all(names.map(async (name) => [name, (await view?.help(name)) ?? null] as const)),
  )
}

const sorted = (entries: readonly (readonly [string, unknown])[]): Record<string, unknown> =>
  Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
