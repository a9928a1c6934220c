/** Selects the ids of a list, given as an array or as text with commas. Nothing is trimmed. */
import { matcher } from 'salt-ts'

export default matcher({
  prepare(expression) {
    const ids: unknown = typeof expression === 'string' ? expression.split(',') : expression
    const listed = new Set(Array.isArray(ids) ? ids : [])
    return ({ id }) => listed.has(id)
  },
})
