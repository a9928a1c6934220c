/** Minions the master knows. */
import { fn } from 'salt-ts'

/**
 * Ids of the minions that are connected.
 *
 * @example salt-run wheel minions.connected
 */
export const connected = fn(async (_, { master }) => (await master.connectedIds()).sort())
