import { readFile } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { connectedFile } from './paths.ts'

/** Ids with an open connection to the publish port, as the publisher last wrote them; undefined if that is not known. */
export async function connectedIds(config: MasterConfig): Promise<string[] | undefined> {
  try {
    return JSON.parse(await readFile(connectedFile(config), 'utf8'))
  } catch {
    return undefined
  }
}
