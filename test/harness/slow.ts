/**
 * Options of a test that takes 0.15 s or more on a fast machine, because it starts programs, waits for time-outs or handles much data:
 * `npm run test:quick` leaves it out, so that it ends within a minute.
 */
export const SLOW = { tags: ['slow'] }
