import { mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Returner } from '../../core/author/returner.ts'
import { type Certificate, selfSigned } from '../harness/certificate.ts'
import { removeFolder, temporaryFolder } from '../harness/folder.ts'
import { needs, program } from '../harness/needs.ts'
import { aReturn, returnerWith } from '../harness/returner.ts'

/** Paths of files in PEM. */
export interface ServerFiles extends Certificate {
  /** Clients have to have a certificate of one of these authorities. The server's own is among them. */
  readonly clients?: string
}

interface SecureServer {
  readonly port: number
  drop(): Promise<unknown>
}

export interface TlsSetup {
  /** Of the returner. */
  readonly name: string
  /** Which `start` starts, where that is one of the system's. */
  readonly program?: string
  /** A server at 127.0.0.1 with TLS. */
  readonly start: (files: ServerFiles) => Promise<SecureServer>
  /** The configuration with which the returner finds it. */
  readonly config: (port: number, options: object) => Readonly<Record<string, unknown>>
  /** What it says if it has no certificate where the server asks for one. */
  readonly says?: string
  /** What needs a connection, if not `save`. */
  readonly use?: (returner: Returner) => Promise<unknown>
}

/** What a returner whose options are those of `returners/_tls.ts` must do with certificates. */
export function tlsContract({
  name,
  program: server,
  start,
  config,
  says = 'the server requires a client certificate',
  use = (one) => one.save(aReturn()),
}: TlsSetup): void {
  describe(`the returner ${name} with TLS`, server ? needs(program(server)) : {}, () => {
    let folder: string
    let own: Certificate
    let server: SecureServer
    beforeAll(async () => {
      folder = await temporaryFolder('salt-ts-tls-')
      own = await selfSigned(folder)
      server = await start(own)
    })
    afterAll(async () => {
      await server?.drop()
      await removeFolder(folder)
    })
    const connect = async (options: object, { port } = server) => {
      const returner = await returnerWith(name, config(port, { timeout: 5, ...options }))
      try {
        await use(returner)
      } finally {
        await returner.close?.()
      }
    }
    /** Another server, for this time only. */
    const withServer = async (files: ServerFiles, work: (server: SecureServer) => Promise<void>) => {
      const other = await start(files)
      await work(other).finally(() => other.drop())
    }

    test('accepts a certificate that it can verify', () => connect({ ssl_ca: own.cert }))
    test('refuses a certificate that it cannot verify', async () => {
      await expect(connect({ ssl: true })).rejects.toThrow('self-signed certificate')
    })
    test('accepts any certificate with insecure', () => connect({ ssl: true, insecure: true }))

    test('refuses a certificate of another host', async () => {
      const other = await selfSigned(await mkdtemp(join(folder, 'other-')), 'DNS:other.example')
      await withServer(other, async (imposter) => {
        await expect(connect({ ssl_ca: other.cert }, imposter)).rejects.toThrow(
          "Hostname/IP does not match certificate's altnames",
        )
      })
    })

    test('presents a client certificate if the server requires one, and says if it has none', async () => {
      const client = await selfSigned(await mkdtemp(join(folder, 'client-')))
      const clients = join(folder, 'clients.pem')
      await writeFile(clients, (await Promise.all([own, client].map(({ cert }) => readFile(cert)))).join(''))
      await withServer({ ...own, clients }, async (asking) => {
        await connect({ ssl_ca: own.cert, ssl_cert: client.cert, ssl_key: client.key }, asking)
        await expect(connect({ ssl_ca: own.cert, timeout: 2 }, asking)).rejects.toThrow(says)
      })
    })
  })
}

/** As `node:tls` takes them. */
export const tlsOptionsOf = async ({ cert, key, clients }: ServerFiles) => ({
  cert: await readFile(cert),
  key: await readFile(key),
  ...(clients && { ca: await readFile(clients), requestCert: true, rejectUnauthorized: true }),
})
