import type { Context } from 'salt-ts'

/**
 * Return a setting as `config.option` finds it: in the configuration, the grains, the pillar or the master's configuration there,
 * or else Salt's default. Undefined if it is empty.
 */
export async function setting(name: string, { call }: Pick<Context, 'call'>): Promise<unknown> {
  const found = await call('config.option', { value: name })
  return found === '' || found === null ? undefined : found
}

/** Return a setting as text. */
export async function textSetting(name: string, context: Pick<Context, 'call'>): Promise<string | undefined> {
  const found = await setting(name, context)
  return found === undefined ? undefined : String(found)
}
