/** Settings of the server: under `api` of the master's configuration, or under Salt's `rest_cherrypy` and `rest_tornado`. */
import { closest } from '../base/closest.ts'
import { SaltError } from '../base/errors.ts'
import { parseNetwork } from '../base/ip-network.ts'
import { remoteMasterOptions } from '../client/remote-master.ts'
import { checkOption } from '../config/check-option.ts'
import type { MasterConfig } from '../config/index.ts'
import {
  count,
  flag,
  integer,
  list,
  type Mapping,
  map,
  type OptionsOf,
  port,
  text,
  textOrList,
} from '../config/option.ts'
import { isRecord } from '../wire/bytes.ts'
import { liveOptions } from './live/options.ts'

const apiOptions = {
  start: flag(true, 'salt-master starts the server; false: only settings of salt-api.'),
  host: text('0.0.0.0', 'Address to listen on.'),
  port: port(8000, 'Port to listen on.'),
  ssl_crt: text('', 'File with the certificate, PEM; without it the server makes one of its own.'),
  ssl_key: text('', 'File with its private key, PEM; that of ssl_crt if not given.'),
  ssl_chain: text('', 'File with the certificates between it and one that clients know, PEM.'),
  disable_ssl: flag(false, 'Serve plain HTTP: credentials are sent in the clear.'),
  root_prefix: text('/', 'What every path begins with.'),
  max_request_body_size: integer(1_048_576, 'Bytes of a request.', { minimum: 1, maximum: 1_073_741_824 }),
  max_chunks: count(100, 'Commands in one request.'),
  enable_sessions: flag(true, 'Accept and give the token as a cookie, too.'),
  cors_origin: textOrList([], 'Origins whose pages may use this server; *: all, without cookies.'),
  authorized_ips: list([], 'Addresses whose requests are served; all if empty.'),
  api_acl: map('users: {name: [addresses]}, from where somebody may sign in; * is anybody, or anywhere.'),
  ...liveOptions,
  ...remoteMasterOptions,
} as const

type Options = OptionsOf<typeof apiOptions>

export interface ApiSettings extends Options {
  readonly cors_origin: readonly string[]
}

/** Salt's settings of its servers that there is nothing for here. */
const WITHOUT_EFFECT = new Set(
  `app app_path debug expire_responses favicon log_access_file log_error_file queue_size socket_queue_size static
  static_path thread_pool backlog num_processes`.split(/\s+/),
)

/**
 * `warnings` are sentences about settings that are not known.
 * @throws SaltError CONFIG_INVALID
 */
export function readSettings(config: MasterConfig): { settings: ApiSettings; warnings: string[] } {
  const warnings: string[] = []
  const given: Record<string, unknown> = {}
  for (const [group, values] of groupsOf(config)) {
    for (const [key, value] of Object.entries(values)) {
      const name = group === 'rest_tornado' && key === 'address' ? 'host' : key
      if (value === null) continue
      if (!Object.hasOwn(apiOptions, name)) warnings.push(...remark(group, name))
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

/** Later ones win. */
function groupsOf({ rest_tornado, rest_cherrypy, api }: MasterConfig): [string, Mapping][] {
  return [
    ['rest_tornado', rest_tornado],
    ['rest_cherrypy', rest_cherrypy],
    ['api', typeof api === 'boolean' ? {} : api],
  ]
}

function remark(group: string, name: string): string[] {
  if (WITHOUT_EFFECT.has(name)) return [`The setting ${group}:${name} has no effect here.`]
  const meant = closest(name, Object.keys(apiOptions))
  return [`The setting ${group}:${name} is not known.${meant ? ` Did you mean '${meant}'?` : ''}`]
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
      if (!words.includes(String(place)) && !isPlace(place))
        throw invalid(key, 'addresses or networks, such as 10.0.0.0/8', place, file)
}

/** Names of networks that are known to what reads X-Forwarded-For. */
const PROXIES = ['loopback', 'linklocal', 'uniquelocal']

function isPlace(place: unknown): boolean {
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
