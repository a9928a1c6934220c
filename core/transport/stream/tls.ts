import type { SecureContextOptions, TlsOptions } from 'node:tls'
import type { Tls } from '../contract.ts'

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
  requestCert: tls.verify !== 'none',
  rejectUnauthorized: tls.verify === 'required',
})

/** Return the options of a TLS client. */
export const tlsClientOptions = (tls: Tls) => ({
  ...contextOf(tls),
  rejectUnauthorized: tls.verify !== 'none',
  ...(!tls.checkHost && { checkServerIdentity: () => undefined }),
})
