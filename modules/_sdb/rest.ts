/** Values that an HTTP server returns as JSON. */
import { CommandExecutionError, type Context } from 'salt-ts'
import { renderTemplate } from '../_template/index.ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import type { Driver, Profile } from './drivers.ts'

export const rest: Driver = {
  get: (key, profile, context) => query(key, profile, context),
  /** As in Salt, the value is not sent: the request is that of the profile. */
  set: (key, _value, profile, context) => query(key, profile, context),
}

/** Send the request that the profile has for a key: `NAME` or `NAME?variable=value&…`. */
async function query(key: string, profile: Profile, context: Context): Promise<unknown> {
  const [name = '', variables = ''] = key.split('?')
  const found = Object.hasOwn(profile, name) ? profile[name] : undefined
  const {
    url,
    backend: _,
    ...options
  }: Profile = isMapping(found) ? Object.fromEntries(entriesOf(found)) : {}
  if (typeof url !== 'string')
    throw new CommandExecutionError(`The SDB profile of the driver rest has no '${name}' with a 'url'`)
  const values = Object.fromEntries(new URLSearchParams(variables))
  const target = await renderTemplate(url, 'jinja', { saltenv: 'base', variables: values }, context)
  const answer = (await context.call('http.query', { ...options, url: target, decode: true })) as Profile
  if (answer.error === undefined) return answer.dict
  throw new CommandExecutionError(`The request for '${name}' failed: ${answer.error}`)
}
