/** Settings of salt-api: `api` in the configuration of the master, or Salt's `rest_cherrypy` and `rest_tornado`. */

import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { parseNetwork } from '../base/net/ip-network.ts'
import { isRecord } from '../base/record.ts'
import { remoteMasterOptions } from '../client/remote/remote-master.ts'
import { checkOption } from '../config/check-option.ts'
import type { MasterConfig } from '../config/index.ts'
import {
  count,
  flag,
  integer,
  list,
  map,
  type OptionMap,
  type OptionsOf,
  port,
  text,
  textOrList,
} from '../config/option.ts'
import { liveOptions } from './live/options.ts'

export const apiOptions = {
  start: flag(
    true,
    'Whether salt-master starts the server. With false, these are only settings for salt-api.',
  ),
  host: text('0.0.0.0', 'Address to listen on.'),
  port: port(8000, 'Port to listen on.'),
  ssl_crt: text('', 'Certificate file (PEM). Without it, the server creates a self-signed certificate.'),
  ssl_key: text('', 'Private key file (PEM). Default: ssl_crt holds the key as well.'),
  ssl_chain: text('', 'File with the intermediate certificates (PEM).'),
  disable_ssl: flag(false, 'Serve plain HTTP: credentials are sent in the clear.'),
  root_prefix: text('/', 'Prefix of every path.'),
  max_request_body_size: integer(1_048_576, 'Maximum size of a request body, in bytes.', {
    minimum: 1,
    maximum: 1_073_741_824,
  }),
  max_chunks: count(100, 'Maximum number of commands in one request.'),
  enable_sessions: flag(true, 'Accept and send the token as a cookie as well.'),
  cors_origin: textOrList([], 'Origins whose pages may use this server. * allows all, but without cookies.'),
  authorized_ips: list([], 'Addresses and networks that may send requests. Empty: all.'),
  api_acl: map(
    'Addresses each user may sign in from: {users: {name: [addresses]}}. * stands for any user, or any address.',
  ),
  ...liveOptions,
  ...remoteMasterOptions,
} as const

type Options = OptionsOf<typeof apiOptions>

export interface ApiSettings extends Options {
  readonly cors_origin: readonly string[]
}

/** Settings of Salt's servers that have no effect here. */
const WITHOUT_EFFECT = new Set(
  `app app_path debug expire_responses favicon log_access_file log_error_file queue_size socket_queue_size static
  static_path thread_pool backlog num_processes`.split(/\s+/),
)

/**
 * Read and check the settings. `warnings` are sentences about unknown ones.
 * @throws SaltError CONFIG_INVALID
 */
export function readSettings(config: MasterConfig): { settings: ApiSettings; warnings: string[] } {
  const warnings: string[] = []
  const given: Record<string, unknown> = {}
  for (const [group, values] of groupsOf(config)) {
    for (const [key, value] of Object.entries(values)) {
      const name = group === 'rest_tornado' && key === 'address' ? 'host' : key
      if (value === null) continue
      if (!Object.hasOwn(apiOptions, name)) warnings.push(...warningFor(group, name))
      else {
        const { schema } = apiOptions[name as keyof typeof apiOptions]
        checkOption(`${group}:${key}`, schema, value, config.conf_file)
        given[name] = value
      }
    }
  }
  const defaults = Object.fromEntries(Object.entries(apiOptions).map(([name, row]) => [name, row.default]))
  const { login_attempts, login_lockout } = config
  const options = { ...defaults, login_attempts, login_lockout, ...given } as Options
  checkKey(options, config.conf_file)
  checkAddresses(options, config.conf_file)
  return { settings: { ...options, cors_origin: [options.cors_origin].flat() }, warnings }
}

/** List the groups of settings; later ones override earlier ones. */
function groupsOf({ rest_tornado, rest_cherrypy, api }: MasterConfig): [string, OptionMap][] {
  return [
    ['rest_tornado', rest_tornado],
    ['rest_cherrypy', rest_cherrypy],
    ['api', typeof api === 'boolean' ? {} : api],
  ]
}

function warningFor(group: string, name: string): string[] {
  if (WITHOUT_EFFECT.has(name)) return [`The setting ${group}:${name} has no effect here.`]
  const similar = closest(name, Object.keys(apiOptions))
  return [`The setting ${group}:${name} is not known.${similar ? ` Did you mean '${similar}'?` : ''}`]
}

function checkKey({ ssl_crt, ssl_key }: Options, file: string): void {
  if (ssl_key && !ssl_crt)
    throw new SaltError(
      'CONFIG_INVALID',
      `salt-api has ssl_key, but no ssl_crt. Both are needed; see ${file}.`,
    )
}

/** Refuse addresses and networks that cannot be parsed: they would silently match nobody. */
function checkAddresses({ authorized_ips, trust_proxy, api_acl }: Options, file: string): void {
  const { users = {} } = api_acl
  if (!isRecord(users))
    throw invalid('api:api_acl:users', 'a map of users, each with a list of addresses', users, file)
  const lists: [string, unknown, readonly string[]][] = [
    ['api:authorized_ips', authorized_ips, []],
    ['api:trust_proxy', trust_proxy, PROXIES],
    ...Object.entries(users).map(([user, places]): [string, unknown, string[]] => [
      `api:api_acl:users:${user}`,
      places,
      ['*'],
    ]),
  ]
  for (const [key, places, words] of lists)
    for (const place of [places].flat())
      if (!words.includes(String(place)) && !isNetwork(place))
        throw invalid(key, 'addresses or networks, such as 10.0.0.0/8', place, file)
}

/** Names of networks that fastify's `trustProxy` knows. */
const PROXIES = ['loopback', 'linklocal', 'uniquelocal']

function isNetwork(place: unknown): boolean {
  try {
    return typeof place === 'string' && parseNetwork(place) !== undefined
  } catch {
    return false
  }
}

const invalid = (key: string, expected: string, found: unknown, file: string): SaltError =>
  new SaltError(
    'CONFIG_INVALID',
    `The option ${key} in ${file} must be ${expected}, but has ${JSON.stringify(found)}.`,
    { file, key },
  )
