/** Values that an HTTP server returns as JSON. */
import { CommandExecutionError, type Context } from 'salt-ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import type { Driver, Profile } from './drivers.ts'

export const rest: Driver = {
  get: (key, profile, context) => query(key, profile, context),
  /** As in Salt, the value is not sent: the request is that of the profile. */
  set: (key, _value, profile, context) => query(key, profile, context),
}

/** Send the request that the profile has for a key: `NAME` or `NAME?variable=value&…`. */
async function query(key: string, profile: Profile, { call }: Context): Promise<unknown> {
  const [name = '', variables = ''] = key.split('?')
  const found = Object.hasOwn(profile, name) ? profile[name] : undefined
  const {
    url,
    backend: _,
    ...options
  }: Profile = isMapping(found) ? Object.fromEntries(entriesOf(found)) : {}
  if (typeof url !== 'string')
    throw new CommandExecutionError(`The SDB profile of the driver rest has no '${name}' with a 'url'`)
  const target = filled(url, new URLSearchParams(variables))
  const answer = (await call('http.query', { ...options, url: target, decode: true })) as Profile
  if (answer.error === undefined) return answer.dict
  throw new CommandExecutionError(`The request for '${name}' failed: ${answer.error}`)
}

/** Put values into a URL at `{{name}}`. Of Jinja nothing else is known. */
function filled(url: string, values: URLSearchParams): string {
  const text = url.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (_, name: string) => values.get(name) ?? '')
  if (/\{[{%#]/.test(text))
    throw new CommandExecutionError(
      `The URL ${url} of an SDB profile has more of Jinja than '{{ name }}'; this minion has no template engine`,
    )
  return text
}
