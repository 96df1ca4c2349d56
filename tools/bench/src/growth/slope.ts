/**
 * A least-squares line through samples, and how far its slope may be off by chance. Neighbouring samples resemble each
 * other, as caches fill and empty slowly, so they count as fewer than they are: by the correlation of each residual with
 * the next, (1 - r) / (1 + r) of them.
 */
export interface Sample {
  readonly x: number;
  readonly y: number;
}

export interface Slope {
  /** Of y, for one x. */
  readonly slope: number;
  /** What the true slope lies within, to either side, but for about one case in 300: three standard errors. */
  readonly noise: number;
}

/** NaN throughout for fewer than three samples. */
export function slopeOf(samples: readonly Sample[]): Slope {
  const count = samples.length;
  const meanX = mean(samples.map(({ x }) => x));
  const meanY = mean(samples.map(({ y }) => y));
  const spreadX = sum(samples.map(({ x }) => (x - meanX) ** 2));
  const slope = sum(samples.map(({ x, y }) => (x - meanX) * (y - meanY))) / spreadX;
  const residuals = samples.map(({ x, y }) => y - meanY - slope * (x - meanX));
  const squares = sum(residuals.map((residual) => residual ** 2));
  const neighbours = sum(residuals.slice(1).map((residual, index) => residual * (residuals[index] ?? 0)));
  // Never fewer errors than independent samples would have: by chance, neighbours may also differ.
  const correlation = squares === 0 ? 0 : Math.min(0.99, Math.max(0, neighbours / squares));
  const variance = (squares / (count - 2)) * ((1 + correlation) / (1 - correlation));
  return count < 3 ? { slope: Number.NaN, noise: Number.NaN } : { slope, noise: 3 * Math.sqrt(variance / spreadX) };
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
