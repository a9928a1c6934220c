/** Selects by the values that a minion keeps with `data.update`: `role:web*`. Only the minion itself can decide. */

import { matcher } from 'salt-ts'
import { fnmatch } from '#internal'
import { strOf } from '../outputters/_python.ts'

export default matcher({
  prepare(expression) {
    const [key = '', pattern] = typeof expression === 'string' ? expression.split(':') : []
    if (pattern === undefined) return () => false
    const lower = pattern.toLowerCase()
    return ({ data }) => {
      if (data === undefined) return 'unknown'
      const value = Object.hasOwn(data, key) ? data[key] : undefined
      if (value === undefined || value === null) return false
      if (Array.isArray(value)) return value.some((member) => fnmatch(strOf(member).toLowerCase(), lower))
      if (typeof value === 'object') return Object.hasOwn(value, pattern)
      return fnmatch(strOf(value), pattern)
    }
  },
})
