import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { Tls } from '../contract.ts'

/** How long a peer may take for the handshake. */
const HANDSHAKE_MS = 10_000

const contextOf = ({ key, cert, ca, ciphers, minVersion, maxVersion }: Tls): SecureContextOptions => ({
  ...(key && { key }),
  ...(cert && { cert }),
  ...(ca && { ca }),
  ...(ciphers && { ciphers }),
  ...(minVersion && { minVersion }),
  ...(maxVersion && { maxVersion }),
})

/** Return the options of a TLS server. */
export const tlsServerOptions = (tls: Tls): TlsOptions => ({
  ...contextOf(tls),
  handshakeTimeout: HANDSHAKE_MS,
  requestCert: tls.verify !== 'none',
  rejectUnauthorized: tls.verify === 'required',
})

/** Return the options of a TLS client. */
export const tlsClientOptions = (tls: Tls) => ({
  ...contextOf(tls),
  rejectUnauthorized: tls.verify !== 'none',
  ...(!tls.checkHost && { checkServerIdentity: () => undefined }),
})
