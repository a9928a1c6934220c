/** URIs of the form `sdb://PROFILE/KEY`. */
import { CommandExecutionError, type Context, SaltInvocationError } from 'salt-ts'
import { entriesOf, isMapping } from '../_values/traverse.ts'
import { type Driver, drivers, type Profile } from './drivers.ts'

const SCHEME = 'sdb://'

/** Where a value is stored. */
export interface Place {
  readonly driver: Driver
  readonly driverName: string
  readonly profile: Profile
  readonly key: string
}

/** Return the place that a URI stands for; undefined if it is no URI, or its profile has no driver. */
export function placeOf(uri: unknown, context: Context): Place | undefined {
  const { name, key } = partsOf(uri) ?? {}
  const profile = name ? profileOf(name, context) : undefined
  if (name === undefined || !key || !profile) return undefined
  const driverName = String(profile.driver)
  const driver = drivers.get(driverName)
  if (driver) return { driver, driverName, profile, key }
  const known = [...drivers.keys()].join(', ')
  throw new CommandExecutionError(
    `The SDB profile '${name}' has the driver '${driverName}', which there is not; known are ${known}`,
  )
}

/** Refuse a URI for which `placeOf` finds nothing. */
export function noPlace(uri: unknown): SaltInvocationError {
  const { name, key } = partsOf(uri) ?? {}
  if (name === undefined) return new SaltInvocationError('SDB uri must start with "sdb://"')
  if (!key)
    return new SaltInvocationError('SDB uri must have a profile name as a first part of the uri before the /')
  return new SaltInvocationError(`SDB profile "${name}" wasnt found in the minion configuration`)
}

const isSdbUri = (value: unknown): value is string => typeof value === 'string' && value.startsWith(SCHEME)

function partsOf(uri: unknown): { name: string; key: string } | undefined {
  if (!isSdbUri(uri)) return undefined
  const [, name = '', key = ''] = /^([^/]*)\/?(.*)$/s.exec(uri.slice(SCHEME.length)) ?? []
  return { name, key }
}

function profileOf(name: string, { opts, pillar }: Context): Profile | undefined {
  const own = (map: Context['pillar']) => (Object.hasOwn(map, name) ? map[name] : undefined)
  const found = own(opts) || own(pillar)
  const profile = isMapping(found) ? Object.fromEntries(entriesOf(found)) : {}
  return Object.hasOwn(profile, 'driver') ? profile : undefined
}
