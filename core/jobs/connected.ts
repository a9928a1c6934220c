import { readFile } from 'node:fs/promises'
import type { MasterConfig } from '../config/index.ts'
import { connectedFile } from './paths.ts'

/**
 * What the publisher knows of the connections of minions. One of Python Salt is known by the addresses in its grains;
 * where these are not those it connects from, it is in neither list.
 */
export interface Connections {
  readonly present: readonly string[]
  /** Were connected since the master started, and are not now. */
  readonly lost: readonly string[]
  /** Runs of minions that are connected now, by their tokens; where `refuse_second_minion` is set. */
  readonly runs?: Readonly<Record<string, readonly string[]>>
}

/** As the publisher last wrote it; undefined if no master has run here. */
export async function connections(config: MasterConfig): Promise<Connections | undefined> {
  try {
    return JSON.parse(await readFile(connectedFile(config), 'utf8'))
  } catch {
    return undefined
  }
}

/** Ids known to be connected to the publish port; undefined if nothing is known. */
export async function connectedIds(config: MasterConfig): Promise<readonly string[] | undefined> {
  return (await connections(config))?.present
}
