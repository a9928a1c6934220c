/**
 * Of a test that starts programs, waits for time-outs or handles much data, and takes more than half a second on a fast machine:
 * `npm run test:quick` leaves it out.
 */
export const SLOW_TEST = { tags: ['slow'] }
