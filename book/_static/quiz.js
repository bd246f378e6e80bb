// Quizzes that mark themselves: a question with its options, and below it the reasons, one for each option.
// Without scripts the reasons stay where they are, under a heading to open. What was scored stays in this browser.

const STORE = "auditbook-quiz";
const LETTERS = "abcdefghij";

function readScores() {
  try {
    return JSON.parse(localStorage.getItem(STORE)) ?? {};
  } catch {
    return {};
  }
}

function keepScore(name, right) {
  try {
    localStorage.setItem(STORE, JSON.stringify({ ...readScores(), [name]: right }));
  } catch {
    // A browser that keeps nothing still marks.
  }
}

function element(kind, properties, ...children) {
  const made = Object.assign(document.createElement(kind), properties);
  made.append(...children);
  return made;
}

// An option becomes a box to tick; what it says stays its label.
function makeOption(item, place, name, several) {
  const box = element("input", { type: several ? "checkbox" : "radio", name, id: `${name}-${LETTERS[place]}` });
  const words = element("span", {}, ...(item.querySelector(":scope > p") ?? item).childNodes);
  const formulas = words.querySelector(".math") !== null;
  const label = element("label", { htmlFor: box.id }, words);
  const mark = element("div", { className: "quiz-mark", id: `${box.id}-mark` });
  box.setAttribute("aria-describedby", mark.id);
  if (formulas) box.setAttribute("aria-label", words.textContent.replace(/\\[()]/g, "")); // else a picture without words
  item.replaceChildren(box, label, mark);
  return { box, mark };
}

function markOption({ box, mark }, reason, right) {
  const agreed = box.checked === right;
  const word = box.checked ? (right ? "Right. " : "Not this one. ") : right ? "This is right. " : "";
  mark.className = `quiz-mark ${agreed ? "agreed" : "differed"}`;
  mark.replaceChildren(element("strong", {}, word), ...reason.map((node) => node.cloneNode(true)));
  return agreed;
}

// The reason without the word that says it is the right one.
function readReason(item) {
  const words = item.querySelector(":scope > p") ?? item;
  const first = words.querySelector(":scope > strong");
  const right = first?.textContent.trim() === "Right.";
  return { right, nodes: [...words.childNodes].filter((node) => !(right && node === first)) };
}

function setUp(block, answers, place) {
  const list = [...block.querySelectorAll("ol")].pop();
  const reasons = [...answers.querySelectorAll("ol > li")].map(readReason);
  const page = location.pathname.split("/").pop().replace(/\.html$/, "");
  const name = `${page}-${place + 1}`;
  const several = reasons.filter(({ right }) => right).length > 1;
  const options = [...list.children].map((item, at) => makeOption(item, at, name, several));
  const title = block.querySelector(".admonition-title");
  title.id = `${name}-title`;
  list.setAttribute("role", several ? "group" : "radiogroup");
  list.setAttribute("aria-labelledby", title.id);
  for (const item of list.children) item.setAttribute("role", "presentation");
  const said = element("p", { className: "quiz-said" });
  said.setAttribute("role", "status");
  const ask = element("button", { type: "button", className: "quiz-check", textContent: "Check" });
  const back = [...answers.querySelectorAll("p:not(.admonition-title)")].filter((words) => !words.closest("li"));
  ask.addEventListener("click", () => {
    if (!options.some(({ box }) => box.checked)) {
      said.textContent = several ? "Tick what is right; it may be more than one." : "Choose one first.";
      return;
    }
    const agreed = options.map((option, at) => markOption(option, reasons[at].nodes, reasons[at].right));
    const right = agreed.every(Boolean);
    keepScore(name, right);
    said.replaceChildren(right ? "Right. " : "Not yet: read the reasons, and look once more. ");
    for (const words of back) {
      said.append(...[...words.childNodes].map((node) => node.cloneNode(true)));
    }
    tellScore();
  });
  const hint = several ? [element("p", { className: "quiz-hint", textContent: "More than one is right." })] : [];
  list.after(...hint, ask, said);
  answers.hidden = true;
  return name;
}

let names = [];

function tellScore() {
  const scores = readScores();
  const right = names.filter((name) => scores[name]).length;
  const line = document.querySelector(".quiz-score");
  if (line) line.textContent = `${right} of ${names.length} right on this page; kept in this browser only.`;
}

function setUpQuizzes() {
  const blocks = [...document.querySelectorAll(".admonition.quiz")];
  const pairs = blocks.map((block) => [block, block.nextElementSibling]);
  names = pairs
    .filter(([, answers]) => answers?.classList.contains("admonition"))
    .map(([block, answers], place) => setUp(block, answers, place));
  if (names.length) {
    pairs.at(-1)[1].after(element("p", { className: "quiz-score" }));
    tellScore();
  }
}

document.addEventListener("DOMContentLoaded", setUpQuizzes);
