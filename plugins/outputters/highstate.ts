/** Shows results of states: one block per state, a summary per minion. Options are Salt's `state_output`, `state_verbose`, … */
import { outputter } from 'salt-ts'
import { highstate } from './_highstate.ts'
import { NoStates } from './_highstate-values.ts'
import { nested } from './_nested.ts'
import { rstrip } from './_python.ts'

export default outputter({
  render(value, options) {
    try {
      return rstrip(highstate(value, options))
    } catch (error) {
      if (error instanceof NoStates) return nested(value, options)
      throw error
    }
  },
})
