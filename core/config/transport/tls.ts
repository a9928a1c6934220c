import { readFileSync } from 'node:fs'
import { SaltError } from '../../base/errors.ts'
import { fileProblem } from '../../base/files/file-problem.ts'
import { isRecord } from '../../base/record.ts'
import type { OptionMap } from '../option.ts'

interface TlsOptions {
  readonly ssl: boolean | OptionMap | null | undefined
  readonly transport: string
}

/** Transports whose connections can be TLS. */
const TLS_TRANSPORTS = ['tcp', 'ws']

const VERIFY: ReadonlyMap<string, 'required' | 'optional' | 'none'> = new Map([
  ['CERT_REQUIRED', 'required'],
  ['CERT_OPTIONAL', 'optional'],
  ['CERT_NONE', 'none'],
])

/** Python's names of versions. Those that mean "the best both have" select none. */
const VERSIONS: ReadonlyMap<string, 'TLSv1.2' | 'TLSv1.3' | undefined> = new Map([
  ['PROTOCOL_TLS', undefined],
  ['PROTOCOL_TLS_CLIENT', undefined],
  ['PROTOCOL_TLS_SERVER', undefined],
  ['PROTOCOL_SSLv23', undefined],
  ['PROTOCOL_TLSv1_2', 'TLSv1.2'],
  ['PROTOCOL_TLSv1_3', 'TLSv1.3'],
])

const KEYS = ['keyfile', 'certfile', 'ca_certs', 'cert_reqs', 'check_hostname', 'ciphers', 'ssl_version']

/**
 * Return the settings of TLS (Salt's option `ssl`) for a transport; undefined without it. Files are read anew each time.
 * Without `cert_reqs` a peer's certificate is verified if `ca_certs` is set on a `client`, as its master always has one.
 * @throws SaltError CONFIG_INVALID if a value is wrong, a file cannot be read, or the transport has no TLS
 */
export function tlsOf({ ssl, transport }: TlsOptions, side: 'server' | 'client') {
  if (!ssl) return undefined
  if (!TLS_TRANSPORTS.includes(transport))
    throw invalid(
      transport === 'nats'
        ? "for NATS, set ssl, ssl_ca, ssl_cert and ssl_key in the option 'nats' instead"
        : `the transport ${transport} has no TLS. Set 'transport' to tcp or ws, or remove 'ssl'`,
    )
  const options = isRecord(ssl) ? ssl : {}
  const unknown = Object.keys(options).find((key) => !KEYS.includes(key))
  if (unknown) throw invalid(`it has the key '${unknown}'; salt-ts knows ${KEYS.join(', ')}`)
  const { keyfile, certfile, ca_certs, ciphers } = options
  if (side === 'server' && !certfile)
    throw invalid("a master needs 'certfile', and 'keyfile' unless the key is in the same file")
  const verify = options.cert_reqs ?? (ca_certs && side === 'client' ? 'CERT_REQUIRED' : 'CERT_NONE')
  const cert = pem('certfile', certfile)
  const version = named(VERSIONS, 'ssl_version', options.ssl_version ?? 'PROTOCOL_TLS')
  return {
    ...(cert && { cert, key: pem('keyfile', keyfile) ?? cert }),
    ...(ca_certs !== undefined && { ca: pem('ca_certs', ca_certs) as string }),
    verify: named(VERIFY, 'cert_reqs', verify) ?? ('none' as const),
    checkHost: options.check_hostname === true,
    ...(typeof ciphers === 'string' && { ciphers }),
    ...(version && { minVersion: version, maxVersion: version }),
  }
}

/**
 * Return the settings of TLS for connections to a master. One whose address names a transport that has no TLS is reached without.
 * @throws SaltError CONFIG_INVALID, see {@link tlsOf}
 */
export const tlsToMaster = (
  { ssl }: Pick<TlsOptions, 'ssl'>,
  { transport, namesTransport }: { readonly transport: string; readonly namesTransport: boolean },
) => (namesTransport && !TLS_TRANSPORTS.includes(transport) ? undefined : tlsOf({ ssl, transport }, 'client'))

function named<T>(names: ReadonlyMap<string, T>, key: string, value: unknown): T | undefined {
  const name = String(value).toUpperCase().replace('SSLV', 'SSLv').replace('TLSV', 'TLSv')
  if (names.has(name)) return names.get(name)
  throw invalid(`'${key}' is '${value}'; it can be ${[...names.keys()].join(', ')}`)
}

function pem(key: string, path: unknown): string | undefined {
  if (path === undefined) return undefined
  if (typeof path !== 'string') throw invalid(`'${key}' is not the path of a file`)
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw invalid(`'${key}', the file ${path}, cannot be read: ${fileProblem(error)}`)
  }
}

const invalid = (why: string): SaltError =>
  new SaltError('CONFIG_INVALID', `The option 'ssl' is not right: ${why}.`)
