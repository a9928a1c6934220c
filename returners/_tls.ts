/** TLS of connections to stores. Certificates are checked unless `insecure`. */
import { readFile } from 'node:fs/promises'
import { type Args, p } from 'salt-ts'
import { isSet } from './_options.ts'

/** The same for all stores whose options Salt does not name otherwise. */
export const tlsOptions = {
  /** Use TLS with the authorities of Node; naming one of the files below uses it, too. */
  ssl: p.default(p.boolean(), false),
  /** Files in PEM: authorities, trusted instead of those of Node; our own certificate and its key. */
  ssl_ca: p.optional(p.string()),
  ssl_cert: p.optional(p.string()),
  ssl_key: p.optional(p.string()),
  /** Take any certificate. */
  insecure: p.default(p.boolean(), false),
} as const

const NAMES = { ca: 'ssl_ca', cert: 'ssl_cert', key: 'ssl_key' } as const

/** As `tls.connect` takes them. `crl`: revoked certificates. */
type Pem = { readonly [kind in 'ca' | 'cert' | 'key' | 'crl']?: string }

/** Undefined for a connection without TLS. Rejects with a sentence if a file cannot be read. */
export async function tlsFacts(
  options: Args<typeof tlsOptions>,
): Promise<(Pem & { readonly rejectUnauthorized: boolean }) | undefined> {
  const pem = await pemFiles(NAMES, options)
  if (!options.ssl && Object.keys(pem).length === 0) return undefined
  return { ...pem, rejectUnauthorized: !options.insecure }
}

/**
 * What is in the files that options of these names name. Rejects with a sentence if one cannot be read.
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
