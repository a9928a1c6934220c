import type { Context } from 'salt-ts'
import { fnmatch, mapConcurrently } from '#internal'

/**
 * Return the state of a service; for a shell pattern a map of all services that match it.
 * @param all lists the names of all services
 * @param state finds the state of one
 */
export async function stateOf<T>(
  name: string,
  all: () => Promise<readonly string[]>,
  state: (service: string) => Promise<T>,
): Promise<T | Record<string, T>> {
  if (!/\*|\?|\[.+\]/.test(name)) return state(name)
  const names = (await all()).filter((service) => fnmatch(service, name))
  const states = await mapConcurrently(names, async (service) => [service, await state(service)] as const)
  return Object.fromEntries(states)
}

/** Return the pids of the processes whose line in `ps` matches, one a line. */
export async function pidsLike(sig: string, { call }: Context): Promise<string> {
  return String(await call('status.pid', { sig }))
}
