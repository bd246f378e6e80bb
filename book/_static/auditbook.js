// What the pages need beyond the theme: long tables open in print, and formulas that are wider than the screen.

const FOLDED = "details.folded, details.hide.below-input";

function openForPrint() {
  for (const details of document.querySelectorAll(`:is(${FOLDED}):not([open])`)) {
    details.open = true;
    details.dataset.openedForPrint = "";
  }
}

function foldAfterPrint() {
  for (const details of document.querySelectorAll("[data-opened-for-print]")) {
    details.open = false;
    delete details.dataset.openedForPrint;
  }
}

// A formula within a line stands on the line; where it is wider than the column, it scrolls within itself.
function letWideFormulasScroll() {
  for (const formula of document.querySelectorAll("span.math")) {
    formula.classList.remove("wide");
    const drawn = formula.querySelector("mjx-container");
    const column = formula.closest("p, li, dd, td, figcaption");
    const wide = drawn && column && drawn.getBoundingClientRect().width > column.clientWidth;
    formula.classList.toggle("wide", Boolean(wide));
  }
}

window.addEventListener("beforeprint", openForPrint);
window.addEventListener("afterprint", foldAfterPrint);
window.addEventListener("resize", letWideFormulasScroll);
window.addEventListener("load", () => window.MathJax?.startup?.promise?.then(letWideFormulasScroll));
