/** TLS options of connections to stores. Certificates are verified unless `insecure`. */
import { readFile } from 'node:fs/promises'
import { type Args, p } from 'salt-ts'
import { isSet } from './_options.ts'

/** Options of all stores for which Salt has no other names. */
export const tlsOptions = {
  /** Use TLS with Node's certificate authorities. Any of the files below turns TLS on, too. */
  ssl: p.default(p.boolean(), false),
  /** PEM files: certificate authorities, instead of those of Node; the client's certificate and its key. */
  ssl_ca: p.optional(p.string()),
  ssl_cert: p.optional(p.string()),
  ssl_key: p.optional(p.string()),
  /** Accept any certificate. */
  insecure: p.default(p.boolean(), false),
} as const

const NAMES = { ca: 'ssl_ca', cert: 'ssl_cert', key: 'ssl_key' } as const

/** Options of `tls.connect`. `crl` has revoked certificates. */
type Pem = { readonly [kind in 'ca' | 'cert' | 'key' | 'crl']?: string }

/** Return the TLS options; undefined for a connection without TLS. Rejects if a file cannot be read. */
export async function tlsFacts(
  options: Args<typeof tlsOptions>,
): Promise<(Pem & { readonly rejectUnauthorized: boolean }) | undefined> {
  const pem = await pemFiles(NAMES, options)
  if (!options.ssl && Object.keys(pem).length === 0) return undefined
  return { ...pem, rejectUnauthorized: !options.insecure }
}

/**
 * Read the files that the options with these names point to. Rejects if one cannot be read.
 * @example await pemFiles({ ca: 'sslrootcert' }, options) // { ca: '-----BEGIN…' }, or {}
 */
export async function pemFiles<Name extends string>(
  names: { readonly [kind in keyof Pem]: Name },
  options: { readonly [name in NoInfer<Name>]: string | undefined },
): Promise<Pem> {
  const pem: { -readonly [kind in keyof Pem]: string } = {}
  for (const kind of Object.keys(names) as (keyof Pem)[]) {
    const name = names[kind]
    const path = name && options[name]
    if (name && isSet(path)) pem[kind] = await readFile(path, 'utf8').catch(unreadable(name, path))
  }
  return pem
}

const unreadable = (name: string, path: string) => (error: NodeJS.ErrnoException) => {
  throw new Error(`the file of ${name}, ${path}, cannot be read (${error.code})`, { cause: error })
}
