/** Return the shortest text that reads as the same float, as Python writes it: `3.0`, `1e+22`, `nan`. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  if (!Number.isFinite(value)) return value < 0 ? '-inf' : 'inf'
  const [mantissa = '', power = '0'] = value.toExponential().split('e')
  const exponent = Number(power)
  if (exponent < -4 || exponent >= 16)
    return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits(Math.abs(exponent))}`
  const sign = Object.is(value, -0) ? '-' : ''
  return sign + (Number.isInteger(value) ? value.toFixed(1) : plainDecimal(value, exponent))
}

const digits = (exponent: number): string => String(exponent).padStart(2, '0')

function plainDecimal(value: number, exponent: number): string {
  return exponent < -6 ? value.toFixed(20) : String(value)
}
