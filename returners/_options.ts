/** What options of several returners have in common. */
import { p } from 'salt-ts'

export const portNumber = p.integer({ minimum: 1, maximum: 65_535 })

/** Seconds. */
export const duration = p.number({ exclusiveMinimum: 0 })

/** Salt's examples write `None` for what is not set. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value !== '' && value.toLowerCase() !== 'none'
