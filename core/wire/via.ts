import { isIP } from 'node:net'
import { isRecord } from '../base/record.ts'

/**
 * The client for which an API server forwards a request. This addition of salt-ts is beside the load and not in it: masters
 * of Python Salt pass unknown members of some loads to functions, but ignore those of an envelope.
 */
export interface Via {
  /** IP address of the client. */
  readonly address: string
  /**
   * Proof that a server on the master's host sent it: a keyed digest of the address with the key of the master's user.
   */
  readonly proof?: string
}

/** The origin of a forwarded request, as far as it is known. */
export interface ClaimedVia {
  /**
   * The API client on another host that forwarded it, authenticated by its key. Without it, the sender is not
   * authenticated.
   */
  readonly api?: string
  /** The address that the sender claims for its client. */
  readonly claimed_address?: string
  /** For the master only; never shown. */
  readonly proof?: string
}

/** Longest address: IPv6 with its zone. */
const MAX_CHARACTERS = 64

/** Read the origin of a request; undefined if it has none. */
export function readVia(via: unknown, api?: string): ClaimedVia | undefined {
  const address = isRecord(via) ? via.address : undefined
  const isAddress = typeof address === 'string' && address.length <= MAX_CHARACTERS && isIP(address) !== 0
  if (!isAddress && api === undefined) return undefined
  const proof = isRecord(via) && isAddress && api === undefined ? via.proof : undefined
  return {
    ...(api !== undefined && { api }),
    ...(isAddress && { claimed_address: address }),
    ...(typeof proof === 'string' && proof.length <= MAX_CHARACTERS && { proof }),
  }
}
