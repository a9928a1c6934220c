/** Files of certificates of authorities, as OpenSSL reads them. */
import { randomUUID, X509Certificate } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { CommandExecutionError } from 'salt-ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Refuses a text that has none, or one that cannot be read. */
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

/** The text of a file with certificates. */
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

/** Who reads it meanwhile sees the old file or the new one. */
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
