import { readFileSync } from 'node:fs'
import { SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import type { OptionMap } from '../option.ts'

/** Options of the returner of that name, which are in the same map. */
const OF_THE_RETURNER = ['replicas', 'duplicate_window', 'timeout']
const TEXTS = ['prefix', 'user', 'password', 'token', 'credentials', 'ssl_ca', 'ssl_cert', 'ssl_key'] as const
const FLAGS = ['ssl', 'insecure'] as const
const KEYS: readonly string[] = ['servers', ...TEXTS, ...FLAGS]

/**
 * Return the option `nats` in the form of the transport of that name. Files are read anew each time.
 * @throws SaltError CONFIG_INVALID if a key is unknown, a value is wrong, or a file cannot be read
 */
export function natsOf(config: { readonly nats: OptionMap }) {
  const options = given(config)
  const unknown = Object.keys(options).find((key) => ![...KEYS, ...OF_THE_RETURNER].includes(key))
  if (unknown) throw invalid(`it has the key '${unknown}'; salt-ts knows ${KEYS.join(', ')}`)
  const text = (key: (typeof TEXTS)[number]) => {
    const value = options[key]
    if (value === undefined || typeof value === 'string') return value
    throw invalid(`'${key}' is not text. Put it in quotes`)
  }
  const flag = (key: (typeof FLAGS)[number]) => {
    const value = options[key] ?? false
    if (typeof value === 'boolean') return value
    throw invalid(`'${key}' is neither true nor false`)
  }
  const prefix = text('prefix') ?? 'salt'
  if (!/^[\w-]+$/.test(prefix)) throw invalid(`'prefix' is '${prefix}'; it may have letters, digits, _ and -`)
  const credentials = text('credentials')
  const pem = (key: 'ssl_ca' | 'ssl_cert' | 'ssl_key') => {
    const path = text(key)
    return path === undefined ? undefined : readOption(key, path).toString()
  }
  const [ca, cert, key] = [pem('ssl_ca'), pem('ssl_cert'), pem('ssl_key')]
  const hasTls = flag('ssl') || [ca, cert, key].some((file) => file !== undefined)
  if (flag('insecure') && !hasTls) throw invalid("'insecure' is true without TLS; add ssl: true")
  const [user, password, token] = [text('user'), text('password'), text('token')]
  return {
    servers: serversIn(options.servers),
    prefix,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ...(token !== undefined && { token }),
    ...(credentials !== undefined && { credentials: readOption('credentials', credentials) }),
    ...(hasTls && {
      tls: {
        ...(ca !== undefined && { ca }),
        ...(cert !== undefined && { cert }),
        ...((key ?? cert) !== undefined && { key: key ?? cert }),
        rejectUnauthorized: !flag('insecure'),
      },
    }),
  }
}

/** The keys of the map, and those written as `nats.servers`. */
function given({ nats, ...config }: { readonly nats: OptionMap }): OptionMap {
  const dotted = Object.entries(config).flatMap(([name, value]) =>
    name.startsWith('nats.') ? [[name.slice('nats.'.length), value] as const] : [],
  )
  return { ...Object.fromEntries(dotted), ...nats }
}

function serversIn(value: unknown = ['127.0.0.1:4222']): readonly string[] {
  const servers = typeof value === 'string' ? value.split(',').map((server) => server.trim()) : value
  const isList =
    Array.isArray(servers) && servers.every((server) => typeof server === 'string' && server !== '')
  if (isList && servers.length > 0) return servers
  throw invalid("'servers' is not a list of addresses, such as [nats1:4222, nats2:4222]")
}

function readOption(key: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    throw invalid(`'${key}', the file ${path}, cannot be read: ${fileProblem(error)}`)
  }
}

const invalid = (why: string): SaltError =>
  new SaltError('CONFIG_INVALID', `The option 'nats' is not right: ${why}.`)
