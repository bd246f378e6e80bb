// Things to move: four small experiments that need no network. Every figure is exact, from binomial distributions or
// from counts; the tests hold them beside the functions that an audit calls.

const ALPHA = 0.05;

// ---- Distributions ----

function logGamma(x) {
  const parts = [676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7];
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const t = x + 6.5;
  const sum = parts.reduce((total, part, at) => total + part / (x + at), 0.99999999999980993);
  return 0.5 * Math.log(2 * Math.PI) + (x - 0.5) * Math.log(t) - t + Math.log(sum);
}

// Continued fraction of the incomplete beta function, by Lentz's method.
function fraction(a, b, x) {
  const least = 1e-300;
  let c = 1;
  let d = 1 / Math.max(Math.abs(1 - ((a + b) * x) / (a + 1)), least) * Math.sign(1 - ((a + b) * x) / (a + 1) || 1);
  let found = d;
  for (let m = 1; m <= 500; m += 1) {
    const steps = [
      (m * (b - m) * x) / ((a + 2 * m - 1) * (a + 2 * m)),
      (-(a + m) * (a + b + m) * x) / ((a + 2 * m) * (a + 2 * m + 1)),
    ];
    let last = 1;
    for (const step of steps) {
      d = 1 / (1 + step * d || least);
      c = 1 + step / c || least;
      last = c * d;
      found *= last;
    }
    if (Math.abs(last - 1) < 1e-15) break;
  }
  return found;
}

function betaShare(a, b, x) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x));
  if (x < (a + 1) / (a + b + 2)) return (front * fraction(a, b, x)) / a;
  return 1 - (front * fraction(b, a, 1 - x)) / b;
}

function betaQuantile(a, b, share) {
  let [low, high] = [0, 1];
  for (let turn = 0; turn < 60; turn += 1) {
    const middle = (low + high) / 2;
    if (betaShare(a, b, middle) < share) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

function binomial(n, p) {
  const whole = logGamma(n + 1);
  return Array.from({ length: n + 1 }, (_, k) => {
    if (p <= 0 || p >= 1) return Number(k === (p <= 0 ? 0 : n));
    return Math.exp(whole - logGamma(k + 1) - logGamma(n - k + 1) + k * Math.log(p) + (n - k) * Math.log1p(-p));
  });
}

// ---- What an audit says ----

// One-sided limits of a share (Jeffreys; exact where none or all were counted).
function shareLimits(k, n, alpha) {
  const share = k / n;
  const low = k === 0 ? 0 : k === n ? alpha ** (1 / n) : betaQuantile(k + 0.5, n - k + 0.5, alpha);
  const high = k === n ? 1 : k === 0 ? 1 - alpha ** (1 / n) : 1 - betaQuantile(n - k + 0.5, k + 0.5, alpha);
  return { share, low: Math.min(low, share), high: Math.max(high, share) };
}

// Bounds of the difference of two shares, the larger first (MOVER).
function boundGap(one, other) {
  const gap = one.share - other.share;
  return {
    gap,
    low: gap - Math.hypot(one.share - one.low, other.high - other.share),
    high: gap + Math.hypot(one.high - one.share, other.share - other.low),
  };
}

const kept = new Map();

function listLimits(n, alpha) {
  const name = `${n} ${alpha}`;
  if (!kept.has(name)) kept.set(name, Array.from({ length: n + 1 }, (_, k) => shareLimits(k, n, alpha)));
  return kept.get(name);
}

// Chances over audits of several groups of n events each, one of which lies lower by a gap.
function flip({ n, groups, rate, gap, threshold, alpha = ALPHA }) {
  const shares = Array.from({ length: groups }, (_, at) => (at === 0 ? rate - gap : rate));
  const below = shares.map((share) => {
    let sum = 0;
    return binomial(n, share).map((chance) => (sum += chance));
  });
  const within = (a, b) => (a > b ? 0 : below.reduce((all, one) => all * (one[b] - (a > 0 ? one[a - 1] : 0)), 1));
  const shared = listLimits(n, alpha / ((groups * (groups - 1)) / 2));
  const alone = listLimits(n, alpha);
  const found = { fails: 0, shownFail: 0, shownPass: 0 };
  for (let a = 0; a <= n; a += 1) {
    for (let b = a; b <= n; b += 1) {
      const chance = within(a, b) - within(a + 1, b) - within(a, b - 1) + within(a + 1, b - 1);
      if (chance < 1e-15) continue;
      if ((b - a) / n > threshold + 1e-12) found.fails += chance;
      if (boundGap(shared[b], shared[a]).low > threshold) found.shownFail += chance;
      if (boundGap(alone[b], alone[a]).high < threshold) found.shownPass += chance;
    }
  }
  return { ...found, flipRate: Math.min(found.fails, 1 - found.fails), open: 1 - found.shownFail - found.shownPass };
}

// Chances over audits of one small group beside a large one.
function judgeGroup({ events, others, rate, gap, threshold, alpha = ALPHA }) {
  const [mine, theirs] = [binomial(events, rate - gap), binomial(others, rate)];
  const [limits, largeLimits] = [listLimits(events, alpha), listLimits(others, alpha)];
  const found = { shownFail: 0, shownPass: 0 };
  for (let k = 0; k <= events; k += 1) {
    for (let j = 0; j <= others; j += 1) {
      const chance = mine[k] * theirs[j];
      if (chance < 1e-13) continue;
      const lower = limits[k].share < largeLimits[j].share;
      const bounds = lower ? boundGap(largeLimits[j], limits[k]) : boundGap(limits[k], largeLimits[j]);
      if (bounds.low > threshold) found.shownFail += chance;
      if (bounds.high < threshold) found.shownPass += chance;
    }
  }
  const middle = limits[Math.round(events * (rate - gap))];
  return { ...found, open: 1 - found.shownFail - found.shownPass, low: middle.low, high: middle.high };
}

// Two groups of 200 patients by score bin, from 0-0.1 to 0.9-1: with and without the event.
const SCORED = [
  { name: "A", events: [0, 1, 2, 4, 6, 9, 12, 16, 15, 15], others: [24, 22, 20, 16, 13, 10, 7, 5, 2, 1] },
  { name: "B", events: [0, 1, 2, 4, 5, 6, 7, 7, 5, 3], others: [40, 34, 28, 22, 15, 10, 6, 3, 1, 1] },
];

function threshold({ first, second }) {
  const [a, b] = SCORED.map(({ events, others }, at) => {
    const from = Math.round([first, second][at] * 10);
    const [tp, fp] = [events, others].map((bins) => bins.slice(from).reduce((sum, one) => sum + one, 0));
    const [all, rest] = [events, others].map((bins) => bins.reduce((sum, one) => sum + one, 0));
    return { tp, fp, fn: all - tp, tn: rest - fp };
  });
  const [selected, found] = [a, b].reduce(
    ([rates, caught], { tp, fp, fn, tn }) => [[...rates, (tp + fp) / (tp + fp + fn + tn)], [...caught, tp / (tp + fn)]],
    [[], []],
  );
  const right = a.tp + a.tn + b.tp + b.tn;
  const n = [a, b].reduce((sum, { tp, fp, fn, tn }) => sum + tp + fp + fn + tn, 0);
  const most = Math.max(...selected);
  return { counts: [a, b], di: most > 0 ? Math.min(...selected) / most : NaN, tpr: found, accuracy: right / n };
}

// Kappa and AC1 of several attributes, of each of which so many of 20 folds pass.
function agreement({ passes, raters = 20 }) {
  const table = passes.map((pass) => [pass, raters - pass]);
  const same = table.map((row) => row.reduce((sum, one) => sum + one * (one - 1), 0) / (raters * (raters - 1)));
  const raw = same.reduce((sum, one) => sum + one, 0) / table.length;
  const share = passes.reduce((sum, one) => sum + one, 0) / (raters * passes.length);
  const [chance, small] = [share ** 2 + (1 - share) ** 2, 2 * share * (1 - share)];
  const kappa = share === 0 || share === 1 ? NaN : (raw - chance) / (1 - chance);
  return { raw, kappa, ac1: (raw - small) / (1 - small) };
}

// ---- What a reader moves ----

const percent = (share) => `${(100 * share).toFixed(share > 0.995 || share < 0.005 ? 1 : 0)} of 100`;
const number = (value) => (Number.isNaN(value) ? "undefined" : value.toFixed(2));

const WIDGETS = {
  flip: {
    title: "One metric, many audits",
    sliders: [
      ["n", "Events in each group", 10, 300, 10, 50],
      ["groups", "Groups", 2, 9, 1, 5],
      ["rate", "TPR of all groups but one", 0.5, 0.95, 0.05, 0.8],
      ["gap", "How much lower that one is", 0, 0.3, 0.02, 0],
      ["threshold", "Largest gap allowed", 0.05, 0.25, 0.05, 0.1],
    ],
    tell: (set) => {
      const found = flip(set);
      return [
        ["Audits whose verdict is a fail", percent(found.fails), found.fails],
        ["Audits that end in the rarer verdict (flip rate)", percent(found.flipRate), found.flipRate],
        ["Audits that show a gap beyond what is allowed", percent(found.shownFail), found.shownFail],
        ["Audits that show all gaps to be within it", percent(found.shownPass), found.shownPass],
        ["Audits that leave it open", percent(found.open), found.open],
      ];
    },
  },
  threshold: {
    title: "One threshold for each of two groups",
    sliders: [
      ["first", "Threshold of group A", 0, 1, 0.1, 0.5],
      ["second", "Threshold of group B", 0, 1, 0.1, 0.5],
    ],
    tell: (set) => {
      const { di, tpr, accuracy } = threshold(set);
      return [
        ["DI (passes at 0.80)", number(di), di],
        ["TPR of A", number(tpr[0]), tpr[0]],
        ["TPR of B", number(tpr[1]), tpr[1]],
        ["Accuracy, both groups", number(accuracy), accuracy],
      ];
    },
  },
  agreement: {
    title: "Kappa and AC1",
    sliders: ["age", "race", "sex", "payer"].map((name, at) => [at, `Folds of 20 that pass on ${name}`, 0, 20, 1, 18]),
    tell: (set) => {
      const { raw, kappa, ac1 } = agreement({ passes: [0, 1, 2, 3].map((at) => set[at]) });
      return [
        ["Raw agreement", number(raw), raw],
        ["Fleiss' kappa", number(kappa), kappa],
        ["Gwet's AC1", number(ac1), ac1],
      ];
    },
  },
  judged: {
    title: "Can this group be judged?",
    sliders: [
      ["records", "Records of the group", 20, 1000, 20, 200],
      ["share", "Share of them with the event", 0.02, 0.5, 0.02, 0.2],
      ["rate", "TPR of the large group (1,000 events)", 0.5, 0.95, 0.05, 0.8],
      ["gap", "How much lower it is in this group", 0, 0.4, 0.02, 0.2],
      ["threshold", "Largest gap allowed", 0.05, 0.25, 0.05, 0.1],
    ],
    tell: ({ records, share, ...set }) => {
      const events = Math.round(records * share);
      const held = ["Events in the group", `${events}${events < 10 ? ": too few, 10 needed" : ""}`, NaN];
      if (events < 10) return [held];
      const found = judgeGroup({ ...set, events, others: 1000 });
      return [
        held,
        ["Bounds of its TPR in a middling audit", `${number(found.low)} to ${number(found.high)}`, NaN],
        ["Audits that show a gap beyond what is allowed", percent(found.shownFail), found.shownFail],
        ["Audits that show the gap to be within it", percent(found.shownPass), found.shownPass],
        ["Audits that leave it open", percent(found.open), found.open],
      ];
    },
  },
};

function make(kind, properties, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

function makeSlider([name, words, min, max, step, value], id) {
  const shown = make("output", { htmlFor: id });
  const input = make("input", { type: "range", id, name, min, max, step, value });
  const tell = () => (shown.textContent = step < 1 ? Number(input.value).toFixed(2) : input.value);
  tell();
  input.addEventListener("input", tell);
  return { input, row: make("div", { className: "widget-row" }, make("label", { htmlFor: id }, words), input, shown) };
}

function makeResult([words, figure, share]) {
  const bar = make("span", { className: "widget-bar" }, make("span", {}));
  bar.setAttribute("aria-hidden", "true");
  bar.firstChild.style.width = `${100 * Math.min(Math.max(share || 0, 0), 1)}%`;
  return make("tr", {}, make("th", { scope: "row" }, words), make("td", {}, figure), make("td", {}, Number.isNaN(share) ? "" : bar));
}

function setUpWidget(place, at) {
  const { title, sliders, tell } = WIDGETS[place.dataset.widget];
  const made = sliders.map((slider, nth) => makeSlider(slider, `widget-${at}-${nth}`));
  const table = make("table", { className: "widget-results" });
  const heading = make("p", { className: "widget-title", id: `widget-${at}` }, title);
  const said = make("div", {}, table);
  said.setAttribute("aria-live", "polite");
  const update = () => {
    const set = Object.fromEntries(made.map(({ input }) => [input.name, Number(input.value)]));
    table.replaceChildren(make("tbody", {}, ...tell(set).map(makeResult)));
  };
  for (const { input } of made) input.addEventListener("input", update);
  place.setAttribute("role", "group");
  place.setAttribute("aria-labelledby", heading.id);
  place.replaceChildren(heading, ...made.map(({ row }) => row), said);
  update();
}

if (typeof document !== "undefined") {
  document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("[data-widget]").forEach(setUpWidget));
  window.auditbookWidgets = { agreement, boundGap, flip, judgeGroup, shareLimits, threshold, SCORED };
}
if (typeof module !== "undefined") module.exports = { agreement, boundGap, flip, judgeGroup, shareLimits, threshold, SCORED };
