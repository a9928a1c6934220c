/** The id is one of a list, given as an array or as text with commas. Nothing is trimmed. */
import { matcher } from 'salt-ts'

export default matcher({
  match(expression, { id }) {
    if (typeof expression === 'string') return expression.split(',').includes(id)
    return Array.isArray(expression) && expression.includes(id)
  },
})
