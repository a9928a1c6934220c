/** Bundles of CA certificates in PEM, as OpenSSL reads them. */
import { randomUUID, X509Certificate } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Throws if the text has no certificate, or one that cannot be parsed. */
export function checkCertificates(text: string, from: string): void {
  const certificates = text.match(CERTIFICATE) ?? []
  if (certificates.length === 0) throw new CommandExecutionError(`${from} has no certificate in it.`)
  for (const [at, pem] of certificates.entries()) {
    try {
      new X509Certificate(pem)
    } catch (error) {
      throw new CommandExecutionError(
        `Certificate ${at + 1} of ${from} cannot be read: ${(error as Error).message}`,
      )
    }
  }
}

/** Read a file of certificates. Rejects if it has none, or one that cannot be parsed. */
export async function readCertificates(path: string): Promise<string> {
  try {
    const text = await readFile(path, 'utf8')
    checkCertificates(text, path)
    return text
  } catch (error) {
    if (error instanceof CommandExecutionError) throw error
    throw new CommandExecutionError(`${path} cannot be read: ${(error as Error).message}`)
  }
}

/** Replace the file atomically: readers see either the old file or the new one. */
export async function replaceBundle(path: string, text: string): Promise<void> {
  const fresh = `${path}.${randomUUID()}`
  try {
    await writeFile(fresh, text, { flag: 'wx', mode: 0o644, flush: true })
    await rename(fresh, path)
  } catch (error) {
    throw new CommandExecutionError(`${path} cannot be written: ${(error as Error).message}`)
  } finally {
    await rm(fresh, { force: true })
  }
}
