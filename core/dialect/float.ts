/**
 * A 64-bit float whose value is a whole number (3.0, -0.0). Python peers distinguish 3 from 3.0, JavaScript numbers do
 * not; this class keeps the kind of a value that is passed on. All other floats are plain numbers.
 */
export class Float extends Number {}
