import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { vi } from 'vitest'

/**
 * Put a shell script as a program into `folder`, which comes first in PATH until the test's environment is restored
 * (`vi.unstubAllEnvs`).
 */
export async function stubProgram(folder: string, name: string, script: string): Promise<void> {
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, name), `#!/bin/sh\n${script}\n`)
  await chmod(join(folder, name), 0o755)
  const path = process.env.PATH ?? ''
  if (!path.startsWith(`${folder}${delimiter}`)) vi.stubEnv('PATH', `${folder}${delimiter}${path}`)
}

/** Lines that a stub has written to a file; none if it was not called. */
export async function linesOf(file: string): Promise<string[]> {
  const text = await readFile(file, 'utf8').catch(() => '')
  return text.split('\n').filter(Boolean)
}
