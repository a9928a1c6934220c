import { isIP } from 'node:net'
import { isRecord } from './bytes.ts'

/**
 * For whom a server passes a request on. A field of our own, beside the load and not in it: masters of Python Salt give
 * what else is in some loads to functions, and look at nothing else of an envelope.
 */
export interface Via {
  /** IP address of its client. */
  readonly address: string
  /** That a server of the master's host says so: a keyed digest of it under the key of the master's user. */
  readonly proof?: string
}

/** What is known of that, and no more. */
export interface ClaimedVia {
  /** The client of the API on another host that has passed it on, as its key proves; otherwise anybody may have. */
  readonly api?: string
  /** As whoever has passed it on says. */
  readonly claimed_address?: string
  /** For the master alone, never to be shown. */
  readonly proof?: string
}

/** With its zone, an address of IPv6 is no longer. */
const MOST_CHARACTERS = 64

/** Undefined if nothing is known. */
export function readVia(said: unknown, api?: string): ClaimedVia | undefined {
  const address = isRecord(said) ? said.address : undefined
  const isOne = typeof address === 'string' && address.length <= MOST_CHARACTERS && isIP(address) !== 0
  if (!isOne && api === undefined) return undefined
  const proof = isRecord(said) && isOne && api === undefined ? said.proof : undefined
  return {
    ...(api !== undefined && { api }),
    ...(isOne && { claimed_address: address }),
    ...(typeof proof === 'string' && proof.length <= MOST_CHARACTERS && { proof }),
  }
}
