import type { MasterConfig } from '../config/index.ts'

/** From the supervisor to its children. */
export type ToChild =
  | { readonly type: 'start'; readonly name: string; readonly config: MasterConfig; readonly aes: string }
  /** `revoke`: the key before is worth nothing from now on. */
  | { readonly type: 'rotate'; readonly aes: string; readonly revoke: boolean }
  | { readonly type: 'fire'; readonly tag: string; readonly data: Record<string, unknown> }
  | { readonly type: 'ping' }
  | { readonly type: 'stop' }

/** From a child to the supervisor. */
export type FromChild =
  | { readonly type: 'ready' }
  | { readonly type: 'failed'; readonly message: string }
  /** A new AES key is in use. */
  | { readonly type: 'rotated' }
  | { readonly type: 'pong' }
