/**
 * A 64-bit float whose value is a whole number (3.0, -0.0). Peers tell 3 from 3.0, a JavaScript number does not;
 * this keeps the kind when a value is passed on. All other floats are plain numbers.
 */
export class Float extends Number {}
