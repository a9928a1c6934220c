/** Minions of the master. */
import { fn } from 'salt-ts'

/**
 * Return the ids of the connected minions.
 *
 * @example salt-run wheel minions.connected
 */
export const connected = fn(async (_, { master }) => (await master.connectedIds()).sort())
