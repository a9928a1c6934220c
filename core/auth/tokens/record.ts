import { isRecord } from '../../base/record.ts'
import type { TokenRecord } from './contract.ts'

/** Validate a record. Undefined for an invalid one, which counts as no token. */
export function readRecord(value: unknown): TokenRecord | undefined {
  if (!isRecord(value)) return undefined
  const { name, eauth, groups, permissions, rights } = value
  const [start, expire] = [Number(value.start), Number(value.expire)]
  if (typeof name !== 'string' || typeof eauth !== 'string' || !Array.isArray(groups)) return undefined
  if (!Number.isFinite(start) || !Number.isFinite(expire)) return undefined
  return {
    start,
    expire,
    name,
    eauth,
    groups: groups.filter((group) => typeof group === 'string'),
    ...(Array.isArray(permissions) && { permissions }),
    ...(typeof rights === 'string' && { rights }),
  }
}
