/* Numbers as people read them.  Figures are never computed here, only rounded for the eye. */

/* Seconds, with a unit that suits the amount: 12.3 s, 4.56 ms, 789 us.  No line ends between a number and its unit. */
export function formatSeconds(seconds) {
  if (!Number.isFinite(seconds))
    return "";
  const amount = Math.abs(seconds);
  if (amount === 0)
    return "0\u00a0s";
  if (amount >= 0.9995)
    return significant(seconds) + "\u00a0s";
  if (amount >= 0.0009995)
    return significant(seconds * 1e3) + "\u00a0ms";
  if (amount >= 0.0000009995)
    return significant(seconds * 1e6) + "\u00a0\u00b5s";
  return significant(seconds * 1e9) + "\u00a0ns";
}

/* A moment of the run to a microsecond, as in the text reports: for columns whose title has the unit. */
export function formatMoment(seconds) {
  return seconds.toFixed(6);
}

/* Seconds with three decimals, as in the text reports: for columns, where the units have to be equal. */
export function formatColumnSeconds(seconds) {
  return Number.isFinite(seconds) ? seconds.toFixed(3) : "";
}

export function formatPercent(percent) {
  if (!Number.isFinite(percent))
    return "";
  return (Math.abs(percent) >= 99.95 ? percent.toFixed(0) : percent.toFixed(1)) + "\u00a0%";
}

/* A whole number, with thin spaces between thousands. */
export function formatCount(count) {
  return Number.isFinite(count) ? String(Math.round(count)).replace(/\B(?=(\d{3})+$)/g, "\u2009") : "";
}

/* Three significant digits, without an exponent. */
export function significant(value) {
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value) || 1) + 1e-9));
  return value.toFixed(Math.min(digits, 9));
}
