import { X509Certificate } from 'node:crypto'
import { mkdir, readFile, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { createSecureContext, type SecureContextOptions } from 'node:tls'
import type { Log } from '../../author/context.ts'
import { writeFileAtomic } from '../../base/atomic-file.ts'
import { messageOf, SaltError } from '../../base/errors.ts'
import type { MasterConfig } from '../../config/index.ts'
import { makeSelfSigned } from '../../crypto/index.ts'
import type { ApiSettings } from '../settings.ts'

export type Pem = Pick<SecureContextOptions, 'cert' | 'key'>

/** The files, all in PEM; the key may be in that of the certificate. */
interface Files {
  readonly cert: string
  readonly key: string
  readonly chain?: string
}

/** How often the files are looked at. Milliseconds. */
const ROUND_MS = 5000
const DAY_MS = 86_400_000
/** From when on an end that is near is told, or a certificate of our own made again. */
const NEAR_MS = 21 * DAY_MS
const OWN_DAYS = 800

/**
 * What the server shows to its clients: the certificate of the configuration, or one of its own. A new one in the same
 * files is taken without a restart; one that cannot be used is told, and the old one stays.
 */
export class ServerCertificate {
  readonly #files: Files
  readonly #log: Log
  #pem: Pem
  #seen: string
  #coming = ''
  #told = ''
  #round: NodeJS.Timeout | undefined
  #onChange: (pem: Pem) => void = () => {}

  private constructor(files: Files, log: Log, pem: Pem, seen: string) {
    this.#files = files
    this.#log = log
    this.#pem = pem
    this.#seen = seen
  }

  /**
   * Undefined with `disable_ssl`.
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
        'disable_ssl: passwords and tokens reach salt-api in the clear, unless something in front encrypts.',
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

  /** `onChange` gets every new one, from now until `close`. */
  watch(onChange: (pem: Pem) => void, roundMs: number = ROUND_MS): void {
    this.#onChange = onChange
    this.#round = setInterval(() => void this.#lookAfter(), roundMs).unref()
  }

  /** Read the files again now, as SIGHUP asks. */
  async reload(): Promise<void> {
    this.#seen = await stateOf(this.#files)
    try {
      this.#pem = await load(this.#files)
    } catch (error) {
      this.#log.error(`The new TLS certificate is not used, the old one stays. ${messageOf(error)}`)
      return
    }
    this.#onChange(this.#pem)
    this.#log.info(`The TLS certificate was read again: ${fingerprintOf(this.#pem)}`)
    this.#warnOfEnd()
  }

  close(): void {
    clearInterval(this.#round)
  }

  async #lookAfter(): Promise<void> {
    const state = await stateOf(this.#files)
    // Files that are being replaced one after the other are left alone until they stay as they are.
    if (state !== this.#seen && state === this.#coming) await this.reload()
    this.#coming = state
    this.#warnOfEnd()
  }

  /** Once a day. */
  #warnOfEnd(): void {
    const end = Date.parse(new X509Certificate(this.#pem.cert as string).validTo)
    const day = new Date().toDateString()
    if (end - Date.now() > NEAR_MS || this.#told === day) return
    this.#told = day
    this.#log.warn(
      `The TLS certificate in ${this.#files.cert} is valid until ${new Date(end).toISOString()} only.`,
    )
  }
}

/** Changes whenever one of the files does; a file that is away for a moment counts as it was not. */
async function stateOf({ cert, key, chain }: Files): Promise<string> {
  const states = [cert, key, ...(chain ? [chain] : [])].map(async (file) => {
    const found = await stat(file).catch(() => undefined)
    return found ? `${found.ino} ${found.size} ${found.mtimeMs} ${found.ctimeMs}` : 'none'
  })
  return (await Promise.all(states)).join('\n')
}

/** @throws SaltError CONFIG_INVALID */
async function load({ cert, key, chain }: Files): Promise<Pem> {
  const [certText, keyText, chainText] = await Promise.all([read(cert), read(key), chain ? read(chain) : ''])
  try {
    const pem = { cert: `${certText.trimEnd()}\n${chainText}`, key: keyText }
    createSecureContext(pem)
    const { validTo } = new X509Certificate(pem.cert)
    if (Date.parse(validTo) < Date.now()) throw new Error(`it was valid until ${validTo}`)
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

/** Made at the first start, and again when it nears its end; key and certificate are one file, so they always fit. */
async function ownCertificate({ host }: ApiSettings, { pki_dir }: MasterConfig, log: Log): Promise<Files> {
  const file = join(pki_dir, 'api.pem')
  const files = { cert: file, key: file }
  if (!(await lasts(files))) {
    const names = new Set([hostname(), 'localhost', '127.0.0.1', '::1', ...(isSpecific(host) ? [host] : [])])
    const { cert, key } = makeSelfSigned([...names], { days: OWN_DAYS })
    await mkdir(dirname(file), { recursive: true, mode: 0o700 })
    await writeFileAtomic(file, `${cert}${key}`)
  }
  const fingerprint = fingerprintOf(await load(files))
  log.warn(
    `No ssl_crt is given: TLS with a certificate of our own, ${file}. Clients that cannot know it refuse it; ` +
      `give them the file's certificate, or the fingerprint ${fingerprint} (SHA-256).`,
  )
  return files
}

const isSpecific = (host: string): boolean => !['', '0.0.0.0', '::'].includes(host)

async function lasts(files: Files): Promise<boolean> {
  const pem = await load(files).catch(() => undefined)
  return (
    pem !== undefined && Date.parse(new X509Certificate(pem.cert as string).validTo) > Date.now() + NEAR_MS
  )
}

const fingerprintOf = ({ cert }: Pem): string => new X509Certificate(cert as string).fingerprint256
