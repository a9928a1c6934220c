/** Option types shared by several returners. */
import { p } from 'salt-ts'

export const portNumber = p.integer({ minimum: 1, maximum: 65_535 })

/** A time in seconds. */
export const duration = p.number({ exclusiveMinimum: 0 })

/** Whether an option is set. Salt's examples write `None` for one that is not. */
export const isSet = (value: string | undefined): value is string =>
  value !== undefined && value !== '' && value.toLowerCase() !== 'none'
