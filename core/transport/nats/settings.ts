/** How to reach NATS, and the names used there (option `nats`). Keys and certificates are PEM texts. */
export interface NatsSettings {
  /** `host`, `host:port` or `nats://host:port`, of some servers of a cluster at least. */
  readonly servers: readonly string[]
  /** First token of every subject. */
  readonly prefix: string
  readonly user?: string
  readonly password?: string
  readonly token?: string
  /** Content of a `.creds` file: a JWT, and the NKey that signs for it. */
  readonly credentials?: Uint8Array
  readonly tls?: {
    readonly ca?: string
    readonly cert?: string
    readonly key?: string
    readonly rejectUnauthorized: boolean
  }
}

/** The servers of NATS as text, for messages. */
export const placeOf = ({ servers }: Pick<NatsSettings, 'servers'>): string => `NATS at ${servers.join(', ')}`
