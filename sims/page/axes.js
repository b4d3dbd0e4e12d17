// Axes of charts: ticks, ranges, and the numbers that a reader may choose.
'use strict';

// A range and its ticks end at round numbers beyond the values.
function decadeTicks(low, high) {
  const first = Math.floor(Math.log10(low) + 1e-9);
  const last = Math.ceil(Math.log10(high) - 1e-9);
  const factors = last - first <= 3 ? [1, 2, 5] : [1];
  const all = [];
  for (let e = first; e <= last; ++e) for (const factor of factors) all.push(Number(`${factor}e${e}`));
  const begin = all.filter(tick => tick <= low * (1 + 1e-9)).length - 1;
  const end = all.findIndex(tick => tick >= high * (1 - 1e-9));
  return all.slice(Math.max(begin, 0), end < 0 ? undefined : end + 1);
}

function linearTicks(low, high) {
  if (low === high) [low, high] = low > 0 ? [low * 0.5, low * 1.5] : [low, low + 1];
  const rough = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find(factor => factor * power >= rough * (1 - 1e-9));
  const ticks = [];
  for (let t = Math.floor(low / step + 1e-9); t <= Math.ceil(high / step - 1e-9); ++t) ticks.push(Number((t * step).toPrecision(12)));
  return ticks;
}

// With as many digits as tell neighbouring ticks apart.
function exactText(ticks) {
  const step = ticks.length > 1 ? ticks[1] - ticks[0] : Infinity;
  const isExact = text => ticks.every(tick => Math.abs(Number(text(tick)) - tick) < step * 1e-3);
  if (step === Infinity || isExact(numberText)) return numberText;
  for (let digits = 5; digits < 15; ++digits) {
    const text = tick => String(Number(tick.toPrecision(digits)));
    if (isExact(text)) return text;
  }
  return String;
}

// Sizes are ticks themselves. The first and the last one stay, and others that have `apart` pixels of the axis to the next one.
function sizeTicks(values, isLog, pixels, apart) {
  const sizes = [...new Set(values)].sort((a, b) => a - b);
  const place = size => isLog ? Math.log(size) : size;
  const scale = pixels / (place(sizes[sizes.length - 1]) - place(sizes[0]) || 1);
  const isFar = (a, b) => (place(b) - place(a)) * scale >= apart;
  const kept = [sizes.pop()];
  while (sizes.length > 0) {
    const size = sizes.pop();
    if (sizes.length === 0 || (isFar(size, kept[0]) && isFar(sizes[0], size))) kept.unshift(size);
  }
  return kept;
}

function scaleOf(axis, values, isLog, fromZero) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  let ticks;
  let from = '';
  let text = textIn(axis.form);
  if (axis.words) {
    ticks = axis.words.map((_, w) => w);
    text = at => axis.words[at];
  } else if (axis.form === 'bytes') {
    ticks = [low, high];
  } else if (isLog) {
    ticks = decadeTicks(low, high);
  } else if (fromZero || low < high / 2 || low === high) {
    ticks = linearTicks(Math.min(0, low), high);
  } else {
    // At least 5 % of the value, or marks that differ by less than a front's tolerance would seem to lie far apart.
    const margin = Math.max((high - low) * 0.04, (high * 0.05 - (high - low)) / 2);
    ticks = linearTicks(Math.max(0, low - margin), high + margin);
    if (ticks[0] > 0) from = ` (from ${exactText(ticks)(ticks[0])})`;
  }
  if (axis.form === 'number' && !axis.words) text = exactText(ticks);
  const edge = axis.words ? 0.5 : 0;
  const range = {min: Math.min(low, ticks[0]) - edge, max: Math.max(high, ticks[ticks.length - 1]) + edge};
  if (range.min === range.max) range.max = range.min > 0 ? range.min * 2 : range.min + 1;
  return {
    type: isLog ? 'logarithmic' : 'linear', ...range,
    title: {display: true, text: axis.title + from, color: themeColour('ink'), font: {size: 14}},
    afterBuildTicks: scale => {
      const shown = axis.form !== 'bytes' ? ticks
        : scale.isHorizontal() ? sizeTicks(values, isLog, scale.maxWidth, 60) : sizeTicks(values, isLog, scale.maxHeight, 24);
      scale.ticks = shown.map(value => ({value}));
    },
    ticks: {callback: text, autoSkip: axis.form !== 'bytes', maxRotation: axis.words ? 45 : 0},
    border: {color: themeColour('soft')}
  };
}

// The axes that a reader may choose for these runs: metrics, and settings that differ.
function axesFor(runs) {
  const axes = data.metrics.map((metric, m) => ({...metric, value: run => data.points[run].values[m]}));
  data.keys.forEach((key, k) => {
    const values = [...new Set(runs.map(run => data.points[run].settings[k]).filter(value => value !== null))];
    if (values.length < 2) return;
    const isNumber = values.every(value => typeof value === 'number');
    axes.push({id: `key ${k}`, title: key, form: 'number', words: isNumber ? null : values.map(String),
      value: run => {
        const value = data.points[run].settings[k];
        return value === null ? null : isNumber ? value : values.indexOf(value);
      }});
  });
  return axes.filter(axis => runs.some(run => axis.value(run) !== null));
}

const suitsLog = (axis, values) => !axis.words && values.length > 0 && Math.min(...values) > 0 &&
  (axis.form === 'bytes' || Math.max(...values) / Math.min(...values) > 10);
