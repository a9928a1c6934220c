import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Log } from '../../author/context.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import { writeFileAtomic } from '../../base/files/atomic-file.ts'
import { type Repetition, repeat } from '../../base/repeat.ts'
import type { MasterConfig } from '../../config/index.ts'
import { makeSelfSignedCertificate } from '../../crypto/index.ts'
import type { ApiSettings } from '../settings.ts'

export type Pem = Pick<SecureContextOptions, 'cert' | 'key'>

/** PEM files. The key may be in the file of the certificate. */
interface Files {
  readonly cert: string
  readonly key: string
  readonly chain?: string
}

/** How often the files are checked for changes. */
const CHECK_INTERVAL_MS = 5000
const DAY_MS = 86_400_000
/** A certificate that ends this soon is warned about, or generated again if it is self-signed. */
const EXPIRY_WARNING_MS = 21 * DAY_MS
const SELF_SIGNED_DAYS = 800

/**
 * The TLS certificate of the server: the configured one, or a self-signed one. It is reloaded when its files change.
 * If the new one cannot be used, that is logged and the old one stays.
 */
export class ServerCertificate {
  readonly #files: Files
  readonly #log: Log
  #pem: Pem
  #loaded: string
  #changed = ''
  #warnedOn = ''
  #checks: Repetition | undefined
  #onChange: (pem: Pem) => void = () => {}

  private constructor(files: Files, log: Log, pem: Pem, seen: string) {
    this.#files = files
    this.#log = log
    this.#pem = pem
    this.#loaded = seen
  }

  /**
   * Load the certificate; undefined with `disable_ssl`.
   * @throws SaltError CONFIG_INVALID for a certificate that cannot be used
   */
  static async open(
    settings: ApiSettings,
    config: MasterConfig,
    log: Log,
  ): Promise<ServerCertificate | undefined> {
    const { ssl_crt, ssl_key, ssl_chain, disable_ssl } = settings
    if (disable_ssl) {
      log.warn(
        'disable_ssl: passwords and tokens reach salt-api unencrypted, unless a proxy in front of it encrypts.',
      )
      return undefined
    }
    const files = ssl_crt
      ? { cert: ssl_crt, key: ssl_key || ssl_crt, ...(ssl_chain && { chain: ssl_chain }) }
      : await ownCertificate(settings, config, log)
    const seen = await stateOf(files)
    const certificate = new ServerCertificate(files, log, await load(files), seen)
    certificate.#warnOfEnd()
    return certificate
  }

  get pem(): Pem {
    return this.#pem
  }

  /** Call `onChange` with every new certificate, until `close`. */
  watch(onChange: (pem: Pem) => void, checkMs: number = CHECK_INTERVAL_MS): void {
    this.#onChange = onChange
    this.#checks = repeat(
      () => this.#check(),
      checkMs,
      (error) => this.#log.error(`The TLS certificate could not be checked: ${messageOf(error)}`),
    )
  }

  /** Reload the files now (SIGHUP). */
  async reload(): Promise<void> {
    this.#loaded = await stateOf(this.#files)
    try {
      this.#pem = await load(this.#files)
    } catch (error) {
      this.#log.error(`The new TLS certificate cannot be used; the old one stays in use. ${messageOf(error)}`)
      return
    }
    this.#onChange(this.#pem)
    this.#log.info(`The TLS certificate was reloaded: ${fingerprintOf(this.#pem)}`)
    this.#warnOfEnd()
  }

  close(): void {
    void this.#checks?.close()
  }

  async #check(): Promise<void> {
    const state = await stateOf(this.#files)
    // Reload only when the files did not change since the last check: they are replaced one after the other.
    if (state !== this.#loaded && state === this.#changed) await this.reload()
    this.#changed = state
    this.#warnOfEnd()
  }

  /** Warn at most once a day. */
  #warnOfEnd(): void {
    const end = Date.parse(new X509Certificate(this.#pem.cert as string).validTo)
    const day = new Date().toDateString()
    if (end - Date.now() > EXPIRY_WARNING_MS || this.#warnedOn === day) return
    this.#warnedOn = day
    this.#log.warn(
      `The TLS certificate in ${this.#files.cert} expires on ${new Date(end).toISOString()}. Replace it.`,
    )
  }
}

/** Return a text that changes whenever one of the files does. A missing file counts as a state of its own. */
async function stateOf({ cert, key, chain }: Files): Promise<string> {
  const states = [cert, key, ...(chain ? [chain] : [])].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : 'none'
  })
  return (await Promise.all(states)).join('\n')
}

/**
 * Load and check the files.
 * @throws SaltError CONFIG_INVALID
 */
async function load({ cert, key, chain }: Files): Promise<Pem> {
  const [certText, keyText, chainText] = await Promise.all([read(cert), read(key), chain ? read(chain) : ''])
  try {
    const pem = { cert: `${certText.trimEnd()}\n${chainText}`, key: keyText }
    createSecureContext(pem)
    const { validTo } = new X509Certificate(pem.cert)
    if (Date.parse(validTo) < Date.now()) throw new Error(`it expired on ${validTo}`)
    return pem
  } catch (error) {
    throw unusable(cert, key, messageOf(error))
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new SaltError(
      'CONFIG_INVALID',
      `The file ${file} for TLS cannot be read: ${messageOf(error)}. See ssl_crt, ssl_key and ssl_chain.`,
    )
  }
}

const unusable = (cert: string, key: string, why: string): SaltError =>
  new SaltError(
    'CONFIG_INVALID',
    `The certificate in ${cert} with the key in ${key} cannot be used for TLS: ${why}. See ssl_crt, ssl_key and ssl_chain.`,
  )

/**
 * Generate the self-signed certificate at the first start, and again before it expires. Key and certificate are in
 * one file, so they always match.
 */
async function ownCertificate({ host }: ApiSettings, { pki_dir }: MasterConfig, log: Log): Promise<Files> {
  const file = join(pki_dir, 'api.pem')
  const files = { cert: file, key: file }
  if (!(await isLongValid(files))) {
    const names = new Set([hostname(), 'localhost', '127.0.0.1', '::1', ...(isSpecific(host) ? [host] : [])])
    const { cert, key } = makeSelfSignedCertificate([...names], { days: SELF_SIGNED_DAYS })
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFileAtomic(file, `${cert}${key}`)
  }
  const fingerprint = fingerprintOf(await load(files))
  log.warn(
    `No ssl_crt is configured: TLS uses the self-signed certificate ${file}, which clients do not trust yet. ` +
      `Give them the certificate in that file, or its fingerprint ${fingerprint} (SHA-256).`,
  )
  return files
}

const isSpecific = (host: string): boolean => !['', '0.0.0.0', '::'].includes(host)

async function isLongValid(files: Files): Promise<boolean> {
  const pem = await load(files).catch(() => undefined)
  return (
    pem !== undefined &&
    Date.parse(new X509Certificate(pem.cert as string).validTo) > Date.now() + EXPIRY_WARNING_MS
  )
}

const fingerprintOf = ({ cert }: Pem): string => new X509Certificate(cert as string).fingerprint256
