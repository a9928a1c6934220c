import type { Log } from 'salt-ts'

type Grains = Record<string, unknown>
type Source = () => Grains | Promise<Grains>

/** Run several sources concurrently. A source that fails is logged and left out, as are undefined values. */
export async function gather(log: Log, sources: Readonly<Record<string, Source>>): Promise<Grains> {
  const found = await Promise.all(Object.entries(sources).map(([name, source]) => ask(name, source, log)))
  const pairs = found.flatMap((grains) => Object.entries(grains))
  return Object.fromEntries(pairs.filter(([, value]) => value !== undefined))
}

async function ask(name: string, source: Source, log: Log): Promise<Grains> {
  try {
    return await source()
  } catch (cause) {
    log.error(
      `The grains about ${name} are missing: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
    return {}
  }
}
