import { isRecord } from '../../wire/bytes.ts'
import type { TokenRecord } from './contract.ts'

/** Undefined for what is no record: then there is no such token. */
export function readRecord(value: unknown): TokenRecord | undefined {
  if (!isRecord(value)) return undefined
  const { name, eauth, groups, permissions, rights } = value
  const [start, expire] = [Number(value.start), Number(value.expire)]
  if (typeof name !== 'string' || typeof eauth !== 'string' || !Array.isArray(groups)) return undefined
  if (!Number.isFinite(start) || !Number.isFinite(expire)) return undefined
  return {
    ...{ start, expire, name, eauth },
    groups: groups.filter((group) => typeof group === 'string'),
    ...(Array.isArray(permissions) && { permissions }),
    ...(typeof rights === 'string' && { rights }),
  }
}
